"""The open turn's output so far, and the readers that receive it.

A reader gets events in order through its `Subscription`. Its queue is bounded: a slow reader gets a snapshot
instead of the backlog. This module holds no rule of a turn and no socket.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from coaching.events import (
    AnswerChosen,
    ArcCompleted,
    CallPending,
    DocumentMoved,
    HistoryChanged,
    MessageStored,
    ModeChanged,
    NoteDelta,
    RoundBoundary,
    RoundClosed,
    RoundRestarted,
    RoundShown,
    SafetyShown,
    SessionClosed,
    SessionCompleted,
    SessionFacts,
    Sync,
    TextDelta,
    TitleChanged,
    ToolCallFinished,
    ToolCallStarted,
    TurnDone,
    TurnEvent,
)

MAX_QUEUED_CHARACTERS = 1 << 20
_EVENT_OVERHEAD_CHARACTERS = 64
_REPLACED_BY_SYNC = (
    TextDelta,
    NoteDelta,
    RoundBoundary,
    RoundRestarted,
    RoundClosed,
    ToolCallStarted,
    ToolCallFinished,
)


@dataclass(slots=True)
class _LiveRound:
    number: int
    text: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def shown(self) -> RoundShown:
        text, notes = "".join(self.text), "".join(self.notes)
        return RoundShown(number=self.number, text=text, notes=notes, is_finished=False)


class LiveTurn:
    """The open turn as the readers of `hub` see it."""

    def __init__(self, hub: "SessionHub", turn_id: str) -> None:
        self.hub = hub
        self.turn_id = turn_id
        self.is_dirty = False
        self._finished: list[RoundShown] = []
        self._current = _LiveRound(number=1)
        self._running: dict[str, str] = {}
        self._pending: list[CallPending] = []
        self._has_begun_round = False

    @property
    def is_shown(self) -> bool:
        """Whether readers still follow this turn and not its successor."""
        return self.hub.live is self

    def publish(self, event: TurnEvent) -> None:
        """Show an event of this turn, unless a successor has replaced it."""
        if self.is_shown:
            self.hub.publish(event)

    def begin_with(self, rounds: Sequence[RoundShown]) -> None:
        """Start after the rounds that an earlier part, or an earlier runner, has committed."""
        self._finished = list(rounds)
        self._current = _LiveRound(number=len(rounds) + 1)
        self._has_begun_round = False

    def apply(self, event: TurnEvent) -> tuple[TurnEvent, ...]:
        """Add an event to the turn's output; return the events that readers get for it, in order."""
        if isinstance(event, TextDelta):
            self._current.text.append(event.text)
            self.is_dirty = True
            return (event,)
        if isinstance(event, NoteDelta):
            self._current.notes.append(event.text)
            self.is_dirty = True
            return (event,)
        if isinstance(event, RoundRestarted):
            self._current = _LiveRound(number=self._current.number)
            return (event, *self.snapshot())
        if isinstance(event, RoundBoundary):
            self._has_begun_round = True
        elif isinstance(event, RoundClosed):
            self._finished.append(
                RoundShown(number=event.number, text=event.text, notes=event.notes, is_finished=True)
            )
            self._current = _LiveRound(number=event.number + 1)
            self._has_begun_round = False
        elif isinstance(event, ToolCallStarted):
            self._running[event.tool_use_id] = event.name
        elif isinstance(event, ToolCallFinished):
            self._running.pop(event.tool_use_id, None)
        elif isinstance(event, CallPending):
            self._pending.append(event)
            if len(self._pending) > 1:  # they are shown one after another
                return ()
        return (event,)

    def snapshot(self, last_number: int = 0) -> tuple[TurnEvent, ...]:
        """Return the events that replace all that a reader has of the turn.

        The boundary of a round that has begun and has no text yet follows the snapshot.
        """
        sync = self.sync(last_number)
        is_between = self._has_begun_round and not self._current.text
        return (sync, RoundBoundary()) if is_between else (sync,)

    def sync(self, last_number: int = 0) -> Sync:
        """Return the output so far."""
        current = self._current.shown()
        rounds = [*self._finished, *([current] if current.text or current.notes else [])]
        return Sync(
            status="awaiting_user" if self._pending else "running",
            turn_id=self.turn_id,
            text="\n\n".join(shown.text for shown in rounds if shown.text),
            notes=tuple(shown.notes for shown in rounds if shown.notes),
            rounds=tuple(rounds),
            running=dict(self._running),
            pending=tuple(self._pending[:1]),
            last_number=last_number,
        )

    def shown_json(self) -> str:
        """Return the running round's text and notes as JSON text for `Turn.shown`, and mark it clean."""
        self.is_dirty = False
        current = self._current.shown()
        return json.dumps({"number": current.number, "text": current.text, "notes": current.notes})


