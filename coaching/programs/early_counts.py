"""Requests of each token in this process, counted before Django: one too many costs no query and no thread.

It is the same rate as in `rates`, which counts afterwards, for all processes. What is refused there for
another reason counts here: it has cost more than an answer. An address may send as many with tokens that
don't hold; then only its tokens that are known to hold have room.

Most refusals are held back for a moment, so that a program that waits for each answer before it sends the
next request can't keep the process busy with them.
"""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256

import structlog
from django.conf import settings

from coaching.programs.rates import seconds_until_room

logger = structlog.get_logger(__name__)

MAX_TOKENS = 10_000
"""Of those that hold. The least recently used go over it, and are counted anew."""
MAX_ADDRESSES = 10_000
"""That sent a token that doesn't hold: the same."""
REFUSED_AT_ONCE = 10
HELD_SECONDS = 1.0
"""Refusals of a token or an address in a second: the first `REFUSED_AT_ONCE` are sent at once, those after
them are held for `HELD_SECONDS` (`sage.held_refusals` limits how many).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTooMany:
    """A request over the rate: the seconds until there is room for it, and how its refusal is sent.

    It is sent after `delay` seconds. `by` stands for the token or the address.
    """

    wait: float
    delay: float
    by: bytes


@dataclass(slots=True)
class _Count:
    """The requests of a token or an address: in a period, in the one before, and those refused."""

    name: str
    period: int = 0
    this: int = 0
    last: int = 0
    refused: int = 0
    second: int = 0
    refused_in_second: int = 0

    def move_on(self) -> float:
        """Move to the present period; return how many of its seconds have passed.

        The first request of a later period logs how many were refused.
        """
        period, into = divmod(time.time(), settings.SAGE_API_RATE.seconds)
        if period != self.period:
            if self.refused:
                logger.info("program_refused_early", program=self.name, count=self.refused)
            self.last = self.this if period == self.period + 1 else 0
            self.period, self.this, self.refused = int(period), 0, 0
        return into

    def refuse(self, by: bytes) -> OneTooMany | None:
        """Return the refusal of another request, None if there is room for it."""
        rate, into = settings.SAGE_API_RATE, self.move_on()
        wait = seconds_until_room(self.this, self.last, most=rate.turns, seconds=rate.seconds, into=into)
        if not wait:
            return None
        self._count_refused()
        is_held = self.refused_in_second > REFUSED_AT_ONCE
        return OneTooMany(wait=wait, delay=HELD_SECONDS if is_held else 0.0, by=by)

    def _count_refused(self) -> None:
        second = int(time.time())
        if second != self.second:
            self.second, self.refused_in_second = second, 0
        self.refused += 1
        self.refused_in_second += 1


class EarlyCounts:
    """The counts of one process. Thread-safe."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[bytes, _Count] = OrderedDict()
        self._addresses: OrderedDict[str, _Count] = OrderedDict()
        self._lock = threading.Lock()

    def learn(self, authorization: str, name: str) -> None:
        """Begin to count the token of an `Authorization` header, which holds. The log has its `name`."""
        with self._lock:
            self._tokens.setdefault(_key_of(authorization), _Count(name))
            if len(self._tokens) > MAX_TOKENS:
                self._tokens.popitem(last=False)

    def count_unknown(self, address: str) -> None:
        """Count a request by its address, whose token doesn't hold."""
        with self._lock:
            count = self._addresses.setdefault(address, _Count("unknown"))
            self._addresses.move_to_end(address)
            count.move_on()
            count.this += 1
            if len(self._addresses) > MAX_ADDRESSES:
                self._addresses.popitem(last=False)

    def count(self, authorization: str, address: str) -> OneTooMany | None:
        """Count a request; return its refusal if it is one too many.

        One whose token isn't known to hold is counted by `count_unknown`. A refused one doesn't count.
        """
        key = _key_of(authorization)
        with self._lock:
            if count := self._tokens.get(key):
                self._tokens.move_to_end(key)
                refusal = count.refuse(key)
                count.this += not refusal
                return refusal
            sent = self._addresses.get(address) if authorization else None
            return sent.refuse(address.encode()) if sent else None


early_counts = EarlyCounts()


def _key_of(authorization: str) -> bytes:
    return sha256(authorization.partition(" ")[2].encode()).digest()
