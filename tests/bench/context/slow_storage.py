"""A storage on which everything takes its time, and which counts what it is asked for."""

import time
from collections.abc import Callable
from typing import Any

from django.core.files.base import File
from django.core.files.storage import InMemoryStorage


class SlowStorage(InMemoryStorage):
    """Objects in memory; each access waits for `seconds` and is counted in `accesses`."""

    def __init__(self, *, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.accesses = 0

    def put(self, key: str, data: bytes) -> None:
        """Put an object there at once, for a seed."""
        with super()._open(key, "wb") as file:
            file.write(data)

    def _open(self, name: str, mode: str = "rb") -> "File[Any]":
        return self._after_a_while(lambda: super(SlowStorage, self)._open(name, mode))

    def exists(self, name: str) -> bool:
        """Say slowly whether an object is there."""
        return self._after_a_while(lambda: super(SlowStorage, self).exists(name))

    def size(self, name: str) -> int:
        """Say slowly how big it is."""
        return self._after_a_while(lambda: super(SlowStorage, self).size(name))

    def _after_a_while(self, access: Callable[[], Any]) -> Any:
        self.accesses += 1
        time.sleep(self.seconds)
        return access()
