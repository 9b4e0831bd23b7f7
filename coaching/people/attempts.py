"""Per-user rate limits for costly requests, in memory. Turns have their own limit in the database."""

import math
import threading
import time
from collections import deque

from django.utils.translation import ngettext

from sessions_app.errors import Refused


class TooOften(Refused):
    """Too many attempts; `wait_seconds` is the time until the next one is allowed."""

    def __init__(self, wait_seconds: float) -> None:
        self.wait_seconds = max(1, math.ceil(wait_seconds))
        if self.wait_seconds < 60:
            count = self.wait_seconds
            said = ngettext(
                "You’ve done that too often in a short time. Please try again in %(count)s second.",
                "You’ve done that too often in a short time. Please try again in %(count)s seconds.",
                count,
            )
        else:
            count = math.ceil(wait_seconds / 60)
            said = ngettext(
                "You’ve done that too often in a short time. Please try again in %(count)s minute.",
                "You’ve done that too often in a short time. Please try again in %(count)s minutes.",
                count,
            )
        super().__init__(said, count=count)


class AttemptLimit:
    """Allows each person `attempts` within any `seconds`. Thread-safe."""

    def __init__(self, *, attempts: int, seconds: float) -> None:
        self._attempts = attempts
        self._seconds = seconds
        self._made: dict[int, deque[float]] = {}
        self._lock = threading.Lock()

    def count(self, user_id: int) -> None:
        """Count an attempt. Raises `TooOften` over the limit."""
        now = time.monotonic()
        with self._lock:
            self._forget(now)
            made = self._made.setdefault(user_id, deque())
            if len(made) >= self._attempts:
                raise TooOften(self._seconds - now + made[0])
            made.append(now)

    def has_room(self, user_id: int) -> bool:
        """Return whether another attempt would be allowed now."""
        with self._lock:
            self._forget(time.monotonic())
            return len(self._made.get(user_id, ())) < self._attempts

    def _forget(self, now: float) -> None:
        for known in list(self._made):
            while self._made[known] and now - self._made[known][0] > self._seconds:
                self._made[known].popleft()
            if not self._made[known]:
                del self._made[known]
