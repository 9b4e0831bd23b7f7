"""What the sections of one turn are made of: a user's files, days, ratings and sessions at one moment.

Each read happens once, when the first section asks for it, and there is a fixed number of them, however
much the user has written. Texts come cut by the database: what no section could show is never sent here.
"""

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Generic, Self, TypeVar, overload

from coaching.calendar.selectors import DayCalendar, day_read
from coaching.days import local_day
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.types import RULES
from coaching.models import FileType, LifeDomain, Profile
from coaching.pulse import DomainPulse, pulse_read
from coaching.reads import Read, Rows, run, run_together

T = TypeVar("T")

READ_CHARACTERS = 24_000
NEWEST = {FileType.CHECK_IN: 3, FileType.DAILY_LOG: 7, FileType.CAPTURE: 10}
"""How many of what is listed by date."""

STANDING_TYPES = (
    FileType.SAGE_CONTEXT,
    FileType.OVERVIEW,
    FileType.LIFE_PLAN,
    FileType.WEEKLY_PLAN,
    FileType.SAGE_PATTERNS,
)


# Written out, since the user waits for them before the first word: the ORM takes longer to put these
# together than the database to answer them. All are bound to one user.
# Names begin with the date; bounds inside the folder let one index give the newest in order.
_NEWEST = """
    UNION ALL (
        SELECT id, path, file_type, frontmatter, version_number FROM coaching_userfile
        WHERE user_id = %(user)s AND file_type = '{kind}' AND path >= '{place}/0' AND path <= '{place}/9999'
        ORDER BY path DESC LIMIT {limit}
    )"""
