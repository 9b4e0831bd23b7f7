"""Reads and checks `skills/calls.yaml`: who may call what when, one table for all skills. No database access.

The skills' own texts say it in words for the model; the table has no place in a prompt.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from coaching.models import FileType
from coaching.models.skills import SkillKind
from coaching.skills.reader import read_skills
from coaching.skills.signals import DAY_ARCS, SIGNALS
from sessions_app.models import SessionKind

TABLE_FILE = "calls.yaml"
ONLY_ASKED = "Use it when the user asks"
"""A tool whose description says so isn't called unasked."""

When = Literal["unasked", "agreed", "asked"]


class SkillRow(BaseModel):
    """What a skill may call, in which conversations, and what it saves there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    during: tuple[SessionKind, ...]
    saves: tuple[FileType, ...] = ()
    tools: dict[str, When]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What the table is compared with: the tools of a skill's frontmatter, and the types its text saves."""

    kind: SkillKind
    tools: Collection[str]
    saved_types: Collection[str]


Writable = Mapping[SessionKind, Collection[FileType]]


def find_table_faults(
    root: Path, *, saving: str, writable: Writable, descriptions: Mapping[str, str]
) -> Sequence[str]:
    """Return where the table and the skills under `root` disagree, one line each."""
    try:
        table = read_table(root)
    except ValueError as error:
        return [str(error)]
    skills = {
        skill.name: Listed(
            kind=skill.kind,
            tools=skill.tools,
            saved_types=[each for each in FileType if f"`{saving}` as {each}" in skill.text],
        )
        for skill in read_skills(root)
    }
    return table_faults(table, skills, saving=saving, writable=writable, descriptions=descriptions)


def read_table(root: Path) -> Mapping[str, SkillRow]:
    """Read the table under `root`. Raises `ValueError` with one line for an unreadable one."""
    try:
        values: Any = yaml.safe_load((root / TABLE_FILE).read_text(encoding="utf-8"))
        return {str(name): SkillRow.model_validate(row) for name, row in dict(values or {}).items()}
    except OSError as error:
        raise ValueError(f"{TABLE_FILE}: can't be read ({error.strerror})") from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise ValueError(f"{TABLE_FILE}: {' '.join(str(error).split())[:200]}") from error


def table_faults(
    table: Mapping[str, SkillRow],
    skills: Mapping[str, Listed],
    *,
    saving: str,
    writable: Writable,
    descriptions: Mapping[str, str],
) -> Sequence[str]:
    """Return where the table disagrees with itself, with the skills, or with what conversations allow.

    Skills for documents have no row: nobody is asked where they are used. `descriptions` are those of tools,
    and `saving` is the tool that saves files.
    """
    expected = {name for name, skill in skills.items() if skill.kind != SkillKind.DOCUMENT}
    faults = [f"{name} has no row" for name in sorted(expected - table.keys())]
    faults += [f"{name} is no skill of a conversation" for name in sorted(table.keys() - expected)]
    for name in sorted(table.keys() & expected):
        found = list(_tool_faults(table[name], skills[name]))
        found += _type_faults(table[name], skills[name], writable, saving=saving)
        faults += [f"{name}: {fault}" for fault in [*found, *_signal_faults(name, table[name])]]
    return [f"{TABLE_FILE}: {fault}" for fault in [*faults, *_description_faults(table, descriptions)]]


def _tool_faults(row: SkillRow, skill: Listed) -> Iterator[str]:
    yield from (
        f"its frontmatter has {tool}, the table doesn't" for tool in skill.tools if tool not in row.tools
    )
    yield from (f"its frontmatter doesn't have {tool}" for tool in row.tools if tool not in skill.tools)


def _type_faults(row: SkillRow, skill: Listed, writable: Writable, *, saving: str) -> Iterator[str]:
    if bool(row.saves) != (saving in row.tools):
        yield f"{saving} and the types that it saves go together"
    for kind in row.during:
        wrong = [each for each in row.saves if each not in writable[kind]]
        yield from (f"{each} can't be saved in {kind}" for each in wrong)
    yield from (
        f"its text saves {each}, the table doesn't" for each in skill.saved_types if each not in row.saves
    )


def _signal_faults(name: str, row: SkillRow) -> Iterator[str]:
    """Yield where a signal and the table disagree on whether an approach is used in the arcs of a day."""
    for signal in SIGNALS:
        if signal.skill == name and not signal.is_arc:
            has_day_arcs = set(DAY_ARCS) <= set(row.during)
            if has_day_arcs != signal.fits_day_arcs:
                brings = "brings" if signal.fits_day_arcs else "never brings"
                yield f"signal {signal.name} {brings} it in a day's arc"


def _description_faults(table: Mapping[str, SkillRow], descriptions: Mapping[str, str]) -> Iterator[str]:
    for tool, description in descriptions.items():
        if ONLY_ASKED not in description or " or " in description.partition(ONLY_ASKED)[2].partition(".")[0]:
            continue
        unasked = [name for name, row in table.items() if row.tools.get(tool) == "unasked"]
        if unasked:
            yield f"{tool}'s description says only when asked, and {', '.join(unasked)} call it unasked"