class Subscription:
    """One reader's queue of events, at most `MAX_QUEUED_CHARACTERS` long, with a snapshot first."""

    def __init__(self, hub: "SessionHub") -> None:
        self._hub = hub
        self._events: list[TurnEvent] = [*hub.snapshot()]
        self._queued_characters = 0
        self._is_behind = False
        self._arrived = asyncio.Event()
        self._arrived.set()

    def push(self, event: TurnEvent) -> None:
        """Queue an event; beyond the limit, replace by a snapshot whatever one can replace."""
        if self._is_behind and isinstance(event, _REPLACED_BY_SYNC):
            return
        if self._is_behind and isinstance(event, TurnDone) and self._hub.live:
            self._events += self._hub.snapshot()
        self._events.append(event)
        self._queued_characters += _characters_of(event)
        if self._queued_characters > MAX_QUEUED_CHARACTERS:
            self._is_behind = True
            self._events = [queued for queued in self._events if not isinstance(queued, _REPLACED_BY_SYNC)]
            self._queued_characters = 0
        self._arrived.set()

    async def next_batch(self) -> list[TurnEvent]:
        """Wait for events and return all that are queued, with adjacent text joined."""
        await self._arrived.wait()
        self._arrived.clear()
        events, self._events = self._events, []
        self._queued_characters = 0
        if self._is_behind:
            self._is_behind = False
            if self._hub.live:
                events += self._hub.snapshot()
        return _joined(events)

    def close(self) -> None:
        self._hub.subscriptions.discard(self)


@dataclass(slots=True, eq=False)
class SessionHub:
    """One session's open turn and its readers, in this process.

    `shown` is what readers have been shown while no turn runs here; None before they first caught up.
    `last_ended` is the turn whose end was published last. `sync_lock` keeps a change from going out twice.
    `user_id` is the owner's, whose access was checked.
    """

    user_id: int | None = None
    live: LiveTurn | None = None
    shown: Sync | None = None
    facts: SessionFacts | None = None
    last_number: int = 0
    last_ended: str = ""
    turns_ended: int = 0
    subscriptions: set[Subscription] = field(default_factory=set)
    sync_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_unused(self) -> bool:
        """Whether it has no reader and no running turn, and gets neither now."""
        return self.live is None and not self.subscriptions and not self.sync_lock.locked()

    def sync(self) -> Sync:
        """Return the snapshot that a new reader gets."""
        if self.live is not None:
            return self.live.sync(self.last_number)
        return self.shown or Sync(status="idle", running={}, last_number=self.last_number)

    def snapshot(self) -> tuple[TurnEvent, ...]:
        """Return the events that replace all that a reader has."""
        return self.live.snapshot(self.last_number) if self.live else (self.sync(),)

    def begin(self, turn_id: str) -> LiveTurn:
        """Make a turn that runs here the one that readers see."""
        self.live = LiveTurn(self, turn_id)
        return self.live

    def end_live(self, sync: Sync) -> None:
        """Drop the live turn; `sync` is what readers have been shown."""
        self.live = None
        self.shown = sync
        self.facts = sync.facts or self.facts
        self.last_number = max(self.last_number, sync.last_number)

    def subscribe(self) -> Subscription:
        """Add a reader, who gets a snapshot and then every later event."""
        subscription = Subscription(self)
        self.subscriptions.add(subscription)
        return subscription

    def publish(self, event: TurnEvent) -> None:
        """Add an event to the live turn and queue it for every reader."""
        if isinstance(event, MessageStored):
            self.last_number = max(self.last_number, event.number)
        elif isinstance(event, TurnDone):
            self.last_ended = event.turn_id
            self.last_number = max(self.last_number, event.number)
        elif self.facts is not None:
            self.facts = _facts_after(self.facts, event)
        for passed in self.live.apply(event) if self.live else (event,):
            for subscription in tuple(self.subscriptions):
                subscription.push(passed)


def _facts_after(facts: SessionFacts, event: TurnEvent) -> SessionFacts:
    """Return what readers know about the session after an event."""
    if isinstance(event, HistoryChanged):
        cards = frozenset(card for card in facts.cards if card[0] < event.first_number)
        return replace(facts, withdrawn=facts.withdrawn.union(event.withdrawn), cards=cards)
    if isinstance(event, AnswerChosen):
        return replace(facts, withdrawn=facts.withdrawn - {event.turn_id})
    if isinstance(event, SafetyShown) and event.number is not None:
        others = frozenset(card for card in facts.cards if card[0] != event.number)
        return replace(facts, cards=others | {(event.number, event.card.danger.level)})
    if isinstance(event, ModeChanged):
        return replace(facts, arc=event.arc)
    if isinstance(event, ArcCompleted):
        return replace(facts, arc="")
    if isinstance(event, TitleChanged):
        return replace(facts, title=event.title)
    if isinstance(event, DocumentMoved):
        moved = event.document
        others = frozenset(each for each in facts.documents if each[0] != moved.id)
        return replace(facts, documents=others | {(moved.id, moved.state)})
    if isinstance(event, SessionCompleted):
        return replace(facts, status="completed", arc="")
    if isinstance(event, SessionClosed):
        return replace(facts, status=event.status, arc="")
    return facts


def _characters_of(event: TurnEvent) -> int:
    if isinstance(event, TextDelta | NoteDelta | MessageStored | RoundClosed | Sync | TurnDone):
        return len(event.text) + _EVENT_OVERHEAD_CHARACTERS
    return _EVENT_OVERHEAD_CHARACTERS


def _joined(events: list[TurnEvent]) -> list[TurnEvent]:
    joined: list[TurnEvent] = []
    texts: list[str] = []
    for event in events:
        if isinstance(event, TextDelta):
            texts.append(event.text)
            continue
        if texts:
            joined.append(TextDelta("".join(texts)))
            texts = []
        joined.append(event)
    if texts:
        joined.append(TextDelta("".join(texts)))
    return joined
