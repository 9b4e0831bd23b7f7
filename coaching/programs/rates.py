"""How often programs may send requests: counted in the cache, which all web processes share with Redis."""

import time
from contextlib import suppress

from django.conf import settings
from django.core.cache import cache

from coaching.people.attempts import TooOften
from coaching.programs.callers import Caller


def count_request(caller: Caller) -> None:
    """Count a request of a program, and of all programs of its person. Raises `TooOften`.

    A person's programs together may send two and a half times as many as one of them. A refused request
    doesn't count. While Redis can't be reached, each process counts by itself.
    """
    rate = settings.SAGE_API_RATE
    _count(caller.key, most=rate.turns, seconds=rate.seconds)
    _count(f"person:{caller.user_id}", most=rate.turns * 5 // 2, seconds=rate.seconds)


def _count(key: str, *, most: int, seconds: int) -> None:
    """Count one under a key. The last `seconds` seconds are this period's count and a share of the last's."""
    now = time.time()
    period, into = divmod(now, seconds)
    this, last = (f"programs:{key}:{int(period) - back}" for back in (0, 1))
    cache.add(this, 0, timeout=2 * seconds)
    before = cache.get(last, 0)
    try:
        count = cache.incr(this)
    except ValueError:  # it was pushed out of the cache just now
        return
    if wait := seconds_until_room(count - 1, before, most=most, seconds=seconds, into=into):
        with suppress(ValueError):  # as above
            cache.decr(this)
        raise TooOften(wait)


def seconds_until_room(count: int, before: int, *, most: int, seconds: int, into: float) -> float:
    """Return the seconds until one more request is allowed, 0 if it is now.

    `count` were sent in this period, of which `into` seconds have passed, and `before` in the last one.
    """
    if count + 1 + before * (1 - into / seconds) <= most:
        return 0.0
    if count < most:  # enough of the last period's must be older
        wait = seconds * (1 - (most - count - 1) / before) - into
        return max(wait, 0.001)  # rounded, it may be none
    return seconds - into + seconds * (1 - (most - 1) / count)
