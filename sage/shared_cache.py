"""The cache in Redis, or while Redis is away one in this process: nobody's sign-in may end with it.

Meanwhile each process counts attempts by itself and knows only the codes that were used there. So it is
with a Redis that answers and stores nothing: what it reads would say that nobody has tried. Redis is asked
again a few seconds later, because each try may take as long as its timeout. A command that Redis refuses is
done in this process, and the next one is Redis's again.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

import structlog
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

from sessions_app.redis_errors import is_refusal, redis_errors, stores_nothing

PAUSE_SECONDS = 5.0
"""After a failure Redis isn't asked for so long."""
MAX_ENTRIES = 100_000
"""The limits of sign-in are counted in it: a crowd must not push them out."""

_STORING = frozenset({"add", "set", "set_many"})
"""The commands that a Redis which stores nothing refuses; to delete and to expire are among those it does."""

logger = structlog.get_logger(__name__)


class Absence:
    """Whether Redis is away, as this process knows it. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked_again_at = 0.0
        self._is_away = False
        self._stores_nothing = False

    def is_in_pause(self) -> bool:
        return time.monotonic() < self._asked_again_at

    def is_noted_for(self, command: str) -> bool:
        """Return whether not to ask Redis: what it didn't store is here, until it stores something again."""
        return self.is_in_pause() or (self._stores_nothing and command not in _STORING)

    def note(self, error: Exception | None) -> None:
        """Note how a request to Redis ended; what changed is logged once."""
        with self._lock:
            was_away, self._is_away = self._is_away, error is not None
            self._stores_nothing = error is not None and stores_nothing(error)
            self._asked_again_at = time.monotonic() + PAUSE_SECONDS if error else 0.0
        if error and not was_away:
            logger.warning("cache_without_redis", error=type(error).__name__)
        elif was_away and not error:
            _own.clear()  # Redis counts again: what was kept here meanwhile must not return later
            logger.info("cache_with_redis_again")


absence = Absence()
_own = LocMemCache("without redis", {"OPTIONS": {"MAX_ENTRIES": MAX_ENTRIES}})


def _errors() -> tuple[type[Exception], ...]:
    return (*redis_errors(), OSError)


def _redis_or_own(name: str) -> Callable[..., Any]:
    """Return a client's method that asks Redis, and this process while Redis is away."""
    ask_redis, ask_own = getattr(RedisCacheClient, name), getattr(_own, name)

    def ask(client: RedisCacheClient, *given: Any) -> Any:
        if absence.is_noted_for(name):
            return ask_own(*given)
        try:
            answer = ask_redis(client, *given)
        except _errors() as error:
            if is_refusal(error) and not stores_nothing(error):
                logger.warning("cache_refused", command=name, error=type(error).__name__)
            else:
                absence.note(error)
            return ask_own(*given)
        absence.note(None)
        return answer

    return ask


class SharedCacheClient(RedisCacheClient):
    """Django's client, each of whose methods also works without Redis."""

    add = _redis_or_own("add")
    get = _redis_or_own("get")
    set = _redis_or_own("set")
    touch = _redis_or_own("touch")
    delete = _redis_or_own("delete")
    get_many = _redis_or_own("get_many")
    has_key = _redis_or_own("has_key")
    incr = _redis_or_own("incr")
    set_many = _redis_or_own("set_many")
    delete_many = _redis_or_own("delete_many")
    clear = _redis_or_own("clear")


class SharedCache(RedisCache):
    """Django's cache in Redis, with a client that works without it."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = SharedCacheClient
        self._redis = RedisCacheClient([server], **params.get("OPTIONS", {}))

    def ask_redis(self, key: str) -> bool:
        """Write a value and return whether it can be read back. Raises what the Redis client raises."""
        self._redis.set(self.make_key(key), "1", 10)
        return bool(self._redis.get(self.make_key(key), None) == "1")
