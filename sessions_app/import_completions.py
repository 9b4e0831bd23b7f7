"""Completes messages that an earlier import stored without a part of their text, and takes it back.

So it does with what is known of where a session was recorded. Only where a message is still as that import
stored it, and nothing was said in its session since. Each message notes in its metadata which import
completed it and how it was before, its session how many there are. What Sage remembered of such messages is
withdrawn.
"""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Q, QuerySet

from sessions_app.briefs import withdraw_briefs
from sessions_app.import_additions import unused_sessions
from sessions_app.import_answers import remove_answers
from sessions_app.import_links import unlink
from sessions_app.import_metadata import (
    ANSWERED_KEY,
    BROUGHT_BY_KEY,
    COMPLETED_BY_KEY,
    COMPLETED_KEY,
    IMPORT_KEY,
    ORIGIN_KEY,
    ORIGINS_KEY,
    SHORTER_KEY,
)
from sessions_app.models import Message, Session
from sessions_app.recorded import RecordedMessage, message_id_of, shortened
from sessions_app.summaries import withdraw_summary

Measure = Callable[[str], int]
"""Says how long a text is, in the unit of its caller."""
ROWS_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Messages of a session that are stored without a part of their text, and what its origin lacks."""

    session_id: uuid.UUID
    messages: Sequence[RecordedMessage] = ()
    origin: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A session whose messages were completed or shortened.

    `made_by` is the import that made it, `count` how many messages changed, and `size` how much longer they
    are now, as measured by the caller.
    """

    session_id: uuid.UUID
    made_by: int | None
    count: int
    size: int


@transaction.atomic
def complete_recorded(
    *, user_id: int, import_id: int, completions: Sequence[Completion], measure: Measure
) -> Sequence[Changed]:
    """Complete messages of the sessions that aren't in use; return these."""
    wanted = {each.session_id: each for each in completions}
    done = []
    for session in unused_sessions(user_id, wanted):
        changed: list[tuple[int, int]] = []
        messages = wanted[session.pk].messages
        _set_origin(session, import_id, wanted[session.pk].origin)
        for start in range(0, len(messages), ROWS_AT_ONCE):
            part = messages[start : start + ROWS_AT_ONCE]
            changed += _complete(session, import_id, part, measure)
        if changed:
            noted = session.metadata.get(COMPLETED_KEY, {})
            count = noted.get(str(import_id), 0) + len(changed)
            session.metadata[COMPLETED_KEY] = {**noted, str(import_id): count}
        done.append(_changed(session, changed))
    return done


def sessions_completed_by(*, user_id: int, import_id: int) -> QuerySet[Session]:
    """Return the sessions in which an import has completed something, or to which it brought answers.

    Also those that were just deleted.
    """
    named = Q()
    for key in (COMPLETED_KEY, ANSWERED_KEY, ORIGINS_KEY):
        named |= Q(**{f"metadata__{key}__has_key": str(import_id)})
    return Session.stored_of(user_id).filter(named, metadata__has_key="imported_id")


@transaction.atomic
def remove_completions(
    *, user_id: int, import_id: int, session_ids: Collection[uuid.UUID], measure: Measure
) -> Sequence[Changed]:
    """Take back what an import has completed in the sessions that aren't in use; return these."""
    done = []
    for session in unused_sessions(user_id, session_ids, with_deleted=True):
        changed: list[tuple[int, int]] = []
        remove_answers(session, import_id)
        unlink(session, import_id)
        _take_origin_back(session, import_id)
        completed = Message.within(session).filter(
            metadata__contains={COMPLETED_BY_KEY: import_id}, metadata__has_key=SHORTER_KEY
        )
        last = 0
        while rows := list(completed.filter(number__gt=last).order_by("number")[:ROWS_AT_ONCE]):
            changed += _shorten(rows, measure)
            Message.within(session).bulk_update(rows, ["content", "metadata"])
            last = rows[-1].number
        for key in (COMPLETED_KEY, ANSWERED_KEY):
            session.metadata.get(key, {}).pop(str(import_id), None)
        done.append(_changed(session, changed))
    return done


def _set_origin(session: Session, import_id: int, lacking: Mapping[str, str]) -> None:
    if not lacking:
        return
    origin = session.metadata.setdefault(ORIGIN_KEY, {})
    noted = session.metadata.setdefault(ORIGINS_KEY, {}).setdefault(str(import_id), {})
    for key, value in lacking.items():
        noted.setdefault(key, origin.get(key, ""))
        origin[key] = value


def _take_origin_back(session: Session, import_id: int) -> None:
    """Take back what an import changed; what a later one changed again is that one's to take back."""
    noted = session.metadata.get(ORIGINS_KEY, {})
    before = noted.pop(str(import_id), {})
    origin = session.metadata.get(ORIGIN_KEY, {})
    for key, value in before.items():
        later = [each for other, each in noted.items() if int(other) > import_id and key in each]
        for each in later[:1] or [origin]:
            each[key] = value
    session.metadata[ORIGIN_KEY] = {key: value for key, value in origin.items() if value}
    for key in (ORIGIN_KEY, ORIGINS_KEY):
        if not session.metadata.get(key):
            session.metadata.pop(key, None)


def _complete(
    session: Session, import_id: int, messages: Sequence[RecordedMessage], measure: Measure
) -> Sequence[tuple[int, int]]:
    """Complete messages; return the number of each that was, and how much it has grown."""
    recorded = {message_id_of(each.imported_id): each for each in messages}
    rows = [
        row
        for row in Message.within(session).filter(client_id__in=recorded)
        if row.content == recorded[row.client_id or ""].shorter_content
    ]
    changed = []
    for row in rows:
        whole = recorded[row.client_id or ""]
        changed.append((row.number, measure(whole.content) - measure(row.content)))
        row.content = whole.content
        if brought_by := row.metadata.get(COMPLETED_BY_KEY):
            row.metadata[BROUGHT_BY_KEY] = brought_by
        row.metadata = {**row.metadata, SHORTER_KEY: whole.shorter, COMPLETED_BY_KEY: import_id}
    Message.within(session).bulk_update(rows, ["content", "metadata"])
    return changed


def _shorten(rows: Sequence[Message], measure: Measure) -> Sequence[tuple[int, int]]:
    """Take back what was added; return the number of each message, and how much it has grown."""
    changed = []
    for row in rows:
        del row.metadata[COMPLETED_BY_KEY]
        if brought_by := row.metadata.pop(BROUGHT_BY_KEY, None):
            row.metadata[COMPLETED_BY_KEY] = brought_by
        shorter = shortened(row.content, row.metadata.pop(SHORTER_KEY))
        changed.append((row.number, measure(shorter) - measure(row.content)))
        row.content = shorter
    return changed


def _changed(session: Session, changed: Sequence[tuple[int, int]]) -> Changed:
    """Store a session, without what Sage remembered of messages that have changed."""
    session.save(update_fields=["metadata", "last_message_number", "imported_until"])
    if changed:
        since = min(number for number, _ in changed)
        withdraw_briefs(session, since=since)
        withdraw_summary(session, since=since)
    return Changed(
        session_id=session.pk,
        made_by=session.metadata.get(IMPORT_KEY),
        count=len(changed),
        size=sum(size for _, size in changed),
    )
