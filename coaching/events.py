"""What a reader of a session sees happen: the engine's events and those of a turn around them.

Facts only. `frames` makes JSON of them, `fragments` HTML; each has one table that covers the closed union.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from coaching.engine.events import (
    CallPending,
    EngineEvent,
    NoteDelta,
    RoundBoundary,
    RoundRestarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from coaching.safety.card import Card

SyncStatus = Literal["idle", "running", "awaiting_user"]


@dataclass(frozen=True, slots=True)
class NoteWords(NoteDelta):
    """A piece of a note, with what it changes for people: words to append, or the whole note anew."""

    words: str
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundShown:
    """What one round of the open turn has shown: markdown text and notes."""

    number: int
    text: str
    notes: str
    is_finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """All that the open turn has shown so far; it replaces what the reader has of it.

    `turn_id` is empty when the session is idle. `text` is the rounds' texts joined as the
    stored message joins them; `running` maps tool_use_id to tool name; `last_number` is the newest
    message's, so that a page that missed some while away can fetch them. `facts` is what of the session
    was read with it, where it was read.
    """

    status: SyncStatus
    turn_id: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()
    rounds: tuple[RoundShown, ...] = ()
    running: Mapping[str, str]
    pending: tuple[CallPending, ...] = ()
    last_number: int = 0
    facts: "SessionFacts | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What of a session its readers have been told: status, arc, and the turns that left the history."""

    status: str
    arc: str
    withdrawn: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStored:
    """The user's message is committed. `id` is its client id."""

    id: str
    number: int
    text: str
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryChanged:
    """Turns left the history: a message was edited or answered again. `kept` files stay written.

    `first_number` is the first message number that is gone; everything after it in the history is, too.
    """

    withdrawn: tuple[str, ...]
    first_number: int
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """A turn part begins to run: the reader makes room for it."""

    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundClosed:
    """A round is committed: its live text becomes final."""

    turn_id: str
    number: int
    text: str
    notes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAnswered:
    """A pending call ended: how (`answered`, `superseded`, `dismissed`, `expired`) and with what."""

    turn_id: str
    tool_use_id: str
    state: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyShown:
    """Words of the user speak of danger: a card with help lines stands beside them, before any answer.

    `number` is their message's, `tool_use_id` that of the question which they answer. With neither they were
    refused: the card is kept nowhere, and only who wrote them sees it.
    """

    card: Card
    number: int | None = None
    tool_use_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChanged:
    """The session entered an arc."""

    arc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcCompleted:
    """The session's arc is complete."""

    arc: str


@dataclass(frozen=True, slots=True)
class SessionCompleted:
    """The session is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClosed:
    """The session ended without being complete: `status` says how (`expired`, `abandoned`)."""

    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContinued:
    """A message to an ended session opened a turn in another one. Only whoever wrote it is told."""

    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorShown:
    """A sentence fit for the user."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDone:
    """The turn part is over or waits for the user: exactly one per part, always last.

    `status` is the turn's status.
    """

    turn_id: str
    stop_reason: str
    status: str
    text: str = ""


TurnEvent = (
    EngineEvent
    | Sync
    | MessageStored
    | HistoryChanged
    | TurnStarted
    | RoundClosed
    | CallAnswered
    | SafetyShown
    | ModeChanged
    | ArcCompleted
    | SessionCompleted
    | SessionClosed
    | SessionContinued
    | ErrorShown
    | TurnDone
)

Publish = Callable[[TurnEvent], None]
"""Whatever takes events in, in order."""

__all__ = [
    "ArcCompleted",
    "CallAnswered",
    "CallPending",
    "ErrorShown",
    "HistoryChanged",
    "MessageStored",
    "ModeChanged",
    "NoteDelta",
    "NoteWords",
    "Publish",
    "RoundBoundary",
    "RoundClosed",
    "RoundRestarted",
    "RoundShown",
    "SafetyShown",
    "SessionClosed",
    "SessionCompleted",
    "SessionContinued",
    "SessionFacts",
    "Sync",
    "SyncStatus",
    "TextDelta",
    "ToolCallFinished",
    "ToolCallStarted",
    "TurnDone",
    "TurnEvent",
    "TurnStarted",
]
