"""The skills that hold for a session, in three levels: a line each, the whole text, the files beside it.

A session goes on with the skills that held when it began: an operator's edit and a new release reach the
sessions that start afterwards, and the prefix of a running one stays the same bytes. So what holds is a
matter of a moment, `skills_moment(session)`, and the history of the rows answers it. Whoever rebuilds a
session's opening loses the cache anyway and may move the moment on, by `metadata[MOMENT_KEY]`: a
conversation that never expires isn't left with last year's skills.

A skill that wasn't synced by then is read from its file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

from coaching.models.skills import Skill, SkillKind
from coaching.skills import rules
from coaching.skills.callers import SkillTools, names_by_kind
from coaching.skills.reader import (
    SkillError,
    files_beside,
    hash_text,
    read_beside,
    read_skills,
    skills_root,
)
from sessions_app.models import Session
from sessions_app.queries import Query, Rows, run_query

BASE_SKILL = "open-conversation"
MOMENT_KEY = "skills_moment"

# States are only ever added, so their number at a moment says which ones they are. A user waits for it.
_STATES_SQL = """
    SELECT count(*), max(history_id) FROM coaching_historicalskill WHERE history_date <= %(moment)s
"""
_SESSION_STATES_SQL = """
    SELECT count(history_id), max(history_id), moment.at FROM (
        SELECT coalesce((metadata ->> %(key)s::text)::timestamptz, started_at) AS at
        FROM sessions_app_session WHERE id = %(session)s AND user_id = %(user)s
    ) AS moment LEFT JOIN coaching_historicalskill ON history_date <= moment.at GROUP BY moment.at
"""
_COLUMNS = ("name", "kind", "description", "override", "file_text", "is_retired")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSkill:
    """One skill as it held at the moment."""

    name: str
    kind: SkillKind
    description: str
    text: str
    is_overridden: bool

    @property
    def version(self) -> str:
        """A short name of exactly this text, for the record of a turn."""
        return hash_text(self.text)[:12]


@dataclass(frozen=True, slots=True)
class SkillLibrary:
    """All skills as they held at one moment."""

    skills: Mapping[str, LoadedSkill]

    def __getitem__(self, name: str) -> LoadedSkill:
        """Return a skill by its name; an arc's own name (`open_day`) will do.

        Raises `SkillError`.
        """
        found = self.skills.get(name) or self.skills.get(rules.skill_of_arc(name))
        if found is None:
            raise SkillError(f"There is no skill {name}.")
        return found

    def names(self, kind: SkillKind) -> tuple[str, ...]:
        """Return the names of the skills of a kind, sorted."""
        return tuple(sorted(skill.name for skill in self.skills.values() if skill.kind == kind))

    def directory(self, tools: SkillTools) -> str:
        """Return the first level: a line for each arc and approach."""
        skills = ((skill.name, skill.kind, skill.description) for skill in self.skills.values())
        return rules.build_directory(skills, names_by_kind(tools))

    def base_prompt(self, tools: SkillTools) -> str:
        """Return the base skill with the directory below it."""
        return f"{self[BASE_SKILL].text}\n## Arcs and Approaches\n\n{self.directory(tools)}\n"


def skills_moment(session: Session) -> datetime:
    """Return the moment whose skills hold for a session."""
    moved = session.metadata.get(MOMENT_KEY)
    return datetime.fromisoformat(moved) if moved else session.started_at


def read_library(*, moment: datetime | None = None) -> SkillLibrary:
    """Read the skills that held at `moment`, or hold now, with one query."""
    found = {
        skill.name: LoadedSkill(
            name=skill.name,
            kind=skill.kind,
            description=skill.description,
            text=skill.text,
            is_overridden=False,
        )
        for skill in read_skills(skills_root())
    }
    states = Skill.objects.all() if moment is None else _states_at(moment)
    for row in states.values_list(*_COLUMNS, named=True):
        if row.is_retired:
            found.pop(row.name, None)
            continue
        found[row.name] = LoadedSkill(
            name=row.name,
            kind=SkillKind(row.kind),
            description=row.description,
            text=row.override or row.file_text,
            is_overridden=bool(row.override),
        )
    return SkillLibrary(found)


def library_at(moment: datetime, states: "States | None" = None) -> SkillLibrary:
    """Return the skills that held at `moment`, read only where no earlier call met the same history.

    `states` are what was read for a session ahead; they count where its moment is this one.
    """
    if states is not None and states.moment == moment:
        key = states.key
    else:
        ((number, last),) = run_query(Query(_STATES_SQL, {"moment": moment}))
        key = number, last
    return _library_of(key, skills_root(), _Moment(moment))


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """Which states of the skills a session goes on with, by their `key`, and its moment."""

    key: tuple[int, int | None]
    moment: datetime


def states_query(user_id: int, session_id: UUID) -> Query:
    """Ask for the states of a session of the user's."""
    return Query(_SESSION_STATES_SQL, {"user": user_id, "session": session_id, "key": MOMENT_KEY})


def states_of(rows: Rows) -> States | None:
    """Return what the answer says; None where there is no such session."""
    return next((States(key=(number, last), moment=moment) for number, last, moment in rows), None)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A moment that is no key: all at which the history was the same have the same skills."""

    value: datetime = field(compare=False)


@lru_cache(maxsize=16)
def _library_of(_states: tuple[int, int | None], _root: Path, moment: _Moment) -> SkillLibrary:
    return read_library(moment=moment.value)


def _states_at(moment: datetime) -> Any:
    """Return the rows of history that held at a moment; of two with the same time, the one written last."""
    states = Skill.history.filter(history_date__lte=moment)
    return states.order_by("name", "-history_date", "-history_id").distinct("name")


def skill_text(name: str, *, moment: datetime | None = None) -> str:
    """Return the second level: a skill's whole text, an operator's if there is one, else the file's.

    Raises `SkillError` for an unknown name.
    """
    return read_library(moment=moment)[name].text


def read_skill_file(name: str, path: str) -> str:
    """Return the third level: a text file beside a skill's own.

    Raises `SkillError` for whatever isn't a text file inside the skill's folder.
    """
    return read_beside(name, path)


def list_skill_files(name: str) -> tuple[str, ...]:
    """Return the paths that `read_skill_file` takes for a skill."""
    return tuple(files_beside(name))
