"""Requests of each token in this process, counted before Django: one too many costs no query and no thread.

It is the same rate as in `rates`, which counts afterwards, for all processes. What is refused there for
another reason counts here: it has cost more than an answer. An address may send as many with tokens that
don't hold; then only its tokens that are known to hold have room.
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
MAX_ADDRESSES = 10_000
"""That sent a token that doesn't hold: the same."""


@dataclass(slots=True)
class _Count:
    """The requests of a token or an address: in a period, and in the one before."""

    period: int = 0
    this: int = 0
    last: int = 0

    def move_on(self) -> float:
        """Move to the present period; return how many of its seconds have passed."""
        period, into = divmod(time.time(), settings.SAGE_API_RATE.seconds)
        if period != self.period:
            self.last = self.this if period == self.period + 1 else 0
            self.period, self.this = int(period), 0
        return into

    def wait(self) -> float:
        """Return the seconds until there is room for another request, 0 if there is."""
        rate, into = settings.SAGE_API_RATE, self.move_on()
        return seconds_until_room(self.this, self.last, most=rate.turns, seconds=rate.seconds, into=into)


class EarlyCounts:
    """The counts of one process. Thread-safe."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[bytes, _Count] = OrderedDict()
        self._addresses: OrderedDict[str, _Count] = OrderedDict()
        self._lock = threading.Lock()

    def learn(self, authorization: str) -> None:
        """Begin to count the token of an `Authorization` header, which holds."""
        with self._lock:
            self._tokens.setdefault(_key_of(authorization), _Count())
            if len(self._tokens) > MAX_TOKENS:
                self._tokens.popitem(last=False)

    def count_unknown(self, address: str) -> None:
        """Count a request by its address, whose token doesn't hold."""
        with self._lock:
            count = self._addresses.setdefault(address, _Count())
            self._addresses.move_to_end(address)
            count.move_on()
            count.this += 1
            if len(self._addresses) > MAX_ADDRESSES:
                self._addresses.popitem(last=False)

    def count(self, authorization: str, address: str) -> float:
        """Count a request; return the seconds until there is room for it, 0 if there is.

        One whose token isn't known to hold is counted by `count_unknown`. A refused one doesn't count.
        """
        key = _key_of(authorization)
        with self._lock:
            if count := self._tokens.get(key):
                self._tokens.move_to_end(key)
                wait = count.wait()
                count.this += not wait
                return wait
            sent = self._addresses.get(address) if authorization else None
            return sent.wait() if sent else 0.0


early_counts = EarlyCounts()


def _key_of(authorization: str) -> bytes:
    return sha256(authorization.partition(" ")[2].encode()).digest()
