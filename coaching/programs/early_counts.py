"""Requests of each token in this process, counted before Django: one too many costs no query and no thread.

It is the same rate as in `rates`, which counts afterwards, for all processes. What is refused there for
another reason counts here: it has cost more than an answer.
"""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256

from django.conf import settings

from coaching.programs.rates import seconds_until_room

MAX_TOKENS = 10_000
"""Of those that hold. The least recently used go over it, and are counted anew."""


@dataclass(slots=True)
class _Count:
    """The requests of a token: in a period, and in the one before."""

    period: int = 0
    this: int = 0
    last: int = 0

    def move_to(self, period: int) -> None:
        if period != self.period:
            self.last = self.this if period == self.period + 1 else 0
            self.period, self.this = period, 0


class EarlyCounts:
    """The counts of one process. Thread-safe."""

    def __init__(self) -> None:
        self._counts: OrderedDict[bytes, _Count] = OrderedDict()
        self._lock = threading.Lock()

    def learn(self, authorization: str) -> None:
        """Begin to count the token of an `Authorization` header, which holds."""
        with self._lock:
            self._counts.setdefault(_key_of(authorization), _Count())
            if len(self._counts) > MAX_TOKENS:
                self._counts.popitem(last=False)

    def count(self, authorization: str) -> float:
        """Count a request; return the seconds until there is room for it, 0 if there is.

        Requests of tokens that aren't known to hold have room. A refused one doesn't count.
        """
        key, rate = _key_of(authorization), settings.SAGE_API_RATE
        period, into = divmod(time.time(), rate.seconds)
        with self._lock:
            if (count := self._counts.get(key)) is None:
                return 0.0
            self._counts.move_to_end(key)
            count.move_to(int(period))
            wait = seconds_until_room(
                count.this, count.last, most=rate.turns, seconds=rate.seconds, into=into
            )
            count.this += not wait
            return wait


early_counts = EarlyCounts()


def _key_of(authorization: str) -> bytes:
    return sha256(authorization.partition(" ")[2].encode()).digest()
