"""The names of files, folders and arcs on pages. No I/O."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, time
from hashlib import blake2s

from django.utils.formats import date_format, time_format
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from coaching.context.foreign import UNNAMED
from coaching.models import LifeDomain, UserFile
from sessions_app.models import SessionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFile:
    """A file that a turn wrote.

    After texts of others it has their names as `sources`, and the call that can be undone, or was.
    """

    path: str
    folder: str
    name: str
    tool_use_id: str = ""
    sources: str = ""
    is_undone: bool = False

    @property
    def can_undo(self) -> bool:
        return bool(self.tool_use_id) and not self.is_undone

    @property
    def dom_id(self) -> str:
        """The id of its HTML element; empty without such a call."""
        return dom_id_of(self.tool_use_id) if self.tool_use_id else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcWords:
    """Texts about an arc, in English: its name, what it leaves behind, its end, and an invitation."""

    name: str
    leaves: str
    done: str
    invitation: str


ARC_WORDS: Mapping[str, ArcWords] = {
    SessionKind.OPEN_DAY: ArcWords(
        name=gettext_noop("Opening the day"),
        leaves=gettext_noop("You’ll end up with a plan for the day: one intention and your priorities."),
        done=gettext_noop("Your day is planned."),
        invitation=gettext_noop("Set one intention and your priorities in two minutes."),
    ),
    SessionKind.CLOSE_DAY: ArcWords(
        name=gettext_noop("Closing the day"),
        leaves=gettext_noop("You’ll end up with a log of the day: energy, mood and what it was about."),
        done=gettext_noop("The day is closed."),
        invitation=gettext_noop("Note what you want to remember of today."),
    ),
    SessionKind.WEEKLY_CHECKIN: ArcWords(
        name=gettext_noop("Weekly check-in"),
        leaves=gettext_noop("You’ll end up with a summary of your week and a rating for each part of life."),
        done=gettext_noop("The check-in is done."),
        invitation=gettext_noop("Look back on the week, and rate how each part of life is going."),
    ),
    SessionKind.LIFE_MAPPING: ArcWords(
        name=gettext_noop("Mapping your life"),
        leaves=gettext_noop("You’ll end up with a page for each part of life, an overview and a plan."),
        done=gettext_noop("Your map is ready."),
        invitation=gettext_noop("Go through eight parts of your life, one at a time, then make a plan."),
    ),
}

FOLDER_NAMES: Mapping[str, str | Promise] = {
    "": gettext_lazy("Other files"),
    "captures": gettext_lazy("Captures"),
    "check-ins": gettext_lazy("Weekly check-ins"),
    "daily-logs": gettext_lazy("Daily logs"),
    "day-plans": gettext_lazy("Day plans"),
    "life-map": gettext_lazy("Life map"),
    "letters": gettext_lazy("Letters"),
    "life-plan": gettext_lazy("Life plan"),
    "notes": gettext_lazy("Notes"),
    "reflections": gettext_lazy("Reflections"),
    "sage": gettext_lazy("Sage’s notes about you"),
}
_FILE_NAMES: Mapping[str, str | Promise] = {
    **{f"life-map/{domain.value}.md": domain.label for domain in LifeDomain},
    "life-map/_overview.md": gettext_lazy("Overview"),
    "life-plan/current.md": gettext_lazy("Life plan"),
    "life-plan/weekly.md": gettext_lazy("Weekly plan"),
    "sage/context.md": gettext_lazy("Context"),
    "sage/patterns.md": gettext_lazy("Patterns"),
    "sage/safety-plan.md": gettext_lazy("Safety plan"),
}
_ISO_DATE_CHARACTERS = 10
_ISO_MONTH_CHARACTERS = 7
_TIME_CHARACTERS = 6
LETTERS = "letters/"
MAX_SOURCES = 3
"""How many texts of others are named at one place."""
_PATH = re.compile(r"(?<![\w/.:-])(?:[\w-]+/)*[\w-]+\.md\b(?!/)")
_PROGRAM_NAME = re.compile(r"(?<![\w/.:-])[a-z]+(?:_[a-z]+)+(?![\w/])")
_MARKS = re.compile(r"`+|\*{2,}")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def arc_title(kind: str, day: date) -> str:
    """Return the title of an arc's session in the language that is active; empty for one that is no arc."""
    words = arc_words(kind)
    return f"{words.name} · {date_format(day, 'SHORT_DAY_FORMAT')}" if words else ""


