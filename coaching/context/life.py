"""Reads what the sections of one turn are built from: a user's files, days, ratings and sessions.

All parts are read in one round trip, and the number of queries is the same however much the user has
written. The database shortens long texts, so that what no section could show is never sent here.
"""

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

import structlog
from django.db import DatabaseError

from coaching.calendar.selectors import DayCalendar, day_of, day_query
from coaching.care.reading import care_of, care_query
from coaching.care.standing import Care
from coaching.clock.days import local_day
from coaching.context.continuity import RecentSession, recent_of
from coaching.context.library import LibraryFacts, library_of
from coaching.context.life_file import LifeFile
from coaching.context.life_queries import (
    life_files,
    life_plans,
    next_steps,
    recent_sessions,
    waiting_captures,
)
from coaching.context.next_steps import StepFacts, steps_of
from coaching.files.types import RULES
from coaching.library.rows.headlines import library_query
from coaching.life.pulse import DomainPulse, pulse_of, pulse_ratings
from coaching.models import DayPlan, FileSource, FileType, LifeDomain, Profile
from coaching.skills.loader import States, session_states, states_of
from sessions_app.queries import Query, Rows, run_queries, run_query

logger = structlog.get_logger(__name__)

# What a read and malformed stored data can raise. Any other error isn't taken for a missing section.
READ_ERRORS = (DatabaseError, ValueError, LookupError, TypeError, AttributeError, OverflowError)

T = TypeVar("T")

RESOLVED_LATELY, TAKEN_BACK_LATELY = timedelta(days=3), timedelta(days=1)
"""For how long a request may say what became of a step."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part of a life that couldn't be read: unknown, which isn't the same as empty."""

    error: Exception


