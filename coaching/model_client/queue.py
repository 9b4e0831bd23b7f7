"""The places at the model: as many calls at once as its server can answer, in all processes together.

A place is a lock of the database, held by a connection of this process, so a process that is killed gives its
places back. A person who waits holds another lock, which every process sees: background calls then don't
begin, and one that runs makes way. It is done again later; after `MAX_WAYS_MADE` times it is read to its end.

The locks belong to a database session, so they don't work through a pooler in transaction mode
(docs/operating.md).
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import psycopg
import structlog
from django.conf import settings
from django.db import connection

from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import DEFAULT_TIMEOUTS, ModelClient, ReplyStream, StreamTimeouts
from coaching.engine.reply import Reply, ReplyDelta
from coaching.model_client.servers import is_local_server
from sessions_app.queries import Query, run_query

NAMESPACE = 0x5A6E
PERSON_WAITS = 0
"""The lock that a waiting person shares with other waiting ones; places are numbered from 1."""
NO_PLACE = 0
PERSON_POLL_SECONDS = 0.1
BACKGROUND_POLL_SECONDS = 0.5
MAX_WAYS_MADE = 3

_Function = Literal["try", "end", "wait shared", "end shared"]
_STATEMENTS: Mapping[_Function, str] = {
    "try": "SELECT pg_try_advisory_lock(%s, %s)",
    "end": "SELECT pg_advisory_unlock(%s, %s)",
    "wait shared": "SELECT pg_advisory_lock_shared(%s, %s)",
    "end shared": "SELECT pg_advisory_unlock_shared(%s, %s)",
}
_NOW = """
SELECT count(*) FILTER (WHERE objid > %(waits)s), count(*) FILTER (WHERE objid = %(waits)s)
FROM pg_locks
WHERE locktype = 'advisory' AND classid = %(namespace)s AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""

logger = structlog.get_logger(__name__)


def model_places() -> int | None:
    """Return how many calls the model's server may have at once; None for any number.

    A local server that isn't told otherwise answers one after another.
    """
    chosen: int | None = settings.SAGE_MODEL_CONCURRENCY
    if chosen is None and is_local_server():
        return 1
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesNow:
    """How many of the places are taken at this moment, and in how many processes a person waits for one."""

    places: int
    taken: int
    waiting: int


def places_now() -> PlacesNow | None:
    """Return the state of the places; None where calls don't wait."""
    places = model_places()
    if places is None:
        return None
    (taken, waiting), *_ = run_query(Query(_NOW, {"waits": PERSON_WAITS, "namespace": NAMESPACE}))
    return PlacesNow(places=places, taken=taken, waiting=waiting)


class ModelPlaces:
    """The places of all processes, seen from this one. Its methods wait for the database.

    Without a database nobody is kept waiting: whoever asks gets `NO_PLACE`.
    """

    def __init__(self) -> None:
        self._session: psycopg.Connection | None = None
        self._held: set[int] = set()
        self._waiting = 0
        self._lock = threading.Lock()

    def take(self, places: int, *, is_person: bool) -> int | None:
        """Take a place; None if there is none, or if a person waits for one and this isn't theirs."""
        with self._lock:
            try:
                if not is_person and self._does_person_wait():
                    return None
                for place in range(1, places + 1):
                    if place not in self._held and self._ask("try", place):
                        self._held.add(place)
                        return place
            except psycopg.Error as error:
                self._lose(error)
                return NO_PLACE
            return None

    def give_back(self, place: int) -> None:
        with self._lock:
            if place not in self._held:
                return
            self._held.discard(place)
            try:
                self._ask("end", place)
            except psycopg.Error as error:
                self._lose(error)

    def begin_waiting(self) -> None:
        """Show all processes that a person waits, until `end_waiting`."""
        with self._lock:
            try:
                if self._waiting == 0:
                    self._ask("wait shared", PERSON_WAITS)
            except psycopg.Error as error:
                self._lose(error)
            self._waiting += 1

    def end_waiting(self) -> None:
        with self._lock:
            self._waiting -= 1
            try:
                if self._waiting == 0 and self._session is not None:
                    self._ask("end shared", PERSON_WAITS)
            except psycopg.Error as error:
                self._lose(error)

    def does_person_wait(self) -> bool:
        with self._lock:
            try:
                return self._does_person_wait()
            except psycopg.Error as error:
                self._lose(error)
                return False

    def close(self) -> None:
        with self._lock:
            self._forget()

    def _does_person_wait(self) -> bool:
        # A lock of this session doesn't keep itself out.
        if self._waiting:
            return True
        if not self._ask("try", PERSON_WAITS):
            return True
        self._ask("end", PERSON_WAITS)
        return False

    def _ask(self, function: _Function, key: int) -> bool:
        if self._session is None:
            self._session = psycopg.connect(**connection.get_connection_params(), autocommit=True)
            if self._waiting:
                self._session.execute(_STATEMENTS["wait shared"], [NAMESPACE, PERSON_WAITS])
        row = self._session.execute(_STATEMENTS[function], [NAMESPACE, key]).fetchone()
        return bool(row and row[0])

    def _lose(self, error: psycopg.Error) -> None:
        logger.warning("model_queue_without_database", error=type(error).__name__)
        self._forget()

    def _forget(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None
        self._held.clear()


PLACES = ModelPlaces()
"""One for the process: its connections share it, and locks of one session don't exclude each other."""


class PersonClient:
    """Wraps a `ModelClient`: a call waits for a place, before all background calls."""

    def __init__(self, client: ModelClient, places: ModelPlaces = PLACES) -> None:
        self._client = client
        self._places = places

    @asynccontextmanager
    async def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    ) -> AsyncIterator[ReplyStream]:
        """Wait for a place and open a stream."""
        opened = self._client.stream(request, timeouts=timeouts)
        async with _place(self._places, is_person=True), opened as stream:
            yield stream


