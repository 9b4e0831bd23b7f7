"""The rate that a user is held to, as a value. It knows no Django: the settings are made with it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """At most `turns` turns in any `seconds` seconds, and `daily_tokens` in any 24 hours, for one user."""

    turns: int
    seconds: int
    daily_tokens: int | None = None
