"""The events that readers of a session receive: the engine's, and those of a turn.

Facts only. `frames` renders them as JSON, `fragments` as HTML, each with one table that covers the closed
union.

Over 300 lines, because it is a list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundShown:
    """What one round of the open turn has shown: markdown text and notes."""

    number: int
    text: str
    notes: str
    is_finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """A snapshot of the open turn; it replaces what the reader has of it.

    `turn_id` is empty when the session is idle. `text` is the rounds' texts joined as in the stored message;
    `running` maps tool_use_id to tool name; `last_number` is the newest message's, so that a page can fetch
    messages that it missed. `ended` is the session's status if it has ended; `cards` are the numbers of
    messages with the levels of their cards, where these were read with the snapshot.
    """

    status: SyncStatus
    turn_id: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()
    rounds: tuple[RoundShown, ...] = ()
    running: Mapping[str, str]
    pending: tuple[CallPending, ...] = ()
    last_number: int = 0
    ended: str = ""
    cards: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePlace:
    """Where a user's message stands: its session and that one's title, and when it was said.

    `before_at` is when the one before it was said, `timezone` the user's, by name.
    """

    session_id: str
    title: str
    said_at: datetime
    before_at: datetime | None
    timezone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedDocument:
    """A document of a message, and how far it is. `has_picture`: a small one of it can be shown."""

    id: int
    name: str
    state: str
    reason: str = ""
    is_on_hold: bool = False
    is_read_in_part: bool = False
    has_picture: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStored:
    """The user's message is committed. `id` is its client id; without a `place` that is to be read."""

    id: str
    number: int
    text: str
    turn_id: str
    place: MessagePlace | None = None
    documents: tuple[AttachedDocument, ...] = ()
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryChanged:
    """History was withdrawn from `first_number` on, by an edit, a retry or another answer.

    Files in `kept` stay, and so does what else the turns did, which `effects` says in words.
    """

    withdrawn: tuple[str, ...]
    first_number: int
    kept: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChosen:
    """Another answer to the last message is in the history now. `number` is that of the answer's message."""

    turn_id: str
    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReads:
    """The model reads for a while before the first words come: about `seconds`, None where nobody knows."""

    seconds: int | None


@dataclass(frozen=True, slots=True)
class ModelHasRead:
    """Something else comes of the turn now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundClosed:
    """A round is committed: its text is final."""

    turn_id: str
    number: int
    text: str
    notes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAnswered:
    """A pending call ended: how (`answered`, `superseded`, `dismissed`, `expired`) and with what value."""

    turn_id: str
    tool_use_id: str
    state: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyShown:
    """The user's words suggest danger: a card with help lines follows them, before any answer.

    `number` is their message's; `tool_use_id` is set if they answered a question. With neither, the message
    was refused: the card isn't stored, and only its author gets it. `is_late`: the message was shown before,
    and perhaps its answer; `is_replaced`: with a card of a lower level. `has_message`: the page shows it.
    """

    card: Card
    number: int | None = None
    tool_use_id: str = ""
    is_late: bool = False
    is_replaced: bool = False
    has_message: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChanged:
    """The session entered an arc."""

    arc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcCompleted:
    arc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleChanged:
    """The session got a title, from Sage or from its user."""

    session_id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMoved:
    """A document of the session is read, or has been."""

    document: AttachedDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class StepShown:
    """A next step was written by a call of this conversation, or `is_changed` since; as it is now.

    Without a `tool_use_id` it was changed by a frame, and no call here had written it. `shown` is the step as
    a result has it, `became` what the call noted of one that was there; `is_undone`: that was taken back.
    """

    id: int
    state: str
    title: str
    due: str
    quote: str
    tool_use_id: str
    shown: Mapping[str, Any]
    became: str = ""
    is_changed: bool = False
    is_undone: bool = False


@dataclass(frozen=True, slots=True)
class SessionCompleted:
    """The session is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClosed:
    """The session ended without being completed; `status` is `expired` or `abandoned`."""

    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContinued:
    """A message to an ended session opened a turn in another one. Only its author gets this."""

    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorShown:
    """An error message for the user, perhaps about one field of an open question.

    `is_early` means that what was sent can be sent again when Sage has answered.
    """

    message: str
    field: str = ""
    is_early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDone:
    """The turn part ended or waits for the user: exactly one per part, always last.

    `number` is that of the answer's message, 0 if there is none.
    """

    turn_id: str
    stop_reason: str
    status: str
    text: str = ""
    number: int = 0


TurnEvent = (
    EngineEvent
    | CallPending
    | Sync
    | MessageStored
    | HistoryChanged
    | AnswerChosen
    | TurnStarted
    | ModelReads
    | ModelHasRead
    | RoundClosed
    | CallAnswered
    | SafetyShown
    | ModeChanged
    | ArcCompleted
    | TitleChanged
    | DocumentMoved
    | StepShown
    | SessionCompleted
    | SessionClosed
    | SessionContinued
    | ErrorShown
    | TurnDone
)

Publish = Callable[[TurnEvent], None]
"""Receives events in order."""

__all__ = [
    "CallPending",
    "NoteDelta",
    "RoundBoundary",
    "RoundRestarted",
    "TextDelta",
    "ToolCallFinished",
    "ToolCallStarted",
]
"""The engine's events, which readers receive from here as well."""
