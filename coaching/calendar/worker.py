"""iCalendar text to plain events: the module of the processes of `reading`.

It reads one calendar for some days: a request's head names the first and the first after them. The answer
is a JSON object: `{"name", "left_out", "events"}`, or `{"refused"}` with a reason code. It must not import
Django. A broken event doesn't affect others: each series is parsed separately, with limits on time and
occurrences. Only lines that give time, text and place are parsed; single events of other years not at all.
"""

import json
import re
import signal
import sys
import zoneinfo
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import icalendar
import recurring_ical_events

from coaching.calendar.lines import Entry, Refused, Scanned, decoded_lines, scan, series_of
from coaching.sandbox.preloading import load_codecs

SERIES_SECONDS = 1.0
MAX_OF_A_SERIES = 1_000
MAX_EVENTS = 5_000
MAX_TIMEZONES = 100
TEXT_CHARACTERS = 300
CLIPPED = timedelta(days=400)
"""Moments further than this from the requested days are moved closer."""

# Control characters, bidirectional marks and invisible characters.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+")

# What the libraries raise for odd values. MemoryError: a series' memory is free again by then. OSError: a
# time zone named like a folder.
BROKEN = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, OSError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip


class TooLong(BaseException):
    """A series took too long. A BaseException, so that no library catches it."""


