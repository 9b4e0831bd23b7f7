"""The errors of Redis, without loading its client where nobody uses it: that takes a sixth of a second.

What was never loaded can't be raised. Ask when an error is there, not before.
"""

import sys


def redis_errors() -> tuple[type[Exception], ...]:
    """Return what the Redis client raises; nothing where it isn't loaded."""
    client = sys.modules.get("redis.exceptions")
    return () if client is None else (client.RedisError,)
