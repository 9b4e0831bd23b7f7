"""The readers of sessions in this process: each gets a snapshot and then the events that follow.

A turn that runs here publishes its own events. While none runs here, readers catch up from the database,
since the session may go on in another process. This module runs no turn, and knows no frame and no HTML.
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import structlog
from django.db import DatabaseError

from coaching.events import CallAnswered, HistoryChanged, MessageStored, Sync, TurnDone
from coaching.live.following import Signature, idle_signature, read_changes, read_end, read_missed
from coaching.live.hub import SessionHub, Subscription
from coaching.live.stored_turn import pending_of
from coaching.turns import answering
from coaching.turns.start import StartedTurn
from sessions_app import selectors
from sessions_app.database import in_database
from sessions_app.models import ToolCallRecord, TurnStatus
from sessions_app.services import OpenedTurn

logger = structlog.get_logger(__name__)


class Readers:
    """The hubs of this process: one for each session that is read, or whose turn runs here.

    `openings` counts the turns that are being opened here at this moment.
    """

    def __init__(self) -> None:
        self.hubs: dict[uuid.UUID, SessionHub] = {}
        self.openings = 0

    def hub(self, session_id: uuid.UUID) -> SessionHub:
        return self.hubs.setdefault(session_id, SessionHub())

    def forget_unused(self, session_id: uuid.UUID) -> None:
        hub = self.hubs.get(session_id)
        if hub is not None and hub.is_unused:
            del self.hubs[session_id]

    async def attach(self, *, user_id: int, session_id: uuid.UUID) -> Subscription:
        """Add a reader, whose first event is a snapshot of the open turn.

        Raises `Session.DoesNotExist` for a missing session and for another user's.
        """
        await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        try:
            while True:
                hub = self.hub(session_id)
                hub.user_id = user_id
                is_up_to_date = hub.live is not None or await self.catch_up(session_id)
                if is_up_to_date and self.hubs.get(session_id) is hub:
                    return hub.subscribe()
        finally:
            self.forget_unused(session_id)

    async def resend(self, session_id: uuid.UUID, subscription: Subscription) -> None:
        """Send a reader a new snapshot: whoever sends a message twice has missed that it arrived."""
        hub = self.hub(session_id)
        if hub.live is None:
            await self.catch_up(session_id)
        for event in hub.snapshot():
            subscription.push(event)

    def detach(self, session_id: uuid.UUID, subscription: Subscription) -> None:
        """Remove a reader; the turn goes on."""
        subscription.close()
        self.forget_unused(session_id)

    async def catch_up(self, session_id: uuid.UUID) -> bool:
        """Publish what changed in the database since the last time, while no turn runs here.

        Returns whether readers are up to date; they may not be where a turn ended here meanwhile.
        """
        hub = self.hub(session_id)
        async with hub.sync_lock:
            return await _catch_up_locked(hub, session_id)

    def have_seen(self, session_id: uuid.UUID, signature: Signature) -> bool:
        """Say whether readers were told all that the signature says: most often a turn that ended here."""
        hub = self.hubs.get(session_id)
        if hub is None or hub.facts is None or hub.sync().turn_id:
            return False
        return signature == idle_signature(hub.last_number, hub.facts)

    @asynccontextmanager
    async def opening(self, *, user_id: int, session_id: uuid.UUID) -> AsyncIterator[None]:
        """Hold off catching up and taking over while a turn is opened here and doesn't run yet.

        Catching up would publish its start a second time, and the take-over would count it as lost. Readers
        who were shown a turn that runs elsewhere catch up first. Access is checked before the lock is taken,
        since nobody else may hold it; readers were checked on attaching. Raises `Session.DoesNotExist`.
        """
        hub = self.hubs.get(session_id)
        if hub is None or hub.user_id != user_id:
            await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        self.openings += 1
        try:
            hub = self.hub(session_id)
            hub.user_id = user_id
            async with hub.sync_lock:
                if hub.live is None and hub.subscriptions and hub.shown and hub.shown.status == "running":
                    await _catch_up_locked(hub, session_id)
                yield
        finally:
            self.openings -= 1
            self.forget_unused(session_id)


async def _catch_up_locked(hub: SessionHub, session_id: uuid.UUID) -> bool:
    turns_ended, before = hub.turns_ended, hub.shown
    shown = before and replace(before, facts=hub.facts)
    sync, events = await in_database(read_changes, session_id, shown, ended=hub.last_ended)
    if hub.live is not None or turns_ended != hub.turns_ended or before is not hub.shown:
        return hub.live is not None
    for event in events:
        hub.publish(event)
    hub.end_live(sync)
    return True


async def publish_missed(hub: SessionHub, opened: OpenedTurn) -> None:
    """Publish what other processes did since readers last caught up, before a turn that was opened here.

    Asks the database only if something is missing: a turn's start waits for this.
    """
    shown = hub.shown
    if hub.live is not None or shown is None or not hub.subscriptions or not _is_behind(hub, shown, opened):
        return
    shown = replace(shown, last_number=hub.last_number)
    try:
        events = await in_database(read_missed, opened.session_id, shown, ended=hub.last_ended, opened=opened)
    except DatabaseError as error:
        logger.warning(
            "missed_events_not_read", session_id=str(opened.session_id), error=type(error).__name__
        )
        return
    for event in events:
        hub.publish(event)


def _is_behind(hub: SessionHub, shown: Sync, opened: OpenedTurn) -> bool:
    """Return whether something was committed between what readers were shown and the opened turn."""
    superseded = {call.tool_use_id for call in opened.superseded}
    is_question_superseded = any(pending.tool_use_id in superseded for pending in shown.pending)
    if shown.turn_id and not is_question_superseded:
        return True
    # The answer so far of a superseded turn is stored when the next one is opened.
    return opened.first_own_number > hub.last_number + 1 + is_question_superseded


def publish_opening(hub: SessionHub, started: StartedTurn) -> None:
    """Publish a turn that was opened here: what it ended and withdrew, its message and its card."""
    opened = started.opened
    for superseded in opened.superseded:
        hub.publish(call_answered(superseded))
    if opened.withdrawn:
        withdrawn = tuple(str(turn_id) for turn_id in opened.withdrawn)
        first_number = opened.withdrawn_from or opened.message.number
        changed = HistoryChanged(
            withdrawn=withdrawn, first_number=first_number, kept=started.kept, effects=started.effects
        )
        hub.publish(changed)
    message = opened.message
    hub.last_number = max(hub.last_number, message.number)
    if opened.is_message_new and not message.metadata.get("is_hidden"):
        hub.publish(
            MessageStored(
                id=message.client_id or "",
                number=message.number,
                text=message.content,
                turn_id=str(opened.turn.id),
                place=started.place,
                documents=started.documents,
            )
        )
    if started.card is not None:
        hub.publish(started.card)


def call_answered(call: ToolCallRecord) -> CallAnswered:
    """Build the event for a pending call that has ended."""
    return CallAnswered(
        turn_id=str(call.turn_id), tool_use_id=call.tool_use_id, state=call.shown_state, value=call.value
    )


def publish_question(hub: SessionHub, call: ToolCallRecord) -> None:
    """Publish the next call that waits for the user, after the one before it has ended."""
    pending = pending_of(call)
    hub.publish(pending)
    if hub.shown is not None:
        hub.end_live(replace(hub.shown, pending=(pending,)))


def publish_end(hub: SessionHub, done: TurnDone) -> None:
    """Publish that a turn part is over or waits, and drop the live turn."""
    hub.publish(done)
    snapshot = Sync(status="idle", running={}, last_number=hub.last_number)
    if done.status == TurnStatus.AWAITING_USER and hub.live is not None:
        snapshot = hub.live.sync(hub.last_number)
    hub.end_live(snapshot)
    hub.turns_ended += 1


async def publish_missed_end(hub: SessionHub) -> None:
    """Publish how the part that `hub` still shows ended, where its task hasn't done so yet.

    Its task is between its last commit and its end, or was replaced by another process. Call this before
    a successor is shown: once its live turn is gone, the task publishes nothing.
    """
    live = hub.live
    if live is None:
        return
    try:
        events, done = await in_database(read_end, live.sync(hub.last_number))
    except DatabaseError:
        events, done = [], answering.lost(live.turn_id)
    if hub.live is live:
        for event in events:
            hub.publish(event)
        publish_end(hub, done)


def publish_lost_end(hub: SessionHub, turn_id: str) -> None:
    """Publish that a turn ended here in an unknown way: the database couldn't be reached.

    What readers have seen of it is kept, so that catching up publishes its real end, or how it goes on.
    """
    shown = hub.live.sync(hub.last_number) if hub.live is not None else None
    publish_end(hub, answering.lost(turn_id))
    if shown is not None:
        hub.end_live(shown)


def drop_live_turn(hub: SessionHub) -> None:
    """Drop a turn that goes on elsewhere, without publishing an end."""
    hub.end_live(hub.sync())
    hub.turns_ended += 1
