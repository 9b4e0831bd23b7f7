"""Calls to the model wait for a place: those of turns first, then second looks, then background work.

Within a process, those of a rank get one in the order in which they began to wait. A call that isn't a turn's
makes way for one that goes first, and is done again later; after `MAX_WAYS_MADE` times it is read to its end.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import DEFAULT_TIMEOUTS, ModelClient, ReplyStream, StreamTimeouts
from coaching.engine.reply import Reply, ReplyDelta
from coaching.model_client.places import PLACES, ModelPlaces, Rank, model_places

TURN_POLL_SECONDS = 0.1
POLL_SECONDS = 0.5
MAX_WAYS_MADE = 3

logger = structlog.get_logger(__name__)


class QueuedClient:
    """Wraps a `ModelClient`: a call waits for a place. One of another `rank` than a turn's may make way.

    What may have to make way is complete when its stream is opened.
    """

    def __init__(self, client: ModelClient, rank: Rank, *, places: ModelPlaces = PLACES) -> None:
        self._client = client
        self._rank = rank
        self._places = places
        self._first = asyncio.Lock()
        """Held by the one that waits for the next place."""

    @asynccontextmanager
    async def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    ) -> AsyncIterator[ReplyStream]:
        """Wait for a place and open a stream."""
        ways_made = 0
        while self._rank != Rank.TURN and model_places() is not None and ways_made < MAX_WAYS_MADE:
            async with self._place():
                read = await self._read(request, timeouts)
            if read is not None:
                yield read
                return
            ways_made += 1
            logger.info("background_call_made_way", times=ways_made)
        opened = self._client.stream(request, timeouts=timeouts)
        async with self._place(), opened as stream:
            yield stream

    async def _read(self, request: ModelRequest, timeouts: StreamTimeouts) -> "_ReadStream | None":
        """Read a reply to its end; None if it made way."""
        reading = asyncio.create_task(self._read_all(request, timeouts))
        try:
            while not reading.done():
                await asyncio.wait([reading], timeout=POLL_SECONDS)
                makes_way = not reading.done() and await asyncio.to_thread(
                    self._places.has_to_make_way, self._rank
                )
                if makes_way and not reading.done():
                    return None
            return reading.result()
        finally:
            if not reading.done():
                reading.cancel()
                await asyncio.wait([reading])

    async def _read_all(self, request: ModelRequest, timeouts: StreamTimeouts) -> "_ReadStream":
        """Read a reply; of one that broke off, with the error. Raises what opening the stream raises."""
        begun: ReplyStream | None = None
        try:
            async with self._client.stream(request, timeouts=timeouts) as stream:
                begun = stream
                async for _ in stream:
                    pass
        except UpstreamError as error:
            if begun is None:
                raise
            return _ReadStream(begun.reply(), error)
        return _ReadStream(begun.reply())

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """Hold a place for the length of the block, where their number is limited."""
        number = model_places()
        if number is None:
            yield
            return
        place = await self._wait(number)
        try:
            yield
        finally:
            await asyncio.shield(asyncio.to_thread(self._places.give_back, place))

    async def _wait(self, number: int) -> int:
        """Wait until it is this call's turn and there is a place, and take it."""
        if not self._first.locked() and (place := await self._take(number)) is not None:
            return place
        beginning = asyncio.ensure_future(asyncio.to_thread(self._places.begin_waiting, self._rank))
        try:
            await asyncio.shield(beginning)
            async with self._first:
                while True:
                    if (place := await self._take(number)) is not None:
                        return place
                    await asyncio.sleep(TURN_POLL_SECONDS if self._rank == Rank.TURN else POLL_SECONDS)
        finally:
            await asyncio.shield(self._end_waiting(beginning))

    async def _end_waiting(self, beginning: "asyncio.Future[None]") -> None:
        """Wait no longer, once its beginning, which a cancellation doesn't stop, is over."""
        await asyncio.wait([beginning])
        await asyncio.to_thread(self._places.end_waiting, self._rank)

    async def _take(self, number: int) -> int | None:
        """Take a place. One that is taken while the caller is cancelled is given back."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._places.take, number, self._rank))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(self._give_back_late)
            raise

    def _give_back_late(self, taking: "asyncio.Future[int | None]") -> None:
        if not taking.cancelled() and taking.exception() is None and (place := taking.result()) is not None:
            taking.get_loop().run_in_executor(None, self._places.give_back, place)


class _ReadStream:
    """A stream whose reply has been read: it has no deltas left, and ends as it ended."""

    def __init__(self, reply: Reply, error: UpstreamError | None = None) -> None:
        self._reply = reply
        self._error = error

    def __aiter__(self) -> "_ReadStream":
        return self

    async def __anext__(self) -> list[ReplyDelta]:
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    def reply(self) -> Reply:
        return self._reply
