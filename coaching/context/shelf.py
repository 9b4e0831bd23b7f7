"""What the sections of one turn are made of: a user's files, days, ratings and sessions at one moment.

Each read happens once, when the first section asks for it, and there is a fixed number of them, however
much the user has written. Texts come cut by the database: what no section could show is never sent here.
"""

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, Self, TypeVar, overload

from django.db import connection

from coaching.calendar.selectors import DayCalendar, calendar_of_day
from coaching.days import local_day
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.types import RULES
from coaching.models import DayPlan, FileType, LifeDomain, Profile
from coaching.pulse import DomainPulse, read_pulse

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
class LastSession:
    """The session before this one."""

    kind: str
    day: date


class _once(cached_property[T]):  # noqa: N801 - it is used as a decorator
    """A read that happens once. After the shelf was closed none happens any more."""

    @overload
    def __get__(self, shelf: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, shelf: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, shelf: Any, owner: type[Any] | None = None) -> Any:
        if shelf is not None and shelf.is_closed and self.attrname not in shelf.__dict__:
            raise LookupError(f"{self.attrname} couldn't be read ahead")
        return super().__get__(shelf, owner)


class Shelf:
    """The reads of one turn, bound to one user. `now` is aware.

    `seconds_ahead` is the time that they took where they were all made ahead; it `is_closed` then.
    """

    def __init__(self, *, profile: Profile, session_id: uuid.UUID, now: datetime) -> None:
        self.profile = profile
        self.now = now
        self.today = local_day(now, profile.zone)
        self.yesterday = self.today - timedelta(days=1)
        self.session_id = session_id
        self._opened = time.perf_counter()
        self.seconds_ahead = 0.0
        self.is_closed = False

    @classmethod
    def reads(cls) -> Sequence[str]:
        """Return the names of all reads."""
        return [name for name, value in vars(cls).items() if isinstance(value, _once)]

    def close(self) -> None:
        """Read nothing more: what couldn't be read stays unknown. A transaction may begin now."""
        self.seconds_ahead = time.perf_counter() - self._opened
        self.is_closed = True

    @_once
    def files(self) -> Mapping[str, ShelvedFile]:
        """Every file that a section shows or a signal looks at, by path."""
        paths = [RULES[file_type].place for file_type in STANDING_TYPES]
        paths += [f"{RULES[FileType.DOMAIN].place}/{domain}.md" for domain in LifeDomain]
        for day in (self.today, self.yesterday):
            paths += [self.path_of(FileType.DAY_PLAN, day), self.path_of(FileType.DAILY_LOG, day)]
        rows = self._read(FILES_SQL, paths=paths, characters=READ_CHARACTERS)
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

    @_once
    def plans(self) -> Mapping[date, DayPlan]:
        """The day plans of today and yesterday."""
        rows = self._read(PLANS_SQL, days=[self.today, self.yesterday])
        return {
            day: DayPlan(date=day, intention=intention, priorities=json.loads(priorities), file_id=file_id)
            for day, intention, priorities, file_id in rows
        }

    @_once
    def pulse(self) -> Mapping[LifeDomain, DomainPulse]:
        """The ratings."""
        return read_pulse(self.profile.user_id)

    @_once
    def calendar(self) -> DayCalendar:
        """What stands in the calendars today."""
        return calendar_of_day(self.profile.user_id, self.today, self.profile.zone)

    @_once
    def unfolded_captures(self) -> int:
        """How many captures wait: neither folded into a log nor put away."""
        ((count,),) = self._read(CAPTURES_SQL)
        return int(count)

    @_once
    def last_session(self) -> LastSession | None:
        """The session that the user was in before this one, if something was said there."""
        rows = self._read(LAST_SESSION_SQL, session=self.session_id)
        return next(
            (LastSession(kind=kind, day=local_day(active_at, self.profile.zone)) for kind, active_at in rows),
            None,
        )

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

    def _read(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql, {"user": self.profile.user_id, **values})
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows


def _object_in(text: str) -> Mapping[str, Any]:
    value = json.loads(text)
    return value if isinstance(value, dict) else {}
