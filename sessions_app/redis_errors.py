"""The errors of Redis, without importing its client where it isn't used: that takes a sixth of a second.

A client that was never imported raises nothing, so call this when an error has been raised.
"""

import sys


def redis_errors() -> tuple[type[Exception], ...]:
    """Return what the Redis client raises; nothing if it isn't loaded."""
    client = sys.modules.get("redis.exceptions")
    return () if client is None else (client.RedisError,)


def is_refusal(error: Exception) -> bool:
    """Return whether Redis is there and has refused a command."""
    client = sys.modules.get("redis.exceptions")
    return client is not None and isinstance(error, client.ResponseError)


def stores_nothing(error: Exception) -> bool:
    """Return whether Redis answers and stores nothing: it is full, a replica, or its disk or rights fail."""
    client = sys.modules.get("redis.exceptions")
    if client is None:
        return False
    known = isinstance(error, client.OutOfMemoryError | client.ReadOnlyError | client.NoPermissionError)
    return known or str(error).startswith(("MISCONF", "NOREPLICAS"))
