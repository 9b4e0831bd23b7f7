"""Keeps each message of a conversation once, whatever branch an export shows it in.

Which branch is shown changes with time: what one import brought as the conversation may be another branch in
the next export.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.db.models import F
from django.db.models.fields.json import KeyTextTransform
from django.utils.translation import gettext_noop

from coaching.legacy.importers.things import Problem
from coaching.legacy.newer import DELETED
from coaching.legacy.tally import Tally
from sessions_app.import_links import sessions_named
from sessions_app.imports import RecordedMessage, RecordedSession, message_id_of
from sessions_app.models import Message, Session

Known = Mapping[str, Mapping[str, str]]
"""By the imported id of a conversation: its messages' client ids, each with its session's imported id."""


ANSWERS_LEFT = gettext_noop("Other answers to its messages weren’t added, since those are in another branch.")


def without_known(
    user_id: int, recorded: Sequence[RecordedSession], tally: Tally
) -> Sequence[RecordedSession]:
    """Return branches without messages that are stored in another one of their conversation, if any are left.

    Those of a conversation that its person has deleted are left out, and named.
    """
    roots = {each.branch_of for each in recorded if each.branch_of}
    if not roots:
        return recorded
    gone = Session.deleted_of(user_id).filter(
        metadata__has_key="imported_id",
        metadata__imported_id__in=[*roots, *(each.imported_id for each in recorded)],
    )
    deleted = set(gone.values_list("metadata__imported_id", flat=True))
    for each in recorded:
        if each.branch_of in deleted and each.imported_id not in deleted:
            tally.report(Problem(where=each.where, text=DELETED, is_lost=False))
    kept = [each for each in recorded if each.branch_of not in deleted]
    return list(_without(kept, _known(user_id, roots), tally))


def _without(recorded: Sequence[RecordedSession], known: Known, tally: Tally) -> Iterator[RecordedSession]:
    for each in recorded:
        held = known.get(each.branch_of, {})

        def is_new(
            message: RecordedMessage, own: str = each.imported_id, held: Mapping[str, str] = held
        ) -> bool:
            return held.get(message_id_of(message.imported_id), own) == own

        if not each.branch_of or all(map(is_new, (*each.messages, *each.answers))):
            yield each
            continue
        messages = list(filter(is_new, each.messages))
        asked = {message.imported_id for message in messages}
        missing = [answer for answer in each.answers if message_id_of(answer.imported_id) not in held]
        answers = [answer for answer in missing if answer.answers_to in asked]
        if len(answers) < len(missing):
            tally.report(Problem(where=each.where, text=ANSWERS_LEFT, is_lost=False))
        if messages:
            yield replace(each, messages=messages, answers=answers)


def _known(user_id: int, roots: set[str]) -> Known:
    sessions = sessions_named(user_id, roots)
    rows = Message.of(user_id).filter(session__in=sessions, client_id__startswith="imported:")
    rows = rows.annotate(
        own=KeyTextTransform("imported_id", "session__metadata"),
        root=KeyTextTransform("branch_of", KeyTextTransform("origin", "session__metadata")),
    )
    known: dict[str, dict[str, str]] = defaultdict(dict)
    for client_id, own, root in rows.annotate(key=F("client_id")).values_list("key", "own", "root"):
        known[root or own][client_id] = own
    return known
