"""What the sections of one turn are made of: a user's files, days, ratings and sessions at one moment.

Each read happens once, together with all others or when the first section asks for it, and there is a fixed
number of them, however much the user has written. Texts come cut by the database: what no section could show
is never sent here.
"""

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Generic, Self, TypeVar, overload

from coaching.calendar.selectors import DayCalendar, day_of, day_question
from coaching.clock.days import local_day
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.types import RULES
from coaching.life.pulse import DomainPulse, pulse_of, pulse_question
from coaching.models import DayPlan, FileType, LifeDomain, Profile
from coaching.skills.loader import States, states_of, states_question
from sessions_app.rows import Question, Rows, ask

T = TypeVar("T")

READ_CHARACTERS = 24_000
NEWEST = {FileType.CHECK_IN: 3, FileType.DAILY_LOG: 7}
"""How many of what is listed by date."""
WAITING_CAPTURES = 10
"""How many of the captures that wait, the newest; what became of the others is in the logs."""

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
_WAITING = f"""
    UNION ALL (
        SELECT file.id, path, file_type, frontmatter, version_number FROM coaching_capture AS capture
        JOIN coaching_userfile AS file ON file.id = capture.file_id
        WHERE capture.user_id = %(user)s AND folded_on IS NULL AND put_away_at IS NULL
        ORDER BY captured_at DESC LIMIT {WAITING_CAPTURES}
    )"""  # noqa: S608
# Put together of literals of ours alone; every value is a parameter.
FILES_SQL = f"""
    SELECT file.path, file.file_type, file.frontmatter, file.version_number,
        length(version.content), left(version.content, %(characters)s)
    FROM (
        SELECT id, path, file_type, frontmatter, version_number FROM coaching_userfile
        WHERE user_id = %(user)s AND path = ANY(%(paths)s){_LISTED}{_WAITING}
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


class _Read(Generic[T]):
    """A read that happens once: what it asks of a shelf, and what it makes of the answer.

    After the shelf was closed none happens any more.
    """

    def __init__(self, question: "Callable[[Shelf], Question]", make: "Callable[[Shelf, Rows], T]") -> None:
        self.question = question
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, shelf: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, shelf: "Shelf", owner: type[Any] | None = None) -> T: ...

    def __get__(self, shelf: "Shelf | None", owner: type[Any] | None = None) -> Any:
        if shelf is None:
            return self
        rows = shelf.answers.pop(self.name, None)
        if rows is None:
            if shelf.is_closed:
                raise LookupError(f"{self.name} couldn't be read ahead")
            rows = ask(self.question(shelf))
        # From now on the value itself is found, and not this.
        shelf.__dict__[self.name] = value = self._make(shelf, rows)
        return value


def _read(question: "Callable[[Shelf], Question]") -> "Callable[[Callable[[Shelf, Rows], T]], _Read[T]]":
    """Make a read of what is asked, and of the method that takes the answer in."""
    return lambda make: _Read(question, make)


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
        self.answers: dict[str, Rows] = {}

    @classmethod
    def reads(cls) -> "Sequence[_Read[Any]]":
        """Return all reads."""
        return [value for value in vars(cls).values() if isinstance(value, _Read)]

    def questions(self) -> Sequence[Question]:
        """Return what all reads ask, for one journey to the database."""
        return [read.question(self) for read in self.reads()]

    def take(self, answers: Sequence[Rows]) -> None:
        """Take in the answers to all questions."""
        self.answers = {read.name: rows for read, rows in zip(self.reads(), answers, strict=True)}

    def close(self) -> None:
        """Read nothing more: what couldn't be read stays unknown. A transaction may begin now."""
        self.seconds_ahead = time.perf_counter() - self._opened
        self.is_closed = True

    def _files_question(self) -> Question:
        paths = [RULES[file_type].place for file_type in STANDING_TYPES]
        paths += [f"{RULES[FileType.DOMAIN].place}/{domain}.md" for domain in LifeDomain]
        for day in (self.today, self.yesterday):
            paths += [self.path_of(FileType.DAY_PLAN, day), self.path_of(FileType.DAILY_LOG, day)]
        return self.question(FILES_SQL, paths=paths, characters=READ_CHARACTERS)

    @_read(_files_question)
    def files(self, rows: Rows) -> Mapping[str, ShelvedFile]:
        """Every file that a section shows or a signal looks at, by path."""
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

    @_read(lambda shelf: shelf.question(PLANS_SQL, days=[shelf.today, shelf.yesterday]))
    def plans(self, rows: Rows) -> Mapping[date, DayPlan]:
        """The day plans of today and yesterday."""
        return {
            day: DayPlan(date=day, intention=intention, priorities=json.loads(priorities), file_id=file_id)
            for day, intention, priorities, file_id in rows
        }

    @_read(lambda shelf: pulse_question(shelf.profile.user_id))
    def pulse(self, rows: Rows) -> Mapping[LifeDomain, DomainPulse]:
        """The ratings."""
        return pulse_of(rows)

    @_read(lambda shelf: day_question(shelf.profile.user_id, shelf.today, shelf.profile.zone))
    def calendar(self, rows: Rows) -> DayCalendar:
        """What stands in the calendars today."""
        return day_of(rows, self.today, self.profile.zone)

    @_read(lambda shelf: shelf.question(CAPTURES_SQL))
    def unfolded_captures(self, rows: Rows) -> int:
        """How many captures wait: neither folded into a log nor put away."""
        ((count,),) = rows
        return int(count)

    @_read(lambda shelf: shelf.question(LAST_SESSION_SQL, session=shelf.session_id))
    def last_session(self, rows: Rows) -> LastSession | None:
        """The session that the user was in before this one, if something was said there."""
        return next(
            (LastSession(kind=kind, day=local_day(active_at, self.profile.zone)) for kind, active_at in rows),
            None,
        )

    @_read(lambda shelf: states_question(shelf.profile.user_id, shelf.session_id))
    def skill_states(self, rows: Rows) -> States | None:
        """Which skills the session goes on with."""
        return states_of(rows)

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

    def question(self, sql: str, **values: Any) -> Question:
        """Put a question about the shelf's user."""
        return Question(sql, {"user": self.profile.user_id, **values})


def _object_in(text: str) -> Mapping[str, Any]:
    value = json.loads(text)
    return value if isinstance(value, dict) else {}
