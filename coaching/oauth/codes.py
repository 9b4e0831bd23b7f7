"""Codes of consents: each is taken once, and only while its person has the password of the consent.

allauth keeps its codes in the cache, looks them up before it deletes them, and knows nothing of passwords.
"""

from hashlib import sha256

from django.contrib.auth.models import User
from django.core.cache import cache

CODE_SECONDS = 120
"""Longer than a code holds."""


class NotTakeable(Exception):
    """A code that Sage didn't make, or that was taken before."""


def keep(code: str, *, user: User) -> None:
    """Store of a new code which password its person has."""
    cache.set(f"{_key(code)}:password", _fingerprint(user), timeout=CODE_SECONDS)


def take(code: str) -> str:
    """Take a code, which no other request gets then; return what `holds_for` compares.

    Raises `NotTakeable`.
    """
    fingerprint: str | None = cache.get(f"{_key(code)}:password")
    if fingerprint is None or not cache.add(f"{_key(code)}:taken", True, timeout=CODE_SECONDS):
        raise NotTakeable
    return fingerprint


def holds_for(user: User, fingerprint: str) -> bool:
    """Return whether a person still has the password of their consent."""
    return user.is_active and _fingerprint(user) == fingerprint


def _key(code: str) -> str:
    return f"oauth:code:{sha256(code.encode()).hexdigest()}"


def _fingerprint(user: User) -> str:
    return user.get_session_auth_hash()
