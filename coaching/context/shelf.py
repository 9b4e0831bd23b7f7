"""What the sections of one turn are made of: a user's files, days, ratings and sessions at one moment.

Each read happens once, when the first section asks for it, and there is a fixed number of them, however
much the user has written. Texts come cut by the database: what no section could show is never sent here.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Left, Length

from coaching.days import local_day
from coaching.files.frontmatter import parse_file
from coaching.files.selectors import files_of
from coaching.files.types import RULES
from coaching.models import DayPlan, FileType, LifeDomain, Profile
from coaching.pulse import DomainPulse, read_pulse
from sessions_app.models import Session

READ_CHARACTERS = 24_000
CHECK_INS = 3
DAILY_LOGS = 7
CAPTURES = 10

STANDING_TYPES = (
    FileType.SAGE_CONTEXT,
    FileType.OVERVIEW,
    FileType.LIFE_PLAN,
    FileType.WEEKLY_PLAN,
    FileType.SAGE_PATTERNS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelvedFile:
    """A file as far as it was read. `characters` is how long the whole text is, frontmatter included."""

    path: str
    file_type: str
    frontmatter: Mapping[str, Any]
    version: int
    characters: int
    head: str

    @property
    def day(self) -> str:
        """The date in the file's name, empty where it has none."""
        return self.path.rpartition("/")[2][:10]

    @property
    def updated(self) -> str:
        """The day that the file's own frontmatter gives."""
        return str(self.frontmatter.get("updated") or self.frontmatter.get("date") or "")

    @property
    def body(self) -> str:
        """The text below the frontmatter, as far as it was read."""
        return parse_file(self.head)[1].strip()

    @property
    def unread(self) -> int:
        """How many characters were left in the database."""
        return max(0, self.characters - len(self.head))


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSession:
    """The session before this one."""

    kind: str
    day: date


class Shelf:
    """The reads of one turn, bound to one user. `now` is aware."""

    def __init__(self, *, profile: Profile, session_id: uuid.UUID, now: datetime) -> None:
        self.profile = profile
        self.now = now
        self.today = local_day(now, profile.zone)
        self.yesterday = self.today - timedelta(days=1)
        self._session_id = session_id

    @cached_property
    def files(self) -> Mapping[str, ShelvedFile]:
        """Every file that a section shows, by path."""
        paths = [RULES[file_type].place for file_type in STANDING_TYPES]
        paths += [f"{RULES[FileType.DOMAIN].place}/{domain}.md" for domain in LifeDomain.values]
        paths += [self.path_of(FileType.DAY_PLAN, day) for day in (self.today, self.yesterday)]
        paths.append(self.path_of(FileType.DAILY_LOG, self.yesterday))
        rows = self._texts.filter(path__in=paths).union(
            self._newest(FileType.CHECK_IN)[:CHECK_INS],
            self._newest(FileType.DAILY_LOG)[:DAILY_LOGS],
            self._newest(FileType.CAPTURE)[:CAPTURES],
            all=True,
        )
        return {
            row["path"]: ShelvedFile(
                path=row["path"],
                file_type=row["file_type"],
                frontmatter=row["frontmatter"] if isinstance(row["frontmatter"], dict) else {},
                version=row["version_number"],
                characters=row["characters"],
                head=row["head"],
            )
            for row in rows
        }

    @cached_property
    def plans(self) -> Mapping[date, DayPlan]:
        """The day plans of today and yesterday."""
        plans = DayPlan.objects.filter(user_id=self.profile.user_id, date__in=(self.today, self.yesterday))
        return {plan.date: plan for plan in plans}

    @cached_property
    def pulse(self) -> Mapping[LifeDomain, DomainPulse]:
        """The ratings."""
        return read_pulse(self.profile.user_id)

    @cached_property
    def last_session(self) -> LastSession | None:
        """The session that the user was in before this one, if something was said there."""
        sessions = Session.objects.filter(user_id=self.profile.user_id, last_message_number__gt=0)
        found = sessions.exclude(id=self._session_id).order_by("-last_active_at")
        row = found.values_list("kind", "last_active_at").first()
        return LastSession(kind=row[0], day=local_day(row[1], self.profile.zone)) if row else None

    def of_type(self, file_type: FileType) -> Sequence[ShelvedFile]:
        """Return the files of a type, the newest first."""
        found = [file for file in self.files.values() if file.file_type == file_type]
        return sorted(found, key=lambda file: file.path, reverse=True)

    def page(self, file_type: FileType) -> ShelvedFile | None:
        """Return the one file of a type that has a fixed place."""
        return self.files.get(RULES[file_type].place)

    def path_of(self, file_type: FileType, day: date) -> str:
        """Return where the file of a day lies."""
        return f"{RULES[file_type].place}/{day.isoformat()}.md"

    @property
    def _texts(self) -> QuerySet[Any, Any]:
        """The user's files with the head of their newest version."""
        files = files_of(self.profile.user_id).filter(versions__number=F("version_number"))
        return files.annotate(
            characters=Length("versions__content"), head=Left("versions__content", READ_CHARACTERS)
        ).values("path", "file_type", "frontmatter", "version_number", "characters", "head")

    def _newest(self, file_type: FileType) -> QuerySet[Any, Any]:
        # Names begin with the date; bounds inside the folder let one index give them in order.
        place = RULES[file_type].place
        files = self._texts.filter(file_type=file_type, path__gte=f"{place}/0", path__lte=f"{place}/9999")
        return files.order_by("-path")
