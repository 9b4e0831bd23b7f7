"""The lines of a calendar, by event: what is cheap to find before anything is parsed."""

import codecs
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_DEPTH = 20
LINE_CHARACTERS = 8_000

_FOLD = re.compile(rb"\n[ \t]")
_DAY = re.compile(r":(\d{8})")
_UNTIL = re.compile(r"UNTIL=(\d{8})")
_PROPERTIES = frozenset(
    (
        "UID", "DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID", "STATUS",
        "SEQUENCE", "SUMMARY", "LOCATION",
    )
)  # fmt: skip


class Refused(Exception):
    """The whole calendar can't be read; the text is a reason code."""


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
