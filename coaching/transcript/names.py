"""The names of files, folders and arcs on pages. No I/O."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from coaching.clock.days import calendar_day
from coaching.models import UserFile
from sessions_app.models import SessionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFile:
    """A file that a turn wrote."""

    path: str
    folder: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcWords:
    """Texts about an arc: its name, what it leaves behind, its end, and an invitation."""

    name: str
    leaves: str
    done: str
    invitation: str


ARC_WORDS: Mapping[str, ArcWords] = {
    SessionKind.OPEN_DAY: ArcWords(
        name="Opening the day",
        leaves="a plan for the day: one intention and your priorities",
        done="The day is open.",
        invitation="Set one intention and your priorities. Two minutes.",
    ),
    SessionKind.CLOSE_DAY: ArcWords(
        name="Closing the day",
        leaves="a log of the day: your energy, your mood and the parts of life it touched",
        done="The day is closed.",
        invitation="What you want to remember of today, in a few words.",
    ),
    SessionKind.WEEKLY_CHECKIN: ArcWords(
        name="Weekly check-in",
        leaves="the week in a few themes, and how each part of life feels",
        done="The check-in is done.",
        invitation="How the week was, and how each part of life feels.",
    ),
    SessionKind.LIFE_MAPPING: ArcWords(
        name="Mapping your life",
        leaves="a page for each of eight parts of life, an overview, and a plan",
        done="Your map is ready.",
        invitation="Eight parts of your life, one at a time, then a plan.",
    ),
}

FOLDER_NAMES = {
    "": "Other files",
    "captures": "Captures",
    "check-ins": "Weekly check-ins",
    "daily-logs": "Daily logs",
    "day-plans": "Day plans",
    "life-map": "Life map",
    "life-plan": "Life plan",
    "notes": "Notes",
    "reflections": "Reflections",
    "sage": "Sage’s notes about you",
}
_FILE_NAMES = {
    "life-map/_overview.md": "Overview",
    "life-plan/current.md": "Life plan",
    "life-plan/weekly.md": "Weekly plan",
    "sage/context.md": "Context",
    "sage/patterns.md": "Patterns",
}
_ISO_DATE_CHARACTERS = 10
_PATH = re.compile(r"(?<![\w/.:-])(?:[\w-]+/)*[\w-]+\.md\b(?!/)")
_PROGRAM_NAME = re.compile(r"(?<![\w/.:-])[a-z]+(?:_[a-z]+)+(?![\w/])")
_MARKS = re.compile(r"`+|\*{2,}")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def made_file(path: str) -> MadeFile:
    """Return a written file with its names."""
    return MadeFile(path=path, folder=folder_name(path), name=shown_name(path))


def folder_name(path: str) -> str:
    """Return the name of a file's folder."""
    folder = path.rpartition("/")[0]
    return FOLDER_NAMES.get(folder, without_directions(folder))


def name_of(file: UserFile) -> str:
    """Return the name of a file: its user's own, or else the one that its path gives."""
    return without_directions(file.title) or shown_name(file.path)


def shown_name(path: str) -> str:
    """Return the name of a file: its date in words, or else its name in words."""
    if path in _FILE_NAMES:
        return _FILE_NAMES[path]
    stem = without_directions(path.rpartition("/")[2].removesuffix(".md"))
    try:
        day = date.fromisoformat(stem[:_ISO_DATE_CHARACTERS])
    except ValueError:
        return in_words(stem)
    rest = stem[_ISO_DATE_CHARACTERS:].strip("-")
    if not rest:
        return f"{day:%A}, {day.day} {day:%B %Y}"
    if len(rest) >= 6 and rest[:6].isdecimal():
        day = calendar_day(day, int(rest[:2]))
        return f"{day:%A}, {day.day} {day:%B %Y}, {rest[:2]}:{rest[2:4]}"
    return f"{in_words(rest)} ({day.day} {day:%B %Y})"


def note_in_words(text: str) -> str:
    """Return a note for readers: paths and identifiers in words, without markdown."""
    named = _PATH.sub(lambda found: shown_name(found[0]), _MARKS.sub("", text))
    return _PROGRAM_NAME.sub(lambda found: found[0].replace("_", " "), named)


def names_of(paths: Iterable[str]) -> str:
    """Return the names of files, separated by commas."""
    return ", ".join(map(shown_name, paths))


def in_words(name: str) -> str:
    """Return an identifier in words."""
    return name.replace("-", " ").replace("_", " ").strip().capitalize() or name


def without_directions(text: str) -> str:
    """Return text without characters that change the writing direction."""
    return _DIRECTIONS.sub("", text)
