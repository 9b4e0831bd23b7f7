"""Per-user rate limits for costly requests, in memory. Turns have their own limit in the database."""

import math
import threading
import time
from collections import OrderedDict, deque

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
        self._made: OrderedDict[int, deque[float]] = OrderedDict()
        """By the last attempt, so that those who are forgotten next come first."""
        self._lock = threading.Lock()

    def count(self, user_id: int) -> None:
        """Count an attempt. Raises `TooOften` over the limit."""
        with self._lock:
            now = time.monotonic()  # under the lock, so that those who come later have later times
            made = self._recent(user_id, now)
            if len(made) >= self._attempts:
                raise TooOften(self._seconds - now + made[0])
            made.append(now)
            self._made[user_id] = made
            self._made.move_to_end(user_id)

    def has_room(self, user_id: int) -> bool:
        """Return whether another attempt would be allowed now."""
        with self._lock:
            return len(self._recent(user_id, time.monotonic())) < self._attempts

    def _recent(self, user_id: int, now: float) -> deque[float]:
        """Return the person's attempts that count; forget whoever has made none that does.

        Each attempt is forgotten once, so a call costs the same however many people there are.
        """
        while self._made and now - next(iter(self._made.values()))[-1] > self._seconds:
            self._made.popitem(last=False)
        made = self._made.get(user_id, deque())
        while made and now - made[0] > self._seconds:
            made.popleft()
        if not made:
            self._made.pop(user_id, None)
        return made
