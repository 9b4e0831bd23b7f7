"""Who reads the sessions of this process: each reader is shown all that was said so far, and then the rest.

A turn that runs here tells its readers itself. While none does, they are brought to what the database says:
the session may go on in another process. It runs nothing, and knows no frame and no HTML.
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from django.db import DatabaseError

from coaching.events import (
    CallAnswered,
    CallPending,
    HistoryChanged,
    MessageStored,
    SafetyShown,
    Sync,
    TurnDone,
)
from coaching.live.following import read_changes, read_end
from coaching.live.hub import SessionHub, Subscription
from coaching.turns import answering
from sessions_app import selectors
from sessions_app.database import in_database
from sessions_app.models import ToolCallRecord, TurnStatus
from sessions_app.services import OpenedTurn


class Readers:
    """The hubs of this process: one for each session that is read, or whose turn runs here.

    `openings` counts the turns that are being opened here at this moment.
    """

    def __init__(self) -> None:
        self.hubs: dict[uuid.UUID, SessionHub] = {}
        self.openings = 0

    def hub(self, session_id: uuid.UUID) -> SessionHub:
        """Return the session's hub, made now if there is none."""
        return self.hubs.setdefault(session_id, SessionHub())

    def forget_unused(self, session_id: uuid.UUID) -> None:
        """Let go of a hub that nobody reads and where nothing runs."""
        hub = self.hubs.get(session_id)
        if hub is not None and hub.is_unused:
            del self.hubs[session_id]

    async def attach(self, *, user_id: int, session_id: uuid.UUID) -> Subscription:
        """Add a reader that begins with a snapshot of the open turn.

        Raises `Session.DoesNotExist` for a missing session and for another user's.
        """
        await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        try:
            while True:
                hub = self.hub(session_id)
                hub.user_id = user_id
                is_up_to_date = hub.live is not None or await self.look(session_id)
                if is_up_to_date and self.hubs.get(session_id) is hub:
                    return hub.subscribe()
        finally:
            self.forget_unused(session_id)

    async def show_again(self, session_id: uuid.UUID, subscription: Subscription) -> None:
        """Show a reader what is: somebody who sends a message again has missed that it arrived."""
        hub = self.hub(session_id)
        if hub.live is None:
            await self.look(session_id)
        for event in hub.snapshots():
            subscription.push(event)

    def detach(self, session_id: uuid.UUID, subscription: Subscription) -> None:
        """Remove a reader; the turn goes on."""
        subscription.close()
        self.forget_unused(session_id)

    async def look(self, session_id: uuid.UUID) -> bool:
        """Bring this process's readers to what the database says, while no turn runs here.

        Returns whether they are there; a turn that began or ended here meanwhile knows better.
        """
        hub = self.hub(session_id)
        async with hub.looking:
            turns_ended, before = hub.turns_ended, hub.at_rest
            shown = before and replace(before, facts=hub.facts)
            sync, events = await in_database(read_changes, session_id, shown, ended=hub.last_ended)
            if hub.live is not None or turns_ended != hub.turns_ended or before is not hub.at_rest:
                return hub.live is not None
            for event in events:
                hub.publish(event)
            hub.rest(sync)
            return True

    @asynccontextmanager
    async def opening(self, *, user_id: int, session_id: uuid.UUID) -> AsyncIterator[None]:
        """Keep others from finding a turn of this process before it runs here.

        A look would tell its beginning a second time, and the take-over would think it lost. Access is
        checked before the lock, which nobody else may hold; where the user reads here it is known already.
        Raises `Session.DoesNotExist`.
        """
        hub = self.hubs.get(session_id)
        if hub is None or hub.user_id != user_id:
            await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        self.openings += 1
        try:
            hub = self.hub(session_id)
            hub.user_id = user_id
            async with hub.looking:
                yield
        finally:
            self.openings -= 1
            self.forget_unused(session_id)


def tell_opening(
    hub: SessionHub, opened: OpenedTurn, kept: tuple[str, ...], card: SafetyShown | None
) -> None:
    """Tell readers of a turn that was opened here: what it ended, what left the history, what was said."""
    for superseded in opened.superseded:
        hub.publish(answered(superseded))
    if opened.withdrawn:
        withdrawn = tuple(str(turn_id) for turn_id in opened.withdrawn)
        first_number = opened.withdrawn_from or opened.message.number
        hub.publish(HistoryChanged(withdrawn=withdrawn, first_number=first_number, kept=kept))
    message = opened.message
    hub.last_number = max(hub.last_number, message.number)
    if opened.is_message_new and not message.metadata.get("is_hidden"):
        hub.publish(
            MessageStored(
                id=message.client_id or "",
                number=message.number,
                text=message.content,
                turn_id=str(opened.turn.id),
            )
        )
    if card is not None:
        hub.publish(card)


def answered(call: ToolCallRecord) -> CallAnswered:
    """Build the event that ends a pending call."""
    return CallAnswered(
        turn_id=str(call.turn_id), tool_use_id=call.tool_use_id, state=call.state, value=call.value
    )


def tell_question(hub: SessionHub, call: ToolCallRecord) -> None:
    """Tell readers of the next call that waits for the user, after one before it has ended."""
    pending = CallPending(tool_use_id=call.tool_use_id, name=call.name, input=call.input)
    hub.publish(pending)
    if hub.at_rest is not None:
        hub.rest(replace(hub.at_rest, pending=(pending,)))


def tell_end(hub: SessionHub, done: TurnDone) -> None:
    """Tell readers that a turn part is over or waits."""
    snapshot = Sync(status="idle", running={}, last_number=hub.last_number)
    if done.status == TurnStatus.AWAITING_USER and hub.live is not None:
        snapshot = hub.live.sync(hub.last_number)
    hub.publish(done)
    hub.rest(snapshot)
    hub.turns_ended += 1


async def tell_missed_end(hub: SessionHub) -> None:
    """Tell readers how the part that `hub` still shows ended, where its task didn't say so yet.

    Its task is between its last commit and its end, or was replaced by another process. Call this before
    a successor is shown: the task itself says nothing any more once its live turn is gone.
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
        tell_end(hub, done)


def tell_lost_end(hub: SessionHub, turn_id: str) -> None:
    """Tell readers that a turn ended here though nobody knows how: the database couldn't be asked.

    What they were shown of it is remembered, so that the next look tells its true end, or how it goes on.
    """
    shown = hub.live.sync(hub.last_number) if hub.live is not None else None
    tell_end(hub, answering.lost(turn_id))
    if shown is not None:
        hub.rest(shown)


def let_go(hub: SessionHub) -> None:
    """Leave a turn that goes on elsewhere: its readers are not told that it ended, since it didn't."""
    hub.rest(hub.snapshot())
    hub.turns_ended += 1