_LISTED = "".join(
    _NEWEST.format(kind=kind, place=RULES[kind].place, limit=limit) for kind, limit in NEWEST.items()
)
# Put together of literals of ours alone; every value is a parameter.
FILES_SQL = f"""
    SELECT file.path, file.file_type, file.frontmatter, file.version_number,
        length(version.content), left(version.content, %(characters)s)
    FROM (
        SELECT id, path, file_type, frontmatter, version_number FROM coaching_userfile
        WHERE user_id = %(user)s AND path = ANY(%(paths)s){_LISTED}
    ) AS file JOIN coaching_userfileversion AS version
    ON version.file_id = file.id AND version.number = file.version_number
"""  # noqa: S608
PLANS_SQL = """
    SELECT date, intention, priorities, file_id FROM coaching_dayplan
    WHERE user_id = %(user)s AND date = ANY(%(days)s)
"""
CAPTURES_SQL = """
    SELECT count(*) FROM coaching_capture
    WHERE user_id = %(user)s AND folded_on IS NULL AND put_away_at IS NULL
"""
LAST_SESSION_SQL = """
    SELECT kind, last_active_at FROM sessions_app_session
    WHERE user_id = %(user)s AND id <> %(session)s AND last_message_number > 0
    ORDER BY last_active_at DESC LIMIT 1
"""


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
        return strip_frontmatter(self.head).strip()

    @property
    def unread(self) -> int:
        """How many characters were left in the database."""
        return max(0, self.characters - len(self.head))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A day plan as data: `priorities` are `{"text", "is_done"}`."""

    intention: str
    priorities: Sequence[Any]
    has_file: bool

    @property
    def says_something(self) -> bool:
        """Whether there is a plan in it at all."""
        return self.has_file or bool(self.intention) or bool(self.priorities)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSession:
    """The session before this one."""

    kind: str
    day: date


class _Reading(Generic[T]):
    """A read of a shelf, made once: when the first section asks for it, or ahead with the others."""

    def __init__(self, build: "Callable[[Shelf], Read[T]]") -> None:
        self.build = build
        self.name = build.__name__
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, shelf: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, shelf: "Shelf", owner: type[Any] | None = None) -> T: ...

    def __get__(self, shelf: "Shelf | None", owner: type[Any] | None = None) -> Any:
        if shelf is None:
            return self
        if self.name not in shelf.found:
            if shelf.is_closed:
                raise LookupError(f"{self.name} couldn't be read ahead")
            shelf.found[self.name] = run(self.build(shelf))
        return shelf.found[self.name]


class Shelf:
    """The reads of one turn, bound to one user. `now` is aware.

    `found` are those that were made, by name; once it `is_closed` there are no others. `seconds_ahead` is the
    time that they took where they were all made ahead.
    """

    def __init__(self, *, profile: Profile, session_id: uuid.UUID, now: datetime) -> None:
        self.profile = profile
        self.now = now
        self.today = local_day(now, profile.zone)
        self.yesterday = self.today - timedelta(days=1)
        self.session_id = session_id
        self.found: dict[str, Any] = {}
        self.is_closed = False
        self.seconds_ahead = 0.0
        self._opened = time.perf_counter()

    @classmethod
    def reads(cls) -> Sequence[str]:
        """Return the names of all reads."""
        return [name for name, value in vars(cls).items() if isinstance(value, _Reading)]

    def read_together(self) -> None:
        """Make all reads in one way to the database and back. Where one fails, none is made."""
        reads = {name: vars(type(self))[name].build(self) for name in self.reads()}
        together = run_together(list(reads.values()))
        self.found = {
            name: read.parse(rows) for (name, read), rows in zip(reads.items(), together, strict=True)
        }

    def close(self) -> None:
        """Read nothing more: what couldn't be read stays unknown. A transaction may begin now."""
        self.seconds_ahead = time.perf_counter() - self._opened
        self.is_closed = True

    @_Reading
    def files(self) -> Read[Mapping[str, ShelvedFile]]:
        """Every file that a section shows or a signal looks at, by path."""
        paths = [RULES[file_type].place for file_type in STANDING_TYPES]
        paths += [f"{RULES[FileType.DOMAIN].place}/{domain}.md" for domain in LifeDomain]
        for day in (self.today, self.yesterday):
            paths += [self.path_of(FileType.DAY_PLAN, day), self.path_of(FileType.DAILY_LOG, day)]
        return self._read(FILES_SQL, _files_of, paths=paths, characters=READ_CHARACTERS)

    @_Reading
    def plans(self) -> Read[Mapping[date, Plan]]:
        """The day plans of today and yesterday."""
        return self._read(PLANS_SQL, _plans_of, days=[self.today, self.yesterday])

    @_Reading
    def pulse(self) -> Read[Mapping[LifeDomain, DomainPulse]]:
        """The ratings."""
        return pulse_read(self.profile.user_id)

    @_Reading
    def calendar(self) -> Read[DayCalendar]:
        """What stands in the calendars today."""
        return day_read(self.profile.user_id, self.today, self.profile.zone)

    @_Reading
    def unfolded_captures(self) -> Read[int]:
        """How many captures wait: neither folded into a log nor put away."""
        return self._read(CAPTURES_SQL, lambda rows: int(rows[0][0]))

    @_Reading
    def last_session(self) -> Read[LastSession | None]:
        """The session that the user was in before this one, if something was said there."""
        return self._read(LAST_SESSION_SQL, self._last_session_of, session=self.session_id)

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

    def _last_session_of(self, rows: Rows) -> LastSession | None:
        return next(
            (LastSession(kind=kind, day=local_day(active_at, self.profile.zone)) for kind, active_at in rows),
            None,
        )

    def _read(self, sql: str, parse: Callable[[Rows], T], **values: Any) -> Read[T]:
        return Read(sql=sql, values={"user": self.profile.user_id, **values}, parse=parse)


def _files_of(rows: Rows) -> Mapping[str, ShelvedFile]:
    return {
        path: ShelvedFile(
            path=path,
            file_type=file_type,
            frontmatter=_object_in(frontmatter),
            version=version,
            characters=characters,
            head=head,
        )
        for path, file_type, frontmatter, version, characters, head in rows
    }


def _plans_of(rows: Rows) -> Mapping[date, Plan]:
    return {
        day: Plan(intention=intention, priorities=json.loads(priorities), has_file=file_id is not None)
        for day, intention, priorities, file_id in rows
    }


def _object_in(text: str) -> Mapping[str, Any]:
    value = json.loads(text)
    return value if isinstance(value, dict) else {}
