"""Which texts of others a request holds: documents, results of calls that read some, imported conversations,
and what programs sent.

Such a text can ask for things, so a model that has read one may do less: `coaching.tools.tainted`. What
counts is what the window holds. What programs wrote counts in the opening, too: captures, other pages and
next steps. Headlines, titles of a calendar's events and imported pages in the opening don't count,
nor do Sage's own words about a text: they would taint every turn.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext_noop

from coaching.context.attached import DOCUMENT_KEY
from coaching.context.late_findings import FINDING_KEY
from coaching.context.library import SeenDocument
from coaching.context.life import Life, Unknown
from coaching.context.opening import Statement, sections_said_with
from coaching.library.rows.attached import ids_in
from sessions_app.history import FOREIGN_KEY, PROGRAM_KEY
from sessions_app.models import Message, Session

MAX_NAMES = 6
"""How many texts are named; more say nothing more."""
MAX_NAME = 80
PROGRAMS_KEY = "programs"
"""In a session's metadata: what `programs_sent` returned last."""

A_DOCUMENT = gettext_noop("a document")
IMPORTED_CONVERSATION = gettext_noop("an imported conversation")
IMPORTED_PAGE = gettext_noop("an imported page")
UNNAMED = frozenset({A_DOCUMENT, IMPORTED_CONVERSATION, IMPORTED_PAGE})
"""Names of ours for texts without one, in English."""


def foreign_names(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return names without duplicates, shortened, and not more than are shown."""
    names = (" ".join(name.split())[:MAX_NAME] for group in groups for name in group)
    return tuple(dict.fromkeys(name or A_DOCUMENT for name in names))[:MAX_NAMES]


def foreign_texts(
    messages: Iterable[Message], newest: Statement, attached: Mapping[int, SeenDocument]
) -> tuple[str, ...]:
    """Return the names of the texts of others in a request's messages; `newest` goes with the last."""
    names: list[str] = [*_told(newest.sections, attached)]
    for message in messages:
        if message.metadata.get("imported_id"):
            names.append(IMPORTED_CONVERSATION)
        if program := message.metadata.get(PROGRAM_KEY):
            names.append(program)
        names += [_name(each, attached) for each in ids_in(message.metadata)]
        names += _told(sections_said_with(message), attached)
        for call in message.metadata.get("tool_calls", ()):
            names += call.get(FOREIGN_KEY, ())
    return foreign_names(names)


def programs_sent(session: Session, life: Life, window: Sequence[Message]) -> dict[str, int]:
    """Return the programs whose pages and steps a request holds, each with the last message it was sent with.

    The session's metadata has those of its last request. What was sent before the window is gone.
    """
    known = session.metadata.get(PROGRAMS_KEY, {})
    kept = {name: number for name, number in known.items() if number >= window[0].number}
    files = () if isinstance(life.files, Unknown) else life.files.values()
    steps = () if isinstance(life.steps, Unknown) else (*life.steps.open, *life.steps.closed)
    return kept | {one.program: window[-1].number for one in (*files, *steps) if one.program}


def _told(sections: Iterable[str], attached: Mapping[int, SeenDocument]) -> Iterable[str]:
    """Yield the documents that were told of with a message, and those in which something was found."""
    for key in sections:
        kind, _, named = key.partition(":")
        if f"{kind}:" == DOCUMENT_KEY and named.isdecimal():
            yield _name(int(named), attached)
        elif f"{kind}:" == FINDING_KEY:
            yield A_DOCUMENT


def _name(document_id: int, attached: Mapping[int, SeenDocument]) -> str:
    document = attached.get(document_id)
    return document.name if document else A_DOCUMENT