@contextmanager
def limited() -> Iterator[None]:
    """Run a block for at most `SERIES_SECONDS`, then raise `TooLong` in it."""
    signal.setitimer(signal.ITIMER_REAL, SERIES_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _on_alarm(*_: object) -> None:
    raise TooLong


def learn_timezones(calendar: Scanned) -> None:
    """Register the calendar's own time zones; a broken one stays unknown."""
    for lines in calendar.timezones[:MAX_TIMEZONES]:
        try:
            with limited():
                icalendar.Calendar.from_ical("\r\n".join(["BEGIN:VCALENDAR", *lines, "END:VCALENDAR"]))
        except (*BROKEN, TooLong):
            continue
    try:
        # An unknown default zone would break all events.
        calendar.zone = getattr(icalendar.timezone.tzp.timezone(calendar.zone), "key", "")
    except BROKEN:
        calendar.zone = ""


def read_series(
    calendar: Scanned, uid: str, group: list[Entry], first: date, last: date
) -> list[dict[str, Any]]:
    """Return each occurrence of a series between two days. Raises one of `BROKEN`, or `TooLong`."""
    zone = [f"X-WR-TIMEZONE:{calendar.zone}"] if calendar.zone else []
    lines = ["BEGIN:VCALENDAR", *zone]
    for entry in group:
        lines += ["BEGIN:VEVENT", *entry.lines, "END:VEVENT"]
    with limited():
        parsed = icalendar.Calendar.from_ical("\r\n".join([*lines, "END:VCALENDAR"]))
        times = recurring_ical_events.of(parsed).between(first, last)
        if len(times) > MAX_OF_A_SERIES:
            raise ValueError("too often")
        return [
            event_of(time, uid, first, last)
            for time in times
            if str(time.get("STATUS", "")).strip().upper() != "CANCELLED"
        ]


def event_of(component: Any, uid: str, first: date, last: date) -> dict[str, Any]:
    """Return one occurrence as plain values: days, or moments in UTC."""
    starts, ends = component["DTSTART"].dt, component["DTEND"].dt
    event = {
        "uid": on_one_line(uid, 255),
        "title": on_one_line(str(component.get("SUMMARY", ""))),
        "location": on_one_line(str(component.get("LOCATION", ""))),
    }
    earliest, latest = (
        datetime.combine(first, time(), UTC) - CLIPPED,
        datetime.combine(last, time(), UTC) + CLIPPED,
    )
    if not isinstance(starts, datetime):
        ends = ends.date() if isinstance(ends, datetime) else ends
        starts, ends = max(starts, earliest.date()), min(ends, latest.date())
        ends = max(ends, starts + timedelta(days=1))
        return event | {"starts_on": starts.isoformat(), "ends_on": ends.isoformat()}
    if not isinstance(ends, datetime):
        ends = datetime.combine(ends, time(), starts.tzinfo)
    elif (ends.tzinfo is None) != (starts.tzinfo is None):
        ends = ends.replace(tzinfo=starts.tzinfo)
    is_floating = starts.tzinfo is None
    zone = str(getattr(starts.tzinfo, "key", "") or starts.tzname() or "")
    starts, ends = (_moment(moment, earliest, latest) for moment in (starts, ends))
    return event | {
        "timezone": on_one_line(zone, 64),
        "is_floating": is_floating,
        "starts_at": starts.isoformat(),
        "ends_at": max(starts, ends).isoformat(),
    }


def _moment(moment: datetime, earliest: datetime, latest: datetime) -> datetime:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if moment.year < earliest.year:
        return earliest
    return min(max(moment.astimezone(UTC), earliest), latest) if moment.year <= latest.year else latest


def on_one_line(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """Return text as one short line that can be stored."""
    return " ".join(_UNSEEN.sub(" ", text).split())[:limit].strip()


def read(raw: bytes, first: date, last: date) -> dict[str, Any]:
    """Read a calendar. Raises `Refused`."""
    calendars = scan(decoded_lines(raw))
    margin = timedelta(days=2)
    earliest, latest = f"{first - margin:%Y%m%d}", f"{last + margin:%Y%m%d}"
    events: dict[tuple[Any, ...], dict[str, Any]] = {}
    left_out = 0
    for calendar in calendars:
        learn_timezones(calendar)
        for uid, group in series_of(calendar.entries, earliest, latest):
            try:
                times = read_series(calendar, uid, group, first, last)
            except (*BROKEN, TooLong):
                left_out += 1
                continue
            for event in times:
                events.setdefault((event["uid"], event.get("starts_at"), event.get("starts_on")), event)
            if len(events) > MAX_EVENTS:
                raise Refused("too_many_events")
    name = next((calendar.name for calendar in calendars if calendar.name), "")
    name = re.sub(r"\\([,;\\])", r"\1", name)
    return {"name": on_one_line(name, 100), "left_out": left_out, "events": list(events.values())}


def answer(head: bytes, raw: bytes) -> bytes:
    signal.signal(signal.SIGALRM, _on_alarm)
    first, last = (date.fromisoformat(day) for day in head.decode().split())
    try:
        found = read(raw, first, last)
    except Refused as refusal:
        found = {"refused": str(refusal)}
    except MemoryError:
        found = {"refused": "too_big"}
    return json.dumps(found).encode()


_ZONES: list[zoneinfo.ZoneInfo] = []
"""All of them, kept here because the library itself keeps only a few."""
_SAMPLE = """BEGIN:VCALENDAR
BEGIN:VTIMEZONE
TZID:Office
BEGIN:STANDARD
DTSTART:19701025T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:1
DTSTART;TZID=Office:20200101T090000
DURATION:PT1H
RRULE:FREQ=WEEKLY;COUNT=3
EXDATE;TZID=Nowhere:20200108T090000
END:VEVENT
END:VCALENDAR"""


def load_everything() -> None:
    """Load what the libraries load when they are first used: a process that reads can open no file."""
    load_codecs()
    _ZONES.extend(map(zoneinfo.ZoneInfo, zoneinfo.available_timezones()))
    answer(b"2020-01-01 2020-02-01", _SAMPLE.encode())
    # Any other zone is unknown, and not a file that can't be opened.
    zoneinfo.reset_tzpath(to=())
    loaded = [name for name in sys.modules if name.partition(".")[0] == "tzdata"]
    sys.modules.update(dict.fromkeys(["tzdata", *loaded]))  # type: ignore[arg-type]  # None: not to be imported


load_everything()