def arc_words(arc: str) -> ArcWords | None:
    """Return an arc's texts in the language that is active; None for what is no arc."""
    words = ARC_WORDS.get(arc)
    if words is None:
        return None
    return ArcWords(
        name=_(words.name),
        leaves=_(words.leaves),
        done=_(words.done),
        invitation=_(words.invitation),
    )


def made_file(path: str) -> MadeFile:
    return MadeFile(path=path, folder=folder_name(path), name=shown_name(path))


def dom_id_of(tool_use_id: str) -> str:
    """Return the id of a call's HTML element."""
    return "call-" + blake2s(tool_use_id.encode(errors="replace"), digest_size=8).hexdigest()


def source_names(names: Iterable[str]) -> str:
    """Return the names of texts that others wrote, for a sentence: each in quotation marks of its own."""
    shown = [
        _(name) if name in UNNAMED else _("“%(name)s”") % {"name": without_directions(name)} for name in names
    ]
    more = len(shown) - MAX_SOURCES
    listed = ", ".join(shown[:MAX_SOURCES])
    return _("%(names)s and others") % {"names": listed} if more > 0 else listed


def folder_name(path: str) -> str:
    folder = path.rpartition("/")[0]
    return str(FOLDER_NAMES.get(folder, without_directions(folder)))


def name_of(file: UserFile) -> str:
    """Return the name of a file: its user's own, or else the one that its path gives."""
    return without_directions(file.title) or shown_name(file.path)


def shown_name(path: str) -> str:
    """Return the name of a file: its date in words, or else its name in words."""
    if path in _FILE_NAMES:
        return str(_FILE_NAMES[path])
    stem = without_directions(path.rpartition("/")[2].removesuffix(".md"))
    if path.startswith(LETTERS) and (month := _month_in(stem)):
        return capfirst(date_format(month, "YEAR_MONTH_FORMAT"))
    try:
        day = date.fromisoformat(stem[:_ISO_DATE_CHARACTERS])
    except ValueError:
        return in_words(stem)
    rest = stem[_ISO_DATE_CHARACTERS:].strip("-")
    if not rest:
        return capfirst(date_format(day, "WEEKDAY_DATE_FORMAT"))
    if at := _time_in(rest):
        shown = capfirst(date_format(day, "WEEKDAY_DATE_FORMAT"))
        name = _("%(day)s, %(time)s") % {"day": shown, "time": time_format(at, "SECONDS_FORMAT")}
        number = rest[_TIME_CHARACTERS:].strip("-")
        return f"{name} ({number})" if number else name
    shown = date_format(day, "DATE_FORMAT")
    return _("%(name)s (%(day)s)") % {"name": in_words(rest), "day": shown}


def _month_in(name: str) -> date | None:
    """Return the month that a letter is named after."""
    try:
        return date.fromisoformat(f"{name[:_ISO_MONTH_CHARACTERS]}-01")
    except ValueError:
        return None


def _time_in(rest: str) -> time | None:
    """Return the time that a name has after its date, such as `221500`, perhaps with a number."""
    digits = rest[:_TIME_CHARACTERS]
    if len(digits) < _TIME_CHARACTERS or not digits.isdecimal():
        return None
    try:
        return time(int(digits[:2]), int(digits[2:4]), int(digits[4:]))
    except ValueError:
        return None


def note_in_words(text: str) -> str:
    """Return a note for readers: paths and identifiers in words, without markdown."""
    named = _PATH.sub(lambda found: shown_name(found[0]), _MARKS.sub("", text))
    return _PROGRAM_NAME.sub(lambda found: found[0].replace("_", " "), named)


def names_of(paths: Iterable[str]) -> str:
    """Return the names of files, separated by commas."""
    return ", ".join(map(shown_name, paths))


def in_words(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").strip().capitalize() or name


def without_directions(text: str) -> str:
    """Return text without characters that change the writing direction."""
    return _DIRECTIONS.sub("", text)
