"""Whether a person wants letters, when they are asked, and what pages show of letters."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction

from coaching.files.types import RULES
from coaching.job_queue.letters import enqueue_letter
from coaching.letters.words import has_enough, month_before
from coaching.models import FileType, Letter, Profile, UserFile
from coaching.people.profile_changes import choose_letters

NEW_FOR = timedelta(days=7)
"""How long a letter is on Home."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLetter:
    """A letter on a page."""

    month: date
    path: str
    preview_line: str


@transaction.atomic
def switch_letters(*, user_id: int, is_on: bool, now: datetime) -> None:
    """Store whether the person wants letters; the first one, about the last month, is written at once."""
    profile = choose_letters(user_id=user_id, wants=is_on)
    if is_on:
        enqueue_letter(user_id, month_before(now, profile.zone))


def is_to_be_asked(profile: Profile, *, now: datetime) -> bool:
    """Return whether the person hasn't been asked yet, and there is a month to write about."""
    month = month_before(now, profile.zone)
    return profile.wants_letters is None and has_enough(profile=profile, month=month)


def read_new_letter(*, user_id: int, now: datetime) -> ShownLetter | None:
    """Return the letter that was written in the last days, unless its person has deleted it."""
    letters = Letter.of(user_id).filter(file__isnull=False, file__deleted_at=None, ended_at__gt=now - NEW_FOR)
    letter = letters.select_related("file").order_by("-month").first()
    return _shown(letter.file, letter.month) if letter and letter.file else None


def read_letter(profile: Profile, *, month: date) -> ShownLetter | None:
    """Return the letter about a month."""
    path = f"{RULES[FileType.LETTER].place}/{month:%Y-%m}.md"
    file = UserFile.of(profile.user_id).filter(path=path, version_number__gt=0).first()
    return _shown(file, month) if file else None


def _shown(file: UserFile, month: date) -> ShownLetter:
    line = file.frontmatter.get("preview_line")
    return ShownLetter(month=month, path=file.path, preview_line=line if isinstance(line, str) else "")
