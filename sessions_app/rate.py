"""A user's rate limit as a value. It imports no Django, because the settings use it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """At most `turns` turns in any `seconds` seconds, and `daily_tokens` in any 24 hours."""

    turns: int
    seconds: int
    daily_tokens: int | None = None
