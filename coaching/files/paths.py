"""Paths are built from the type and a checked name, never taken from the model.

A path is only a label in the database: objects have random keys, so it never reaches a disk or bucket. It
still uses closed sets and ASCII only, because people download files under it.
"""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day
from coaching.files.errors import FileRefused
from coaching.files.types import RULES, TypeRule
from coaching.models import FileType, LifeDomain

MAX_NAME_CHARACTERS = 100
MAX_SLUG_CHARACTERS = 60

_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ISO_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.md")
_UNFIT_FOR_TITLE = re.compile(
    r"[/\\%:*?<>|\x00-\x1f\x7f]|\.\.|[\ud800-\udfff\u200b-\u200f\u2028-\u202e\u2066-\u2069]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePath:
    """A path without extension, and its day. `is_always_new`: a suffix makes it unique."""

    stem: str
    day: date
    is_always_new: bool = False

    def text(self, suffix: int = 1) -> str:
        """Return the path, with the suffix if it is 2 or more."""
        return f"{self.stem}.md" if suffix == 1 else f"{self.stem}-{suffix}.md"


def build_path(
    file_type: FileType, file_name: str | None, *, body: str, now: datetime, timezone: ZoneInfo
) -> FilePath:
    """Build a path. Raises `FileRefused`, with what the type accepts. `body` names an unnamed prompt."""
    rule, today, name = RULES[file_type], local_day(now, timezone), file_name or None
    match rule.naming:
        case "fixed":
            _refuse_name(file_type, name)
            return FilePath(stem=rule.place.removesuffix(".md"), day=today)
        case "moment":
            _refuse_name(file_type, name)
            time = now.astimezone(timezone).strftime("%H%M%S")
            return FilePath(stem=f"{rule.place}/{today.isoformat()}-{time}", day=today, is_always_new=True)
        case "domain":
            return FilePath(stem=f"{rule.place}/{_domain(name)}", day=today)
        case "date":
            day = _day(file_type, rule, name, today) if name else today
            return FilePath(stem=f"{rule.place}/{day.isoformat()}", day=day)
        case "month":
            if not (name and _is_month(name)):
                raise FileRefused(f"A {file_type}'s file_name must be a month like {today:%Y-%m}.")
            return FilePath(stem=f"{rule.place}/{name}", day=date.fromisoformat(f"{name}-01"))
        case "slug":
            slug = _slug(_title(name) if name else body)
            return FilePath(stem=f"{rule.place}/{today.isoformat()}-{slug}", day=today)


def build_note_path(title: str, *, now: datetime, timezone: ZoneInfo) -> FilePath:
    """Build the path of a new note from its title, which may be any text."""
    today = local_day(now, timezone)
    stem = f"{RULES[FileType.NOTE].place}/{today.isoformat()}-{_slug(title, default='note')}"
    return FilePath(stem=stem, day=today, is_always_new=True)


def path_of_stored(file_type: FileType, path: str, *, now: datetime, timezone: ZoneInfo) -> FilePath:
    """Return the path of an existing file, with its day."""
    stem = path.removesuffix(".md")
    today = local_day(now, timezone)
    name = stem.rpartition("/")[2]
    if RULES[file_type].naming in ("fixed", "domain"):
        return FilePath(stem=stem, day=today)
    day = f"{name[:7]}-01" if RULES[file_type].naming == "month" else name[:10]
    try:
        return FilePath(stem=stem, day=date.fromisoformat(day))
    except ValueError:
        return FilePath(stem=stem, day=today)


def type_of_path(path: str) -> FileType | None:
    """Return the type whose files have such a path, None where no type has."""
    folder, _, name = path.rpartition("/")
    for file_type, rule in RULES.items():
        if rule.naming == "fixed":
            is_fitting = path == rule.place
        elif folder != rule.place or not _FILE_NAME.fullmatch(name):
            is_fitting = False
        elif rule.naming == "domain":
            is_fitting = name.removesuffix(".md") in LifeDomain.values
        elif rule.naming == "month":
            is_fitting = _is_month(name.removesuffix(".md"))
        else:
            is_fitting = rule.naming != "date" or _is_date(name.removesuffix(".md"))
        if is_fitting:
            return file_type
    return None


def _is_date(text: str) -> bool:
    try:
        return bool(_ISO_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False


def _is_month(text: str) -> bool:
    return bool(_ISO_MONTH.fullmatch(text)) and _is_date(f"{text}-01")


def _refuse_name(file_type: FileType, name: str | None) -> None:
    if name:
        raise FileRefused(f"The type {file_type} takes no file_name; leave it out, it has its own.")


def _domain(name: str | None) -> str:
    if name not in LifeDomain.values:
        raise FileRefused(f"A domain's file_name must be one of {', '.join(LifeDomain.values)}.")
    return name


def _day(file_type: FileType, rule: TypeRule, name: str, today: date) -> date:
    first, last = today - timedelta(days=rule.days_back), today + timedelta(days=rule.days_ahead)
    wrong = FileRefused(
        f"A {file_type}'s file_name must be a date like {today.isoformat()}, from {first.isoformat()} "
        f"to {last.isoformat()}; left out, it is today."
    )
    if not _ISO_DATE.fullmatch(name):
        raise wrong
    try:
        day = date.fromisoformat(name)
    except ValueError:
        raise wrong from None
    if not first <= day <= last:
        raise wrong
    return day


def _title(name: str) -> str:
    # Normalise compatibility forms first: a full-width slash is a slash.
    if len(name) > MAX_NAME_CHARACTERS or any(
        _UNFIT_FOR_TITLE.search(form) for form in (name, unicodedata.normalize("NFKC", name))
    ):
        raise FileRefused(
            f"A reflection-prompt's file_name must be a short title of at most {MAX_NAME_CHARACTERS} "
            "characters, in plain words without slashes, dots in a row or control characters."
        )
    return name


def _slug(text: str, *, default: str = "prompt") -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")[: MAX_SLUG_CHARACTERS * 4]
    plain = unicodedata.normalize("NFKD", line).encode("ascii", "ignore").decode("ascii").lower()
    words = re.findall(r"[a-z0-9]+", plain.replace("'", ""))
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:MAX_SLUG_CHARACTERS]
        if len(longer) > MAX_SLUG_CHARACTERS:
            break
        slug = longer
    return slug or f"{default}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
