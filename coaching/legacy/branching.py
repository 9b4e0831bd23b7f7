"""Keeps each message of a conversation once, whatever branch an export shows it in.

Which branch is shown changes with time: what one import brought as the conversation may be another branch in
the next export.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.db.models import F
from django.db.models.fields.json import KeyTextTransform

from sessions_app.import_links import sessions_named
from sessions_app.imports import RecordedMessage, RecordedSession, message_id_of
from sessions_app.models import Message, Session

Known = Mapping[str, Mapping[str, str]]
"""By the imported id of a conversation: its messages' client ids, each with its session's imported id."""


def without_known(user_id: int, recorded: Sequence[RecordedSession]) -> Sequence[RecordedSession]:
    """Return branches without messages that are stored in another one of their conversation, if any are left.

    Those of a conversation that its person has deleted are left out.
    """
    roots = {each.branch_of for each in recorded if each.branch_of}
    if not roots:
        return recorded
    gone = Session.deleted_of(user_id).filter(
        metadata__has_key="imported_id", metadata__imported_id__in=list(roots)
    )
    deleted = set(gone.values_list("metadata__imported_id", flat=True))
    kept = [each for each in recorded if each.branch_of not in deleted]
    return list(_without(kept, _known(user_id, roots)))


def _without(recorded: Sequence[RecordedSession], known: Known) -> Iterator[RecordedSession]:
    for each in recorded:
        held = known.get(each.branch_of, {})

        def is_new(
            message: RecordedMessage, own: str = each.imported_id, held: Mapping[str, str] = held
        ) -> bool:
            return held.get(message_id_of(message.imported_id), own) == own

        if not each.branch_of or all(map(is_new, (*each.messages, *each.answers))):
            yield each
        elif messages := list(filter(is_new, each.messages)):
            yield replace(each, messages=messages, answers=list(filter(is_new, each.answers)))


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
