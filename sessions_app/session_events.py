"""The log of a session's facts: what happened in it that whoever reads it must be shown.

A fact is appended in the transaction that makes it true, under the lock of the session's row, so that numbers
and commits agree. It holds ids and small values, never words: those are read from their rows when they are
shown, so that what was withdrawn or deleted is in no log. Streamed text isn't in it: see `Turn.shown`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Protocol, Self
from uuid import UUID
from weakref import WeakSet

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from sessions_app.models import EventKind, Message, Session, SessionEvent, ToolCallRecord, Turn
from sessions_app.queries import write_together

COUNTER = "event_seq"
MAX_READ = 1_000
"""Whoever is further behind gets a snapshot, so nobody reads older facts."""
KEPT = timedelta(days=1)
_IN_HAND: Mapping[str, bool] = {"is_in_hand": True}
"""Marks a field with the row that a fact is about: it isn't stored, and spares its own process a read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that happened in a session."""

    kind: ClassVar[EventKind]

    def payload(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.stored()}

    @classmethod
    def stored(cls) -> dict[str, bool]:
        """Return the fields that are stored, and for each whether it must be there."""
        return {
            each.name: each.default is MISSING and each.default_factory is MISSING
            for each in fields(cls)
            if not each.metadata
        }

    @classmethod
    def read(cls, payload: Mapping[str, Any]) -> Self | None:
        """Return a stored fact; None where another version has written it, with other fields."""
        stored = cls.stored()
        required = {name for name, is_required in stored.items() if is_required}
        return cls(**payload) if required <= payload.keys() <= stored.keys() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said(Fact):
    """The user's message was stored. `before_at`: when the one before it was said; `zone`: of its user."""

    kind = EventKind.SAID
    number: int
    before_at: str = ""
    zone: str = ""
    message: Message | None = field(default=None, metadata=_IN_HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOpened(Fact):
    kind = EventKind.TURN_OPENED
    turn_id: str
    turn: Turn | None = field(default=None, metadata=_IN_HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEnded(Fact):
    """A part of a turn ended: the turn is closed, or waits for the user."""

    kind = EventKind.PART_ENDED
    turn_id: str
    status: str
    stop_reason: str
    turn: Turn | None = field(default=None, metadata=_IN_HAND)
    answer: Message | None = field(default=None, metadata=_IN_HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAsked(Fact):
    """A call waits for the user's answer."""

    kind = EventKind.CALL_ASKED
    turn_id: str
    tool_use_id: str
    call: ToolCallRecord | None = field(default=None, metadata=_IN_HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(Fact):
    """A call that waited was answered, or ended without an answer."""

    kind = EventKind.CALL_ENDED
    turn_id: str
    tool_use_id: str
    call: ToolCallRecord | None = field(default=None, metadata=_IN_HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardGiven(Fact):
    """A message or an answer got a card with help lines, after it was shown or with a new answer.

    `number` is the message's, 0 for the answer to the call `tool_use_id` of the turn `turn_id`.
    """

    kind = EventKind.CARD_GIVEN
    number: int = 0
    turn_id: str = ""
    tool_use_id: str = ""
    is_late: bool = True
    is_replaced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn(Fact):
    """Turns left the history, with all messages from `first_number` on; `is_choice`: for another answer."""

    kind = EventKind.WITHDRAWN
    turn_ids: Sequence[str]
    first_number: int
    is_choice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPicked(Fact):
    """The answer of a turn that was withdrawn is in the history again."""

    kind = EventKind.ANSWER_PICKED
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcEntered(Fact):
    kind = EventKind.ARC_ENTERED
    arc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcLeft(Fact):
    kind = EventKind.ARC_LEFT
    arc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Titled(Fact):
    """The session got a title, from Sage or from its user."""

    kind = EventKind.TITLED


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentStateChanged(Fact):
    """A document of the session changed its state."""

    kind = EventKind.FILE_MOVED
    document_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTold(Fact):
    """A next step was written in the session by a call, or `is_changed` since."""

    kind = EventKind.STEP_TOLD
    step_id: int
    tool_use_id: str = ""
    is_changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Fact):
    """The session left `active` for `status`."""

    kind = EventKind.ENDED
    status: str


KNOWN: Sequence[type[Fact]] = (
    Said,
    TurnOpened,
    PartEnded,
    CallAsked,
    CallEnded,
    CardGiven,
    Withdrawn,
    AnswerPicked,
    ArcEntered,
    ArcLeft,
    Titled,
    DocumentStateChanged,
    StepTold,
    Ended,
)
FACT_TYPES: Mapping[str, type[Fact]] = {each.kind: each for each in KNOWN}
"""All facts; a test holds the keys against `EventKind`, and against what readers are shown."""

Numbered = tuple[int, Fact]


class Listener(Protocol):
    """Whoever shows sessions in this process."""

    def woken(self, session_id: UUID, facts: Sequence[Numbered]) -> None:
        """Hear of facts, with their numbers, right after their commit and in its thread."""


listeners: WeakSet[Listener] = WeakSet()


def append(session: Session, *facts: Fact, changed: Sequence[str] = ()) -> None:
    """Append facts in one statement, with changed fields of the session, whose row the caller has locked."""
    write_together(changed={session: [*changed, COUNTER]}, added=numbered(session, facts))


def numbered(session: Session, facts: Sequence[Fact]) -> list[SessionEvent]:
    """Return the rows of facts. The caller has locked the session, and stores its `COUNTER` with them."""
    rows = []
    for fact in facts:
        session.event_seq += 1
        row = SessionEvent(session=session, seq=session.event_seq, kind=fact.kind, payload=fact.payload())
        rows.append(row)
    together = [(row.seq, fact) for row, fact in zip(rows, facts, strict=True)]
    if together:
        transaction.on_commit(partial(_wake, session.id, together), robust=True)
    return rows


def _wake(session_id: UUID, facts: Sequence[Numbered]) -> None:
    for listener in tuple(listeners):
        listener.woken(session_id, facts)


def read_since(session: Session, seq: int) -> Sequence[Numbered] | None:
    """Return the facts after a number; None where some are gone, too many, or of another version.

    During an upgrade a newer version may write kinds, or fields of a kind, that this one doesn't know.
    """
    if session.event_seq - seq > MAX_READ:
        return None
    rows = list(SessionEvent.within(session).filter(seq__gt=seq).order_by("seq"))
    if len(rows) != session.event_seq - seq:
        return None
    read: list[Numbered] = []
    for row in rows:
        kind = FACT_TYPES.get(row.kind)
        fact = kind.read(row.payload) if kind else None
        if fact is None:
            return None
        read.append((row.seq, fact))
    return read


def prune(now: datetime | None = None) -> int:
    """Delete facts that nobody reads: old ones, and all of sessions in which nothing has happened for a day.

    The counter stays, so that whoever is behind notices that facts are gone. Returns how many there were.
    """
    # Not by the sessions' counters: of a site's sessions few have a log, and an index would slow each fact.
    long = SessionEvent.unscoped.filter(seq__gt=MAX_READ).order_by().values("session")
    old = SessionEvent.unscoped.filter(session__in=long, seq__lte=F("session__event_seq") - MAX_READ)
    count = old.delete()[0]
    before = (now or timezone.now()) - KEPT
    idle = SessionEvent.unscoped.filter(session__last_active_at__lt=before)
    recent = SessionEvent.unscoped.filter(created_at__gte=before).order_by()
    return count + idle.exclude(session__in=recent.values("session")).delete()[0]
