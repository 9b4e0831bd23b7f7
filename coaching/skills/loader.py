"""The skills of a session, in three levels: one line each, the full text, and further files.

A session keeps the skills of one moment, `skills_moment(session)`, usually its start: an operator's edit or a
new release reaches only later sessions, so the prompt prefix of a running one never changes. The rows'
history gives the skills of a moment. When a session's opening is rebuilt, the cache is lost anyway, so
`metadata[MOMENT_KEY]` may move the moment on, and a session that never expires gets newer skills.

A skill that wasn't synced by then is read from its file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.db.models import Count, DateTimeField, Max, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from coaching.models.skills import Skill, SkillKind
from coaching.skills import rules
from coaching.skills.callers import SkillTools, names_by_kind
from coaching.skills.reader import SkillError, hash_text, read_skills, skills_root
from sessions_app.models import Session
from sessions_app.queries import Rows, over_all, parameter, prepared

BASE_SKILL = "open-conversation"
COMPACT_BASE_SKILL = "compact-conversation"
"""For a model whose context is small."""
MOMENT_KEY = "skills_moment"


@prepared
def session_states() -> QuerySet[Any, Any]:
    """Return the query of a session's skill states, whose rows `states_of` takes."""
    moment = Cast(KeyTextTransform(MOMENT_KEY, "metadata"), DateTimeField())
    states = Skill.history.filter(history_date__lte=OuterRef("moment")).order_by()
    # States are only ever added, so their number at a moment identifies them.
    key = [Subquery(states.values_list(over_all(name, "history_id"))) for name in ("count", "max")]
    sessions = Session.of(parameter("user")).filter(id=parameter("session")).order_by()
    return sessions.annotate(moment=Coalesce(moment, "started_at")).values_list(*key, "moment")


_COLUMNS = ("name", "kind", "description", "override", "file_text", "is_retired")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSkill:
    name: str
    kind: SkillKind
    description: str
    text: str
    is_overridden: bool

    @property
    def version(self) -> str:
        """A short hash of the text, recorded with each turn."""
        return hash_text(self.text)[:12]


@dataclass(frozen=True, slots=True)
class SkillLibrary:
    skills: Mapping[str, LoadedSkill]

    def __getitem__(self, name: str) -> LoadedSkill:
        """Return a skill by its name or its arc (`open_day`). Raises `SkillError`."""
        found = self.skills.get(name) or self.skills.get(rules.skill_of_arc(name))
        if found is None:
            raise SkillError(f"There is no skill {name}.")
        return found

    def names(self, kind: SkillKind) -> tuple[str, ...]:
        return tuple(sorted(skill.name for skill in self.skills.values() if skill.kind == kind))

    def directory(self, tools: SkillTools) -> str:
        """Return the first level: a line for each arc and approach."""
        skills = ((skill.name, skill.kind, skill.description) for skill in self.skills.values())
        return rules.build_directory(skills, names_by_kind(tools))

    def base_prompt(self, tools: SkillTools, *, base_skill: str = BASE_SKILL) -> str:
        """Return the base skill; where `tools` bring skills, with the directory below it."""
        text = self[base_skill].text
        return f"{text}\n## Arcs and Approaches\n\n{self.directory(tools)}\n" if tools else text


def skills_moment(session: Session) -> datetime:
    moved = session.metadata.get(MOMENT_KEY)
    return datetime.fromisoformat(moved) if moved else session.started_at


def read_library(*, moment: datetime | None = None) -> SkillLibrary:
    """Read the skills of `moment`, or the current ones, with one query."""
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


def load_library(moment: datetime, states: "States | None" = None) -> SkillLibrary:
    """Return the skills of `moment`, cached by the state of the history.

    `states` are what was read for a session ahead; they count where its moment is this one.
    """
    if states is not None and states.moment == moment:
        key = states.key
    else:
        states_then = Skill.history.filter(history_date__lte=moment)
        number, last = states_then.aggregate(Count("history_id"), Max("history_id")).values()
        key = number, last
    return _library_of(key, skills_root(), _Moment(moment))


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """The states of the skills that a session uses, identified by `key`, and its moment."""

    key: tuple[int, int | None]
    moment: datetime


def states_of(rows: Rows) -> States | None:
    """Parse the rows of `session_states`; None without such a session."""
    return next((States(key=(number, last), moment=moment) for number, last, moment in rows), None)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A moment that doesn't count as a cache key: the same history means the same skills."""

    value: datetime = field(compare=False)


@lru_cache(maxsize=16)
def _library_of(_states: tuple[int, int | None], _root: Path, moment: _Moment) -> SkillLibrary:
    return read_library(moment=moment.value)


def _states_at(moment: datetime) -> Any:
    """Return the rows of the history at a moment; of two with the same time, the one written last."""
    states = Skill.history.filter(history_date__lte=moment)
    return states.order_by("name", "-history_date", "-history_id").distinct("name")


def skill_text(name: str, *, moment: datetime | None = None) -> str:
    """Return the second level: the operator's text of a skill, or else the file's. Raises `SkillError`."""
    return read_library(moment=moment)[name].text
