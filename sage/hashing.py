"""Password hashing that holds no connection and leaves a core free: guessers can request many."""

import threading

from django.contrib.auth import hashers

from sessions_app.database import give_back_idle_connections

AT_ONCE = 2

_places = threading.BoundedSemaphore(AT_ONCE)


class PBKDF2PasswordHasher(hashers.PBKDF2PasswordHasher):
    """Django's hasher with the same format and iterations; at most `AT_ONCE` at a time."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash a password. The admin does so inside a transaction and then keeps its connection."""
        give_back_idle_connections()
        with _places:
            return super().encode(password, salt, iterations)
