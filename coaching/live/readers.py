"""The readers of sessions in this process: each gets a snapshot and then the events that follow.

Facts come from the log: handed over right after their commit if that was in this process and nothing is
missing before them, else read from it. A turn that runs here adds its text. This module runs no turn, and
knows no frame and no HTML.
"""

import asyncio
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import structlog
from django.db import DatabaseError

from coaching.events import TurnEvent
from coaching.live.following import News, Position, read_news
from coaching.live.hub import SessionHub, Subscription
from coaching.live.notifier import Notifier
from coaching.live.showing import shown
from coaching.turns import answering
from sessions_app import selectors
from sessions_app.database import in_database
from sessions_app.models import Session
from sessions_app.session_events import Numbered, listeners

logger = structlog.get_logger(__name__)

ShownFacts = Sequence[tuple[int, Sequence[TurnEvent]]]


class Readers:
    """The hubs of this process: one for each session that is read, or whose turn runs here.

    `openings` counts the turns that are being opened here at this moment.
    """

    def __init__(self) -> None:
        self.hubs: dict[uuid.UUID, SessionHub] = {}
        self.openings = 0
        self.notifier = Notifier()
        self._loop: asyncio.AbstractEventLoop | None = None
        listeners.add(self)

    def work_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the event loop that hears of what this process commits, in whichever thread."""
        self._loop = loop

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
        self.work_in(asyncio.get_running_loop())
        await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        try:
            while True:
                hub = self.hub(session_id)
                is_live = hub.live is not None and hub.seq is not None
                is_up_to_date = is_live or await self.catch_up(session_id)
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

    def woken(self, session_id: uuid.UUID, facts: Sequence[Numbered]) -> None:
        """Hear of facts right after their commit and in its thread, which can read what they show."""
        if self._loop is None:
            return
        hub = self.hubs.get(session_id)
        shown_facts: ShownFacts = ()
        if hub is not None and hub.subscriptions:
            try:
                shown_facts = [(seq, shown(session_id, fact)) for seq, fact in facts]
            except (DatabaseError, Session.DoesNotExist) as error:
                logger.warning("facts_not_read", session_id=str(session_id), error=type(error).__name__)
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._receive, session_id, facts[-1][0], shown_facts)

    def _receive(self, session_id: uuid.UUID, newest: int, shown_facts: ShownFacts) -> None:
        hub = self.hubs.get(session_id)
        if hub is not None:
            hub.newest = max(hub.newest, newest)
            if hub.subscriptions:
                hub.publish_facts(shown_facts)
            else:
                hub.seq = None
            if hub.is_behind:
                self.notifier.poke()
        self.notifier.announce(session_id)

    async def catch_up(self, session_id: uuid.UUID) -> bool:
        """Tell readers what is in the log since the last fact that they were told, and how a turn went on.

        Returns whether they are up to date; they may not be where something was told meanwhile.
        """
        hub = self.hub(session_id)
        async with hub.sync_lock:
            live, seq, version = hub.live, hub.seq, hub.version
            running = live.turn_id if live else ""
            news = await in_database(read_news, session_id, seq, hub.sync(), running=running)
            if (hub.live, hub.seq) != (live, seq):
                return False
            if hub.version != version and (live is None or news.is_about_turn):
                return False
            _tell(hub, news)
        return not hub.is_behind

    def tell_anew(self, session_id: uuid.UUID) -> None:
        """Forget which facts readers were told, so that catching up begins with a snapshot."""
        hub = self.hubs.get(session_id)
        if hub is not None:
            hub.seq = None

    async def settle(
        self, session_id: uuid.UUID, *, ends_live: bool = False, is_unsure: bool = False
    ) -> None:
        """Tell readers what they miss, if anything; `is_unsure`: perhaps nobody here has heard of it.

        `ends_live`: the turn that they see here is over.
        """
        hub = self.hubs.get(session_id)
        try:
            while hub is not None and hub.subscriptions and (hub.is_behind or is_unsure):
                if ends_live and hub.live is not None:
                    hub.drop_live()
                is_unsure = not await self.catch_up(session_id)
        except (DatabaseError, Session.DoesNotExist) as error:
            logger.warning("readers_not_caught_up", session_id=str(session_id), error=type(error).__name__)

    def is_at(self, session_id: uuid.UUID, position: Position) -> bool:
        """Say whether readers have been shown all of a session; what runs here they see anyway."""
        hub = self.hubs.get(session_id)
        if hub is None:
            return True
        return hub.seq == position.seq and (hub.live is not None or hub.progress == position.progress)

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Hold off taking turns over while one is opened here and doesn't run yet: it would count as lost."""
        self.openings += 1
        try:
            yield
        finally:
            self.openings -= 1


def _tell(hub: SessionHub, news: News) -> None:
    for event in news.events:
        hub.publish(event)
    hub.seq, hub.progress = news.position.seq, news.position.progress
    hub.last_number = max(hub.last_number, news.sync.last_number)
    if hub.live is None:
        hub.shown = news.sync
    elif news.is_snapshot:
        for event in hub.snapshot():
            hub.publish(event)


def publish_lost_end(hub: SessionHub, turn_id: str) -> None:
    """Publish that a turn ended here in an unknown way: the database couldn't be reached.

    What readers have seen of it is kept, so that catching up publishes its real end, or how it goes on.
    """
    seen = hub.sync()
    hub.publish(answering.lost(turn_id))
    hub.shown = seen
