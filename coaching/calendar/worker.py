"""iCalendar text to plain events, in a process that may be killed at any moment.

Run by path with the first day and the first day after as arguments. It reads one calendar on standard input
and prints one JSON object: `{"name", "left_out", "events"}`, or `{"refused"}` with a reason code. It must
import neither Django nor our own modules. A broken event doesn't affect others: each series is parsed
separately, with limits on time and occurrences. Only lines that give time, text and place are parsed, and
single events of other years not at all.

Over 300 lines, because a script run by path can't import a second module of ours.
"""

import codecs
import hashlib
import json
import re
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import icalendar
import recurring_ical_events

MEMORY_BYTES = 512 * 1024 * 1024
CPU_SECONDS = 15
"""More than the parent waits, in case it died."""
SERIES_SECONDS = 1.0
MAX_OF_A_SERIES = 1_000
MAX_EVENTS = 5_000
MAX_TIMEZONES = 100
MAX_DEPTH = 20
LINE_CHARACTERS = 8_000
TEXT_CHARACTERS = 300
CLIPPED = timedelta(days=400)
"""Moments further than this from the requested days are moved closer."""

_FOLD = re.compile(rb"\n[ \t]")
_DAY = re.compile(r":(\d{8})")
_UNTIL = re.compile(r"UNTIL=(\d{8})")
# Control characters, bidirectional marks and invisible characters.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+")
_PROPERTIES = frozenset(
    (
        "UID", "DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID", "STATUS",
        "SEQUENCE", "SUMMARY", "LOCATION",
    )
)  # fmt: skip

# What the libraries raise for odd values. MemoryError: a series' memory is free again by then. OSError: a
# time zone named like a folder.
BROKEN = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, OSError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip


class Refused(Exception):
    """The whole calendar can't be read; the text is a reason code."""


class TooLong(BaseException):
    """A series took too long. A BaseException, so that no library catches it."""


@dataclass(slots=True)
class Entry:
    """A VEVENT: its relevant lines by property name."""

    lines: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, line: str) -> None:
        if name in _PROPERTIES:
            if name in ("SUMMARY", "LOCATION"):
                line = line[:LINE_CHARACTERS]
            self.lines.append(line)
            self.names.add(name)
            self.values[name] = line

    @property
    def uid(self) -> str:
        """The series' UID, or a hash of its lines if it has none."""
        given = self.values.get("UID", "").partition(":")[2].strip()
        return given or hashlib.sha256("\n".join(self.lines).encode("utf-8", "replace")).hexdigest()[:32]

    def can_fall_within(self, first: str, last: str) -> bool:
        """Return whether it may overlap two days, written as in the calendar: fast, never a false no."""
        is_far_reaching = "DURATION" in self.names and ":PT" not in self.values["DURATION"]
        if is_far_reaching or "RDATE" in self.names or "RANGE" in self.values.get("RECURRENCE-ID", ""):
            return True
        days = [found for name in ("DTSTART", "DTEND", "RECURRENCE-ID") if (found := self._day(name))]
        if not days:
            return True
        if "RRULE" not in self.names:
            return max(days) >= first and min(days) <= last
        until = _UNTIL.search(self.values["RRULE"])
        is_over = until is not None and until[1] < first and self._day("DTEND") in ("", self._day("DTSTART"))
        return min(days) <= last and not is_over

    def _day(self, name: str) -> str:
        found = _DAY.search(self.values.get(name, ""))
        return found[1] if found else ""


@dataclass(slots=True)
class Scanned:
    """A VCALENDAR: its name, its own time zone, the zones that it defines, its events."""

    name: str = ""
    zone: str = ""
    timezones: list[list[str]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


def decoded_lines(raw: bytes) -> list[str]:
    """Return the unfolded lines of a calendar in any encoding."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if raw.startswith(mark):
            raw = raw.decode(encoding, "replace").encode()
    raw = raw.removeprefix(codecs.BOM_UTF8).replace(b"\x00", b"")
    # Before decoding: old programs fold in the middle of a character.
    raw = _FOLD.sub(b"", raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    return [line for line in text.split("\n") if line.strip()]


def scan(lines: list[str]) -> list[Scanned]:
    """Split the lines into calendars. Raises `Refused` if it is not a calendar, or incomplete."""
    if not lines or lines[0].strip().upper() != "BEGIN:VCALENDAR":
        raise Refused("no_calendar")
    found: list[Scanned] = []
    inside: list[str] = []
    for line in lines:
        name = re.split("[:;]", line, maxsplit=1)[0].strip().upper()
        value = line.partition(":")[2].strip()
        if name == "BEGIN":
            _begin(found, inside, value.upper())
        if inside[:1] == ["VCALENDAR"]:
            _take(found[-1], inside, name, value, line)
        # Ignore an END of something unknown; one of an outer block closes the inner ones.
        if name == "END" and value.upper() in inside:
            while inside.pop() != value.upper():
                pass
    if inside:
        raise Refused("breaks_off")
    return found


def _begin(found: list[Scanned], inside: list[str], what: str) -> None:
    inside.append(what)
    if len(inside) > MAX_DEPTH:
        raise Refused("breaks_off")
    if inside == ["VCALENDAR"]:
        found.append(Scanned())
    elif inside == ["VCALENDAR", "VEVENT"]:
        found[-1].entries.append(Entry())
    elif inside == ["VCALENDAR", "VTIMEZONE"]:
        found[-1].timezones.append([])


def _take(calendar: Scanned, inside: list[str], name: str, value: str, line: str) -> None:
    if inside == ["VCALENDAR", "VEVENT"]:
        calendar.entries[-1].add(name, line)
    elif inside[1:2] == ["VTIMEZONE"]:
        calendar.timezones[-1].append(line)
    elif inside == ["VCALENDAR"] and name == "X-WR-TIMEZONE":
        calendar.zone = value
    elif inside == ["VCALENDAR"] and name in ("X-WR-CALNAME", "NAME"):
        calendar.name = value


def series_of(entries: list[Entry], first: str, last: str) -> Iterator[tuple[str, list[Entry]]]:
    """Group events with their changed occurrences by UID. Single events with a shared UID stay apart."""
    by_uid: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.can_fall_within(first, last):
            by_uid.setdefault(entry.uid, []).append(entry)
    for uid, group in by_uid.items():
        whole = [entry for entry in group if "RECURRENCE-ID" not in entry.names]
        starts = {entry.values.get("DTSTART", "") for entry in whole}
        versions = {entry.values.get("SEQUENCE", "") for entry in whole}
        if len(starts) > 1 and len(versions) == 1:
            for number, entry in enumerate(whole):
                yield f"{uid[:200]}#{number}", [entry]
        else:
            yield uid, group


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


def main() -> None:
    """Read one calendar and print the result."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    signal.signal(signal.SIGALRM, _on_alarm)
    first, last = (date.fromisoformat(argument) for argument in sys.argv[1:3])
    try:
        answer = read(sys.stdin.buffer.read(), first, last)
    except Refused as refusal:
        answer = {"refused": str(refusal)}
    except MemoryError:
        answer = {"refused": "too_big"}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
