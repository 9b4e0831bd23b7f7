"""Rewrites stored replies of the earlier app: their blocks become calls, as `transcript.old_replies` says.

It writes messages only, no file, no arc and no status. The original stays in the message's metadata. Each
session's part of a batch is a transaction under the session's lock, so it can run while the site serves; a
rewritten message is found no more, so it can be stopped and repeated at any time.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Max, QuerySet

from coaching.legacy.importers.things import Problem
from coaching.legacy.tally import Tally
from coaching.legacy_text.parser import UnreadBlock
from coaching.models import Profile
from coaching.transcript.old_replies import ORIGINAL_KEY, ROUNDS_KEY, parsed_reply, tool_calls_of
from sessions_app.models import OPEN_TURN_STATUSES, Message, MessageRole, Session, Turn

BATCH = 200
IS_BUSY = "Somebody is using this conversation. Run the command again later."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A message as it will be stored, and the blocks whose words stay in its text."""

    message: Message
    content: str
    metadata: Mapping[str, Any]
    unread: Sequence[UnreadBlock]

    @property
    def where(self) -> str:
        return f"session {self.message.session_id}, message {self.message.number}"


def backfill_steps(
    tally: Tally, *, user_id: int | None = None, batch_size: int = BATCH, is_dry_run: bool = False
) -> Iterator[None]:
    """Rewrite the replies of a user, or of everybody, yielding after each batch; a dry run only counts."""
    rows = _old_replies(user_id)
    tally.total = rows.aggregate(last=Max("pk"))["last"] or 0
    sessions: set[uuid.UUID] = set()
    zone_of = cache(_read_zone)
    while batch := list(rows.filter(pk__gt=tally.done).order_by("pk")[:batch_size]):
        by_session: dict[uuid.UUID, list[Rewritten]] = defaultdict(list)
        for message in batch:
            if rewritten := _rewritten(message, zone_of(message.session.user_id)):
                by_session[message.session_id].append(rewritten)
        for session_id, wanted in by_session.items():
            done = _unhindered(session_id, wanted) if is_dry_run else _store(session_id, wanted)
            _count(tally, wanted, done)
            if done:
                sessions.add(session_id)
        tally.sessions = len(sessions)
        tally.done = batch[-1].pk
        yield


def _old_replies(user_id: int | None) -> QuerySet[Message]:
    rows = Message.unscoped.all() if user_id is None else Message.of(user_id)
    rows = rows.filter(role=MessageRole.ASSISTANT, content__contains="[")
    rows = rows.exclude(metadata__has_key=ROUNDS_KEY).select_related("session")
    return rows.defer("session__opening", "session__metadata", "session__summary")


def _rewritten(message: Message, zone: ZoneInfo) -> Rewritten | None:
    parsed = parsed_reply(message)
    if parsed is None:
        return None
    metadata = message.metadata | {
        "tool_calls": tool_calls_of(parsed, message, zone=zone),
        ROUNDS_KEY: list(parsed.round_ends),
        "notes": [],
        ORIGINAL_KEY: message.content,
    }
    return Rewritten(message=message, content=parsed.text, metadata=metadata, unread=parsed.unread)


@transaction.atomic
def _store(session_id: uuid.UUID, wanted: Sequence[Rewritten]) -> Sequence[Rewritten]:
    """Store what nobody has changed meanwhile; return it."""
    sessions = Session.unscoped.select_for_update(no_key=True, skip_locked=True)
    if not sessions.filter(id=session_id).values_list("id").first():
        return ()
    ids = [each.message.pk for each in wanted]
    stored = Message.unscoped.in_bulk(ids)
    done = []
    for each in _unhindered(session_id, wanted):
        row = stored.get(each.message.pk)
        if row and (row.content, row.metadata) == (each.message.content, each.message.metadata):
            row.content, row.metadata = each.content, dict(each.metadata)
            done.append(each)
    Message.unscoped.bulk_update([stored[each.message.pk] for each in done], ["content", "metadata"])
    return done


def _unhindered(session_id: uuid.UUID, wanted: Sequence[Rewritten]) -> Sequence[Rewritten]:
    """Return the messages to rewrite: none while a turn of their session is open."""
    is_open = Turn.unscoped.filter(session_id=session_id, status__in=OPEN_TURN_STATUSES).exists()
    return () if is_open else wanted


def _count(tally: Tally, wanted: Sequence[Rewritten], done: Sequence[Rewritten]) -> None:
    tally.messages += len(done)
    tally.skipped += len(wanted) - len(done)
    rewritten = {each.message.pk for each in done}
    for each in wanted:
        if each.message.pk not in rewritten:
            tally.report(Problem(where=each.where, text=IS_BUSY, is_lost=False))
            continue
        for block in each.unread:
            text = f"{block.block} at character {block.place + 1:,}: {block.reason}."
            tally.report(Problem(where=each.where, text=text))


def _read_zone(user_id: int) -> ZoneInfo:
    return (Profile.of(user_id).first() or Profile(user_id=user_id)).zone
