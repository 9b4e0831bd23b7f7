"""Password hashing that holds no database connection, and leaves a processor for everybody else.

A hash takes a third of a second on purpose, and many may be asked for at once by people who only guess.
"""

import threading

from django.contrib.auth import hashers

from sessions_app.database import give_back_idle_connections

AT_ONCE = 2

_places = threading.BoundedSemaphore(AT_ONCE)


class PBKDF2PasswordHasher(hashers.PBKDF2PasswordHasher):
    """Django's own, with its format and its number of iterations; at most `AT_ONCE` at a time."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash a password. The admin does so inside a transaction, which keeps its connection."""
        give_back_idle_connections()
        with _places:
            return super().encode(password, salt, iterations)