class BackgroundClient:
    """Wraps a `ModelClient`: a call waits for a place and makes way for persons, then begins again."""

    def __init__(self, client: ModelClient, places: ModelPlaces = PLACES) -> None:
        self._client = client
        self._places = places

    @asynccontextmanager
    async def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    ) -> AsyncIterator[ReplyStream]:
        """Wait for a place and open a stream: where it may have to make way, of a reply that is complete."""
        ways_made = 0
        while model_places() is not None and ways_made < MAX_WAYS_MADE:
            async with _place(self._places, is_person=False):
                read = await self._read(request, timeouts)
            if read is not None:
                yield read
                return
            ways_made += 1
            logger.info("background_call_made_way", times=ways_made)
        opened = self._client.stream(request, timeouts=timeouts)
        async with _place(self._places, is_person=False), opened as stream:
            yield stream

    async def _read(self, request: ModelRequest, timeouts: StreamTimeouts) -> "_ReadStream | None":
        """Read a reply to its end; None if it made way."""
        reading = asyncio.create_task(self._read_all(request, timeouts))
        try:
            while not reading.done():
                await asyncio.wait([reading], timeout=BACKGROUND_POLL_SECONDS)
                if not reading.done() and await asyncio.to_thread(self._places.does_person_wait):
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


@asynccontextmanager
async def _place(places: ModelPlaces, *, is_person: bool) -> AsyncIterator[None]:
    """Hold a place for the length of the block, where their number is limited."""
    number = model_places()
    if number is None:
        yield
        return
    place = await _wait(places, number, is_person=is_person)
    try:
        yield
    finally:
        await asyncio.shield(asyncio.to_thread(places.give_back, place))


async def _wait(places: ModelPlaces, number: int, *, is_person: bool) -> int:
    """Wait until there is a place, and take it."""
    place = await _take(places, number, is_person=is_person)
    if place is not None:
        return place
    if not is_person:
        return await _poll(places, number, is_person=False)
    await asyncio.to_thread(places.begin_waiting)
    try:
        return await _poll(places, number, is_person=True)
    finally:
        await asyncio.shield(asyncio.to_thread(places.end_waiting))


async def _poll(places: ModelPlaces, number: int, *, is_person: bool) -> int:
    while True:
        await asyncio.sleep(PERSON_POLL_SECONDS if is_person else BACKGROUND_POLL_SECONDS)
        place = await _take(places, number, is_person=is_person)
        if place is not None:
            return place


async def _take(places: ModelPlaces, number: int, *, is_person: bool) -> int | None:
    """Take a place. One that is taken while the caller is cancelled is given back."""
    taking = asyncio.ensure_future(asyncio.to_thread(places.take, number, is_person=is_person))
    try:
        return await asyncio.shield(taking)
    except asyncio.CancelledError:
        place = await taking
        if place is not None:
            places.give_back(place)
        raise
