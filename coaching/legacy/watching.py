"""Follows a running import: passes its progress to the page, and ends it once its person cancels it."""

import time

from django.utils.translation import gettext_noop

from coaching.models import Import
from sessions_app.errors import Refused

LOOK_SECONDS = 0.5
NOTED_SECONDS = 5.0
"""A restart may spend so much more processor time on an item that can't be read."""

CANCELLED = gettext_noop("This import was cancelled.")


class Cancelled(Refused):
    """The person has cancelled the import, or its row is gone."""

    def __init__(self) -> None:
        super().__init__(CANCELLED)


class RowWatch:
    """Watches over the import of a row; over a dry run there is nothing to watch."""

    def __init__(self, row: Import | None) -> None:
        self._row = row
        self._looked_at = 0.0
        self._percent = 0
        self._stuck_before = (row.stuck_at, row.stuck_seconds) if row else (0, 0.0)
        self._noted = self._stuck_before

    def look(self) -> None:
        """Raise `Cancelled` if the import was cancelled."""
        now = time.monotonic()
        if self._row is None or now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        flags = Import.of(self._row.user_id).filter(pk=self._row.pk).values_list("is_cancelling", flat=True)
        if flags.first() in (True, None):
            raise Cancelled

    def seconds_stuck_at(self, items: int) -> float:
        stuck_at, seconds = self._stuck_before
        return seconds if stuck_at == items else 0.0

    def is_stuck(self, items: int, seconds: float) -> None:
        noted_at, noted = self._noted
        if seconds >= NOTED_SECONDS and (items > noted_at or seconds >= noted + NOTED_SECONDS):
            self._noted = (items, seconds)
            self._update(stuck_at=items, stuck_seconds=seconds)

    def has_checked(self, percent: int) -> None:
        if percent > self._percent:
            self._percent = percent
            self._update(checked_percent=percent)

    def _update(self, **fields: float) -> None:
        if self._row is not None:
            Import.of(self._row.user_id).filter(pk=self._row.pk).update(**fields)
