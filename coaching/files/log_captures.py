"""The captures that a daily log takes in, each with a link; `after_effects` marks them as folded."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from django.db.models import Exists, F, OuterRef, Q, Value
from django.db.models.functions import Concat, Left, Substr

from coaching.files.drafts import MAX_CONTENT_CHARACTERS
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.types import RULES
from coaching.models import Capture, FileType, UserFile

HEADING = "## Captures"
EXCERPT_CHARACTERS = 240

_DATE_CHARACTERS = 10
_READ_CHARACTERS = 2_000
_TIME = re.compile(r"/([0-9-]{10})-([0-9]{2})([0-9]{2})[0-9]{2}[^/]*\Z", re.ASCII)
_HEADINGS = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_LISTED = re.compile(
    rf"^[-*+] .*\]\(<?(?:\.\./|/files/){RULES[FileType.CAPTURE].place}/[^\n]*$", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedCapture:
    """A capture in a log. `excerpt` is one line."""

    id: int
    path: str
    excerpt: str


def read_captures_of_log(*, user_id: int, day: date) -> Sequence[LinkedCapture]:
    """Return the captures that the log of that day takes in or has taken in, oldest first.

    Those are the captures of the day, and those that came after their own day was closed. Captures of a day
    without a log keep waiting, because it was never reviewed. Archived ones are excluded.
    """
    place = RULES[FileType.CAPTURE].place
    # A capture's day is the one in its path, whatever the user's time zone is now.
    named = Substr("file__path", len(place) + 2, _DATE_CHARACTERS)
    log_path = Concat(Value(f"{RULES[FileType.DAILY_LOG].place}/"), named, Value(".md"))
    logs = UserFile.of(user_id).filter(path=OuterRef("log_path"))
    waits = Q(folded_on=None, put_away_at=None)
    is_of_day = Q(file__path__startswith=f"{place}/{day.isoformat()}-")
    is_late = Q(file__path__lt=f"{place}/{day.isoformat()}") & Exists(logs)
    found = (
        Capture.of(user_id)
        .present()
        .filter(file__versions__number=F("file__version_number"))
        .annotate(log_path=log_path, head=Left("file__versions__content", _READ_CHARACTERS))
        .filter(Q(folded_on=day) | waits & (is_of_day | is_late))
        .order_by("captured_at", "id")
        .values_list("id", "file__path", "head")
    )
    return [LinkedCapture(id=pk, path=path, excerpt=_excerpt(head)) for pk, path, head in found]


def with_links(
    body: str, captures: Sequence[LinkedCapture], *, most_characters: int = MAX_CONTENT_CHARACTERS
) -> tuple[str, Sequence[LinkedCapture]]:
    """Add links to the body; return it with the captures that it names. The rest doesn't fit and waits."""
    named = [capture for capture in captures if _is_linked(body, capture.path)]
    missing = [capture for capture in captures if capture not in named]
    place, begin = _place_in(body)
    lines: list[str] = []
    room = most_characters - len(body) - len(begin)
    for capture in missing:
        line = _line(capture)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
        named.append(capture)
    return (body[:place] + begin + "\n".join(lines) + body[place:] if lines else body), named


def _place_in(body: str) -> tuple[int, str]:
    """Return where to insert captures, below the last one in a list, and the text before them."""
    listed = list(_LISTED.finditer(body))
    if listed:
        return listed[-1].end(), "\n"
    headings = _HEADINGS.findall(body)
    has_heading = bool(headings) and headings[-1].rstrip() == HEADING
    return len(body), "\n" if has_heading else f"\n\n{HEADING}\n\n"


def _is_linked(body: str, path: str) -> bool:
    return re.search(rf"\]\(<?(?:\.\./|/files/){re.escape(path)}[>)\s]", body) is not None


def _line(capture: LinkedCapture) -> str:
    time = _TIME.search(capture.path)
    moment = capture.path
    with suppress(ValueError):
        if time:
            moment = f"{date.fromisoformat(time[1])}, {time[2]}:{time[3]}"
    return f"- [{moment}](../{capture.path}) {capture.excerpt}".rstrip()


def _excerpt(head: str) -> str:
    line = " ".join(strip_frontmatter(head).split())
    return line if len(line) <= EXCERPT_CHARACTERS else f"{line[:EXCERPT_CHARACTERS].rstrip()}…"
