"""Parses calendars in processes without rights, killed when they take too long; results are bounded.

No calendar is parsed in this process. An unreadable one is refused with a message for the user.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import structlog
from django.utils.translation import gettext_noop

from coaching.sandbox import answers
from coaching.sandbox.errors import AllBusy, NotAnswered, UntrueAnswer
from coaching.sandbox.host import ProcessHost
from coaching.sandbox.limits import MEGABYTE, Limits
from sessions_app.errors import Refused

MAX_BYTES = 5 * MEGABYTE
MODULE = "coaching.calendar.worker"
LIMITS = Limits(memory_bytes=512 * MEGABYTE, cpu_seconds=15, seconds=10.0, answer_bytes=16 * MEGABYTE)
WAIT_SECONDS = 15.0
WORKER_COUNT = 2
PAST_DAYS = 31
AHEAD_DAYS = 100
MAX_EVENTS = 5_000
MAX_TEXT, MAX_UID, MAX_NAME, MAX_ZONE = 300, 255, 100, 64
"""Characters, as the database stores them and the reader cuts them."""

_TIMES = {"starts_at", "ends_at", "starts_on", "ends_on"}
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


_host = ProcessHost(MODULE, LIMITS, slots=WORKER_COUNT)


def read_calendar(raw: bytes, *, day: date, seconds: float = LIMITS.seconds) -> ReadCalendar:
    """Read a calendar's events around a day. Blocks. Raises `Refused`, or `Overloaded` without a slot."""
    if len(raw) > MAX_BYTES:
        raise Refused(TOO_LARGE)
    try:
        return _calendar_of(answers.json_object(_ask(raw, day, seconds)), day)
    except UntrueAnswer:
        logger.warning("calendar_reader_untrue", bytes=len(raw))
        raise Refused(UNREADABLE) from None


def digest_of(raw: bytes) -> str:
    """Hash a calendar without time stamps: some servers set them to the time of the request."""
    return hashlib.sha256(_TIME_STAMPS.sub(b"", raw)).hexdigest()


def _ask(raw: bytes, day: date, seconds: float) -> bytes:
    days = (day - timedelta(days=PAST_DAYS), day + timedelta(days=AHEAD_DAYS))
    head = " ".join(one.isoformat() for one in days).encode()
    try:
        return _host.ask(head, [raw], len(raw), seconds=seconds, wait_seconds=WAIT_SECONDS)
    except AllBusy:
        raise Overloaded(
            gettext_noop("Sage is reading many calendars right now. Please try again in a minute.")
        ) from None
    except NotAnswered as error:
        logger.warning("calendar_not_read", bytes=len(raw), is_too_costly=error.is_too_costly)
        raise Refused(TOO_LONG if error.is_too_costly else UNREADABLE) from None


def _calendar_of(said: Mapping[str, Any], day: date) -> ReadCalendar:
    """Return what the reader found. Raises `Refused`, or `UntrueAnswer`."""
    if "refused" in said:
        raise Refused(_SENTENCES.get(answers.text(said["refused"], most=MAX_TEXT), UNREADABLE))
    return ReadCalendar(
        name=answers.text(said.get("name"), most=MAX_NAME),
        left_out=answers.number(said.get("left_out"), most=MAX_BYTES),
        events=tuple(_events(said.get("events"))),
        day=day,
    )


def _events(found: object) -> Iterator[ReadEvent]:
    """Yield the events; the database takes none twice."""
    seen: set[tuple[str, datetime | None, date | None]] = set()
    for values in answers.list_of(found, most=MAX_EVENTS):
        event = _event(values)
        key = (event.uid, event.starts_at, event.starts_on)
        if key in seen:
            raise UntrueAnswer
        seen.add(key)
        yield event


def _event(values: object) -> ReadEvent:
    if not isinstance(values, dict):
        raise UntrueAnswer
    event = ReadEvent(
        uid=answers.text(values.get("uid"), most=MAX_UID),
        title=answers.text(values.get("title"), most=MAX_TEXT),
        location=answers.text(values.get("location"), most=MAX_TEXT),
        timezone=answers.text(values.get("timezone", ""), most=MAX_ZONE),
        is_floating=values.get("is_floating") is True,
        starts_at=_moment(values.get("starts_at")),
        ends_at=_moment(values.get("ends_at")),
        starts_on=_day(values.get("starts_on")),
        ends_on=_day(values.get("ends_on")),
    )
    has_moments = bool(event.starts_at and event.ends_at and event.starts_at <= event.ends_at)
    has_days = bool(event.starts_on and event.ends_on and event.starts_on < event.ends_on)
    has_days = has_days and not event.is_floating
    if has_moments == has_days or len(values.keys() & _TIMES) != 2:
        raise UntrueAnswer
    return event


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(answers.text(value, most=MAX_TEXT))
    except ValueError:
        raise UntrueAnswer from None
    if moment.tzinfo is None:
        raise UntrueAnswer
    return moment


def _day(value: object) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(answers.text(value, most=MAX_TEXT))
    except ValueError:
        raise UntrueAnswer from None