def known(part: T | Unknown) -> T:
    """Return a part of a life; raises the error of its read where that failed."""
    if isinstance(part, Unknown):
        raise part.error.with_traceback(None)
    return part


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeQuery:
    """Whose life is read, at which moment, and for which session. `now` is aware."""

    profile: Profile
    session_id: uuid.UUID
    now: datetime
    today: date = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "today", local_day(self.now, self.profile.zone))

    @property
    def yesterday(self) -> date:
        return self.today - timedelta(days=1)

    def queries(self) -> Sequence[Query]:
        """Return the queries whose rows `read_life` takes, in their order."""
        return [read.query(self) for read in _READS.values()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life(LifeQuery):
    """What is known of a user's life at one moment; `known` gives a part.

    `files` are all that a section shows or a signal looks at, by path; `plans` those of today and yesterday.
    `recent_sessions` are those before this session in which something was said. `skill_states` are those that
    the session goes on with. `care` is what is remembered after danger, `steps` are the nearest next steps.
    `read_seconds` is how long reading took.
    """

    files: Mapping[str, LifeFile] | Unknown
    plans: Mapping[date, DayPlan] | Unknown
    pulse: Mapping[LifeDomain, DomainPulse] | Unknown
    calendar: DayCalendar | Unknown
    waiting_captures: int | Unknown
    recent_sessions: Sequence[RecentSession] | Unknown
    skill_states: States | Unknown | None
    library: LibraryFacts | Unknown
    care: Care | Unknown
    steps: StepFacts | Unknown
    read_seconds: float

    @property
    def holds_offers(self) -> bool:
        """Whether nothing is offered unasked, also where what is remembered after danger couldn't be read."""
        return isinstance(self.care, Unknown) or self.care.holds_offers

    @property
    def remembers_danger(self) -> bool:
        """Whether there was danger lately, also where that couldn't be read."""
        return isinstance(self.care, Unknown) or self.care.is_remembered

    @property
    def last_session(self) -> RecentSession | None:
        """The newest session with Sage before this one; raises where they couldn't be read."""
        return next((each for each in known(self.recent_sessions) if not each.is_imported), None)

    def of_type(self, file_type: FileType) -> Sequence[LifeFile]:
        """Return the files of a type, the newest first."""
        found = [file for file in known(self.files).values() if file.file_type == file_type]
        return sorted(found, key=lambda file: file.path, reverse=True)

    def file_of(self, file_type: FileType) -> LifeFile | None:
        """Return the one file of a type that has a fixed path."""
        return known(self.files).get(RULES[file_type].place)

    def file_of_day(self, file_type: FileType, day: date) -> LifeFile | None:
        return known(self.files).get(day_path(file_type, day))


def read_life(query: LifeQuery, answers: Sequence[Rows] = ()) -> Life:
    """Read all parts of a life in one round trip, unless the rows of its queries were read before.

    Where one query fails, each runs alone, so that only that part is unknown. Inside a transaction a
    failed query breaks everything after it: read before it begins.
    """
    started = time.perf_counter()
    rows = answers or _run_all(query)
    parts = {
        name: _read_part(name, read, query, found)
        for (name, read), found in zip(_READS.items(), rows, strict=True)
    }
    return Life(
        profile=query.profile,
        session_id=query.session_id,
        now=query.now,
        read_seconds=time.perf_counter() - started,
        **parts,
    )


def day_path(file_type: FileType, day: date) -> str:
    return f"{RULES[file_type].place}/{day.isoformat()}.md"


@dataclass(frozen=True, slots=True)
class _Read:
    """The query of one part, and how its value is made from the rows."""

    query: Callable[[LifeQuery], Query]
    make: Callable[[LifeQuery, Rows], Any]


def _run_all(query: LifeQuery) -> Sequence[Rows | None]:
    try:
        return run_queries(query.queries())
    except READ_ERRORS as error:
        logger.warning("life_read_failed", error=type(error).__name__)
        return [None] * len(_READS)


def _read_part(name: str, read: _Read, query: LifeQuery, rows: Rows | None) -> Any:
    """Make a part from its rows; with None, read them first."""
    try:
        return read.make(query, run_query(read.query(query)) if rows is None else rows)
    except READ_ERRORS as error:
        # Only the error's type: its text may contain what a person wrote.
        logger.warning("life_part_unknown", part=name, error=type(error).__name__)
        return Unknown(error)


def _files_query(query: LifeQuery) -> Query:
    return life_files(
        user=query.profile.user_id,
        plan_today=day_path(FileType.DAY_PLAN, query.today),
        plan_yesterday=day_path(FileType.DAY_PLAN, query.yesterday),
        log_today=day_path(FileType.DAILY_LOG, query.today),
        log_yesterday=day_path(FileType.DAILY_LOG, query.yesterday),
    )


def _make_files(_: LifeQuery, rows: Rows) -> Mapping[str, LifeFile]:
    return {
        path: LifeFile(
            path=path,
            file_type=file_type,
            frontmatter=_object_in(frontmatter),
            version=version,
            characters=characters,
            head=head,
            program=program,
            written_at=written_at,
            is_imported=source == FileSource.IMPORT,
        )
        for path, file_type, frontmatter, version, program, written_at, source, characters, head in rows
    }


def _make_plans(_: LifeQuery, rows: Rows) -> Mapping[date, DayPlan]:
    return {
        day: DayPlan(date=day, intention=intention, priorities=json.loads(priorities), file_id=file_id)
        for day, intention, priorities, file_id in rows
    }


def _object_in(text: str) -> Mapping[str, Any]:
    value = json.loads(text)
    return value if isinstance(value, dict) else {}


_READS: Mapping[str, _Read] = {
    "files": _Read(_files_query, _make_files),
    "plans": _Read(
        lambda query: life_plans(user=query.profile.user_id, today=query.today, yesterday=query.yesterday),
        _make_plans,
    ),
    "pulse": _Read(lambda query: pulse_ratings(user=query.profile.user_id), lambda _, rows: pulse_of(rows)),
    "calendar": _Read(
        lambda query: day_query(query.profile.user_id, query.today, query.profile.zone),
        lambda query, rows: day_of(rows, query.today, query.profile.zone),
    ),
    "waiting_captures": _Read(
        lambda query: waiting_captures(user=query.profile.user_id), lambda _, rows: int(rows[0][0])
    ),
    "recent_sessions": _Read(
        lambda query: recent_sessions(user=query.profile.user_id, session=query.session_id),
        lambda query, rows: recent_of(rows, query.profile.zone),
    ),
    "skill_states": _Read(
        lambda query: session_states(user=query.profile.user_id, session=query.session_id),
        lambda _, rows: states_of(rows),
    ),
    "library": _Read(
        lambda query: library_query(user_id=query.profile.user_id, session_id=query.session_id),
        lambda _, rows: library_of(rows),
    ),
    "care": _Read(
        lambda query: care_query(user_id=query.profile.user_id, now=query.now),
        lambda query, rows: care_of(rows, now=query.now, zone=query.profile.zone),
    ),
    "steps": _Read(
        lambda query: next_steps(
            user=query.profile.user_id,
            session=query.session_id,
            since=query.now - RESOLVED_LATELY,
            yesterday=query.now - TAKEN_BACK_LATELY,
            today=query.today,
        ),
        lambda query, rows: steps_of(rows, query.profile.zone, today=query.today),
    ),
}
"""The parts of a `Life` by their fields, in the order of their queries."""
