"""Parses calendars in processes that are killed when they take too long; results are plain and bounded.

No calendar is parsed in this process. An unreadable one is refused with a message for the user.
"""

import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.utils.translation import gettext_noop

from coaching.sandbox.worker_process import worker_environment
from sessions_app.database import give_back_connections
from sessions_app.errors import Refused

MAX_BYTES = 5 * 1024 * 1024
READ_SECONDS = 10.0
WAIT_SECONDS = 15.0
WORKER_COUNT = 2
PAST_DAYS = 31
AHEAD_DAYS = 100

_WORKER = Path(__file__).with_name("worker.py")
_TIME_STAMPS = re.compile(rb"^(?:DTSTAMP|LAST-MODIFIED|CREATED)[:;].*\n?", re.MULTILINE | re.IGNORECASE)
_SENTENCES = {
    "no_calendar": gettext_noop("That isn’t a calendar: .ics files start with BEGIN:VCALENDAR."),
    "breaks_off": gettext_noop("The calendar is incomplete."),
    "too_many_events": gettext_noop("The calendar has more than 5,000 events in the months around today."),
    "too_big": gettext_noop("The calendar needs too much memory to read."),
}
# Stored with a calendar and translated when shown, so without values.
TOO_LARGE = gettext_noop("The calendar is larger than 5 MB, which is the limit.")
TOO_LONG = gettext_noop("The calendar takes too long to read.")
UNREADABLE = gettext_noop("The calendar couldn’t be read.")

logger = structlog.get_logger(__name__)


class Overloaded(Refused):
    """Too many calendars are being read; this one may be fine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEvent:
    """One occurrence of an event, with moments or with days, as in `CalendarEvent`."""

    uid: str
    title: str
    location: str
    timezone: str = ""
    is_floating: bool = False
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    starts_on: date | None = None
    ends_on: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCalendar:
    """A calendar's events around `day`. `left_out` counts the series that couldn't be parsed."""

    name: str
    left_out: int
    events: Sequence[ReadEvent]
    day: date


_places = threading.BoundedSemaphore(WORKER_COUNT)


def read_calendar(raw: bytes, *, day: date, seconds: float = READ_SECONDS) -> ReadCalendar:
    """Read a calendar's events around a day. Blocks. Raises `Refused`, or `Overloaded` without a slot."""
    if len(raw) > MAX_BYTES:
        raise Refused(TOO_LARGE)
    give_back_connections()
    if not _places.acquire(timeout=WAIT_SECONDS):
        raise Overloaded(
            gettext_noop("Sage is reading many calendars right now. Please try again in a minute.")
        )
    try:
        answer = _ask_worker(raw, day, seconds)
    finally:
        _places.release()
    if "refused" in answer:
        raise Refused(_SENTENCES[answer["refused"]])
    events = tuple(_event(values) for values in answer["events"])
    return ReadCalendar(name=answer["name"], left_out=answer["left_out"], events=events, day=day)


def digest_of(raw: bytes) -> str:
    """Hash a calendar without time stamps: some servers set them to the time of the request."""
    return hashlib.sha256(_TIME_STAMPS.sub(b"", raw)).hexdigest()


def _ask_worker(raw: bytes, day: date, seconds: float) -> dict[str, Any]:
    first, last = day - timedelta(days=PAST_DAYS), day + timedelta(days=AHEAD_DAYS)
    try:
        # A separate session: Ctrl-C in the terminal is for us only.
        done = subprocess.run(
            [sys.executable, "-I", str(_WORKER), first.isoformat(), last.isoformat()],
            input=raw,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=True,
            env=worker_environment(),
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        logger.warning("calendar_took_too_long", bytes=len(raw))
        raise Refused(TOO_LONG) from None
    except subprocess.CalledProcessError as error:
        logger.warning("calendar_reader_died", bytes=len(raw), returncode=error.returncode)
        raise Refused(UNREADABLE) from None
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _event(values: dict[str, Any]) -> ReadEvent:
    for name in ("starts_at", "ends_at"):
        if name in values:
            values[name] = datetime.fromisoformat(values[name])
    for name in ("starts_on", "ends_on"):
        if name in values:
            values[name] = date.fromisoformat(values[name])
    return ReadEvent(**values)
