"""Sage's settings without sign-in rate limits, which the measurement would exceed."""

from sage.settings import *  # noqa: F403

ACCOUNT_RATE_LIMITS = False
