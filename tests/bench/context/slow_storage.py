"""A storage with a delay on every access that counts its calls."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.files.base import File
from django.core.files.storage import InMemoryStorage

T = TypeVar("T")


class SlowStorage(InMemoryStorage):
    """Objects in memory; each access is counted and waits for `seconds`, initially none."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.accesses = 0

    def open(self, name: str, mode: str = "rb") -> "File[Any]":
        """Open an object slowly."""
        return self._after_a_while(lambda: super(SlowStorage, self).open(name, mode))

    def exists(self, name: str) -> bool:
        """Say slowly whether an object is there."""
        return self._after_a_while(lambda: super(SlowStorage, self).exists(name))

    def size(self, name: str) -> int:
        """Say slowly how big it is."""
        return self._after_a_while(lambda: super(SlowStorage, self).size(name))

    def _after_a_while(self, access: Callable[[], T]) -> T:
        self.accesses += 1
        time.sleep(self.seconds)
        return access()
