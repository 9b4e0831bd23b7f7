"""The places at the model: as many calls at once as its server can answer, in all processes together.

A place is a lock of the database, held by a connection of this process, so a process that is killed gives its
places back. Who waits for a turn or a look holds another lock, which every process sees.

The locks belong to a database session, so they don't work through a pooler in transaction mode
(docs/operating/database.md).
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import psycopg
import structlog
from django.conf import settings
from django.db import connection

from coaching.model_client.servers import is_local_server
from sessions_app.lock_spaces import LockSpace
from sessions_app.queries import Query, run_query

NO_PLACE = 0

_SPACE = LockSpace.MODEL_PLACES.value
_Function = Literal["try", "end", "wait shared", "end shared"]
_STATEMENTS: Mapping[_Function, str] = {
    "try": "SELECT pg_try_advisory_lock(%s, %s)",
    "end": "SELECT pg_advisory_unlock(%s, %s)",
    "wait shared": "SELECT pg_advisory_lock_shared(%s, %s)",
    "end shared": "SELECT pg_advisory_unlock_shared(%s, %s)",
}
_GRANTED = """
FROM pg_locks
WHERE locktype = 'advisory' AND classid = %(space)s AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_NOW = f"""
SELECT count(*) FILTER (WHERE objid >= %(first)s),
    count(*) FILTER (WHERE objid = %(turn)s AND mode = 'ShareLock') {_GRANTED}
"""
_WAITING = f"SELECT EXISTS (SELECT {_GRANTED} AND objid < %(rank)s AND mode = 'ShareLock')"
"""A lock is read and not tried: while somebody tries it, it would be held."""

logger = structlog.get_logger(__name__)


class Rank(IntEnum):
    """What goes first; the number of the lock that shows that such a call waits. None shows it for a job."""

    TURN = 0
    LOOK = 1
    JOB = 2


FIRST_PLACE = 2


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
    numbers = {"first": FIRST_PLACE, "turn": Rank.TURN.value, "space": _SPACE}
    (taken, waiting), *_ = run_query(Query(_NOW, numbers))
    return PlacesNow(places=places, taken=taken, waiting=waiting)


class ModelPlaces:
    """The places of all processes, seen from this one. Its methods wait for the database.

    Without a database nobody is kept waiting: whoever asks gets `NO_PLACE`.
    """

    def __init__(self) -> None:
        self._session: psycopg.Connection | None = None
        self._held: set[int] = set()
        self._waiting: Counter[Rank] = Counter()
        self._lock = threading.Lock()

    def take(self, places: int, rank: Rank) -> int | None:
        """Take a place; None if there is none, or if a call waits that goes first."""
        with self._lock:
            try:
                if self._has_to_make_way(rank):
                    return None
                for place in range(FIRST_PLACE, FIRST_PLACE + places):
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

    def begin_waiting(self, rank: Rank) -> None:
        """Show all processes that such a call waits, until `end_waiting`. Nobody makes way for a job."""
        if rank == Rank.JOB:
            return
        with self._lock:
            try:
                if not self._waiting[rank]:
                    self._ask("wait shared", rank)
            except psycopg.Error as error:
                self._lose(error)
            self._waiting[rank] += 1

    def end_waiting(self, rank: Rank) -> None:
        if rank == Rank.JOB:
            return
        with self._lock:
            self._waiting[rank] -= 1
            try:
                if not self._waiting[rank] and self._session is not None:
                    self._ask("end shared", rank)
            except psycopg.Error as error:
                self._lose(error)

    def has_to_make_way(self, rank: Rank) -> bool:
        """Whether a call waits that goes before those of a rank."""
        with self._lock:
            try:
                return self._has_to_make_way(rank)
            except psycopg.Error as error:
                self._lose(error)
                return False

    def close(self) -> None:
        with self._lock:
            self._forget()

    def _has_to_make_way(self, rank: Rank) -> bool:
        before = [each for each in Rank if each < rank]
        if not before or any(self._waiting[each] for each in before):
            return bool(before)
        return self._is_true(_WAITING, {"space": _SPACE, "rank": int(rank)})

    def _ask(self, function: _Function, key: int) -> bool:
        return self._is_true(_STATEMENTS[function], [_SPACE, int(key)])

    def _is_true(self, statement: str, values: Sequence[int] | Mapping[str, int]) -> bool:
        if self._session is None:
            self._session = psycopg.connect(**connection.get_connection_params(), autocommit=True)
            for rank in +self._waiting:
                self._session.execute(_STATEMENTS["wait shared"], [_SPACE, int(rank)])
        row = self._session.execute(statement, values).fetchone()
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
