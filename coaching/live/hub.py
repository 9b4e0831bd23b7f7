"""The open turn's output so far, and the readers that receive it.

A reader gets events in order through its `Subscription`. Its queue is bounded: a slow reader gets a snapshot
instead of the backlog. This module holds no rule of a turn and no socket.

Over 300 lines, because a token passes few modules: what the open turn has shown and the queues of its readers
are in one.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from coaching.events import (
    CallPending,
    ErrorShown,
    MessageStored,
    ModelHasRead,
    ModelReads,
    NoteDelta,
    RoundBoundary,
    RoundClosed,
    RoundRestarted,
    RoundShown,
    SessionClosed,
    Sync,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnDone,
    TurnEvent,
    TurnStarted,
)

IDLE = Sync(status="idle", running={})
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
    ModelReads,
    ModelHasRead,
)
_ENDS_READING = (
    TextDelta,
    NoteDelta,
    RoundBoundary,
    RoundRestarted,
    RoundClosed,
    ToolCallStarted,
    CallPending,
    ErrorShown,
    TurnDone,
)
"""What the model writes, or how its part ends. Titles, cards and steps come while it reads."""


@dataclass(slots=True)
class _LiveRound:
    number: int
    text: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def shown(self) -> RoundShown:
        text, notes = "".join(self.text), "".join(self.notes)
        return RoundShown(number=self.number, text=text, notes=notes, is_finished=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What was told of a model that reads, at a moment of the hub's clock."""

    told: ModelReads
    at: float

    def left(self, now: float) -> ModelReads:
        """Return what is true now; where the estimate is over, nobody knows."""
        if self.told.seconds is None:
            return self.told
        seconds = round(self.told.seconds - (now - self.at))
        return ModelReads(seconds=seconds if seconds > 0 else None)


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
        self._reading: _Reading | None = None

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
        was_reading = self._reading
        if isinstance(event, ModelReads):
            self._reading = _Reading(told=event, at=self.hub.clock())
        elif isinstance(event, _ENDS_READING):
            self._reading = None
        shown = self._apply(event)
        return (ModelHasRead(), *shown) if was_reading and self._reading is not was_reading else shown

    def _apply(self, event: TurnEvent) -> tuple[TurnEvent, ...]:
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
            self.is_dirty = True
        elif isinstance(event, ToolCallStarted):
            self._running[event.tool_use_id] = event.name
            self.is_dirty = True
        elif isinstance(event, ToolCallFinished):
            self._running.pop(event.tool_use_id, None)
            self.is_dirty = True
        elif isinstance(event, CallPending):
            self._pending.append(event)
            if len(self._pending) > 1:  # they are shown one after another
                return ()
        return (event,)

    def snapshot(self, last_number: int = 0) -> tuple[TurnEvent, ...]:
        """Return the events that replace all that a reader has of the turn.

        The boundary of a round that has begun and has no text yet follows the snapshot, and so does that the
        model reads, and how much longer.
        """
        sync = self.sync(last_number)
        if self._reading is not None:
            return sync, self._reading.left(self.hub.clock())
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
        """Return the running round's text and notes as JSON text for `Turn.shown`, and mark it clean.

        With the calls that run: whatever changes it has others read the turn.
        """
        self.is_dirty = False
        now = self._current.shown()
        return json.dumps(
            {"number": now.number, "text": now.text, "notes": now.notes, "running": list(self._running)}
        )


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

    `seq` is the last fact that readers were told, None while there are none; `newest` the last that was
    heard of. `shown` is what they have seen of an open turn that doesn't run here, and `progress` how far
    that one was stored. `version` counts events. `sync_lock` keeps two from catching up at once. `clock` is
    monotonic, in seconds.
    """

    live: LiveTurn | None = None
    shown: Sync = IDLE
    seq: int | None = None
    newest: int = 0
    progress: tuple[object, ...] = ()
    version: int = 0
    last_number: int = 0
    subscriptions: set[Subscription] = field(default_factory=set)
    sync_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    clock: Callable[[], float] = time.monotonic

    @property
    def is_unused(self) -> bool:
        """Whether it has no reader and no running turn, and gets neither now."""
        return self.live is None and not self.subscriptions and not self.sync_lock.locked()

    @property
    def is_behind(self) -> bool:
        """Whether there are facts that its readers haven't been told."""
        return self.seq is not None and self.seq < self.newest

    def sync(self) -> Sync:
        """Return the snapshot that a new reader gets."""
        if self.live is not None:
            return self.live.sync(self.last_number)
        return replace(self.shown, last_number=self.last_number)

    def snapshot(self) -> tuple[TurnEvent, ...]:
        """Return the events that replace all that a reader has."""
        return self.live.snapshot(self.last_number) if self.live else (self.sync(),)

    def begin(self, turn_id: str) -> LiveTurn:
        """Make a turn that runs here the one that readers see."""
        self.live = LiveTurn(self, turn_id)
        return self.live

    def drop_live(self) -> None:
        """Drop the live turn, of which readers keep what they have seen; it may go on elsewhere."""
        self.shown = self.sync()
        self.live = None

    def subscribe(self) -> Subscription:
        """Add a reader, who gets a snapshot and then every later event."""
        subscription = Subscription(self)
        self.subscriptions.add(subscription)
        return subscription

    def publish_facts(self, shown_facts: Sequence[tuple[int, Sequence[TurnEvent]]]) -> None:
        """Publish facts as they are committed, as far as they follow on those that were published before.

        Where the end of something depends on text that was written elsewhere, they are read with it.
        """
        for seq, events in shown_facts:
            if self.seq is None or seq <= self.seq:
                continue
            is_followed = self.live is None and self.shown.status == "running"
            is_closing = any(isinstance(event, SessionClosed) for event in events)
            if seq != self.seq + 1 or is_followed or is_closing:
                return
            self.seq = seq
            for event in events:
                self.publish(event)

    def publish(self, event: TurnEvent) -> None:
        """Add an event to the live turn and queue it for every reader."""
        self.version += 1
        live = self.live
        known = {self.shown.turn_id, live.turn_id if live else ""}
        if isinstance(event, TurnDone) and event.turn_id not in known:
            return  # nobody was told of this turn
        for passed in live.apply(event) if live else (event,):
            for subscription in tuple(self.subscriptions):
                subscription.push(passed)
        if isinstance(event, MessageStored):
            self.last_number = max(self.last_number, event.number)
        elif isinstance(event, TurnStarted):
            self.live = live if live and live.turn_id == event.turn_id else None
            self.shown = Sync(status="running", turn_id=event.turn_id, running={})
        elif isinstance(event, TurnDone):
            self.last_number = max(self.last_number, event.number)
            if live is None or live.turn_id == event.turn_id:
                is_waiting = event.status == "awaiting_user"
                self.shown = replace(self.sync(), status="awaiting_user") if is_waiting else IDLE
                self.live, self.progress = None, ()


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
