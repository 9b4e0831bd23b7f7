"""Verdicts about danger in a user's messages: one row each, raised and never lowered."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction

from sessions_app.models import Message, MessageRole, SafetyVerdict, Turn, VerdictLevel

SEEN = frozenset(VerdictLevel.values)
"""The outcomes of second looks that came to a verdict."""
_ORDER = (VerdictLevel.NONE, VerdictLevel.CONCERN, VerdictLevel.IMMEDIATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVerdict:
    """A verdict to store. `looked` is the outcome of a second look, empty for any other verdict.

    `noticed` is the level that Sage raised; `is_foreign`: in a turn that had read texts of others.
    """

    level: str
    about: str = "self"
    topic: str = "life"
    looked: str = ""
    noticed: str = ""
    is_foreign: bool = False
    model: str = ""
    milliseconds: int = 0
    usage_id: int | None = None


def is_more_acute(level: str, than: str) -> bool:
    """Return whether a level is over another one; an empty one is none."""
    return _ORDER.index(VerdictLevel(level or "none")) > _ORDER.index(VerdictLevel(than or "none"))


@transaction.atomic
def store_verdict(message_id: int, new: NewVerdict) -> bool:
    """Store a verdict or raise the stored one; return whether the level rose.

    Nothing is stored, and nothing rises, where the message is withdrawn or gone.
    """
    messages = Message.unscoped.select_for_update(of=("self",), no_key=True).filter(id=message_id)
    message = messages.filter(turn__is_withdrawn=False).only("id", "session_id").first()
    if message is None:
        return False
    row = SafetyVerdict.unscoped.filter(message=message).first()
    if row is None:
        row = SafetyVerdict(message=message, session_id=message.session_id, level=VerdictLevel.NONE)
        row.about, row.topic = new.about, new.topic
    has_risen = is_more_acute(new.level, row.level)
    if has_risen:
        row.level, row.about, row.topic = new.level, new.about, new.topic
    if new.noticed:
        row.is_foreign = new.is_foreign and (row.is_foreign or not row.noticed)
        row.noticed = new.noticed if is_more_acute(new.noticed, row.noticed) else row.noticed
    # A look that failed in another process doesn't replace one that saw.
    if new.looked and (new.looked in SEEN or row.looked not in SEEN):
        row.looked, row.model, row.milliseconds = new.looked, new.model, new.milliseconds
        row.usage_id = new.usage_id
    row.save()
    return has_risen


def read_verdicts(session_id: uuid.UUID, messages: Iterable[Message]) -> dict[int, SafetyVerdict]:
    """Return the verdicts about these messages of a session, by message."""
    ids = [message.pk for message in messages if message.role == MessageRole.USER]
    if not ids:
        return {}
    rows = SafetyVerdict.unscoped.filter(session_id=session_id, message_id__in=ids)
    return {row.message_id: row for row in rows}


def read_levels(session_ids: Collection[uuid.UUID]) -> Sequence[tuple[uuid.UUID, int, str]]:
    """Return session, message number and level of all danger that readers of these sessions are shown."""
    rows = SafetyVerdict.unscoped.filter(session_id__in=session_ids).exclude(level=VerdictLevel.NONE)
    rows = rows.filter(message__turn__is_withdrawn=False).order_by("session_id", "message__number")
    return list(rows.values_list("session_id", "message__number", "level"))


def message_to_judge(turn: Turn) -> Message | None:
    """Return the user's own message that a turn answers: for a hidden one, the last before it."""
    own = turn.messages.filter(role=MessageRole.USER).order_by("number").first()
    if own is None or not own.metadata.get("is_hidden"):
        return own
    said = Message.within(turn.session).filter(role=MessageRole.USER, turn__is_withdrawn=False)
    said = said.filter(number__lt=own.number).exclude(metadata__has_key="is_hidden")
    return said.order_by("-number").first() or own
