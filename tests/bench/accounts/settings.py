"""Sage's own settings without limits on tries: a hundred of them are what is measured."""

from sage.settings import *  # noqa: F403

ACCOUNT_RATE_LIMITS = False
