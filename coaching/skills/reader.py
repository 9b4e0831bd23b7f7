"""Reads and checks `skills/<name>/SKILL.md`: YAML frontmatter, then the text. No database access."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coaching.models.skills import SkillKind
from coaching.skills import rules
from coaching.skills.callers import SkillTools, names_by_kind
from coaching.skills.signals import SIGNALS
from sessions_app.models import SessionKind

SKILL_FILE = "SKILL.md"
TEXT_SUFFIXES = frozenset({".md", ".txt"})


class SkillError(ValueError):
    """A skill file that can't be used. The message names the file and the error."""


class _Frontmatter(BaseModel):
    """The required frontmatter; no other keys are allowed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)]
    description: Annotated[str, Field(pattern=r"^\S[^\n]*$", max_length=200)]
    kind: Annotated[SkillKind, Field(strict=False)]
    signals: list[str]
    tools: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """One skill as in its file. `text` is the markdown below the frontmatter."""

    name: str
    description: str
    kind: SkillKind
    signals: tuple[str, ...]
    tools: tuple[str, ...]
    text: str

    @property
    def sha256(self) -> str:
        return hash_text(self.text)


def hash_text(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def skills_root() -> Path:
    """Return the folder of the project's skills."""
    return Path(settings.BASE_DIR) / "skills"


def skill_folders(root: Path) -> Sequence[Path]:
    """Return the folders of the skills under `root`, sorted by name."""
    return sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))


def read_skill(folder: Path) -> SkillFile:
    """Read one skill. Raises `SkillError` for an unreadable file and for invalid frontmatter."""
    where = f"{folder.name}/{SKILL_FILE}"
    try:
        source = (folder / SKILL_FILE).read_text(encoding="utf-8")
    except OSError as error:
        raise SkillError(f"{where}: can't be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise SkillError(f"{where}: is not text in UTF-8") from error
    opening, separator, rest = source.partition("---\n")
    header, closing, text = rest.partition("\n---\n")
    if opening.strip() or not separator or not closing:
        raise SkillError(f"{where}: bad frontmatter: there is none between two lines of ---")
    try:
        fields = _Frontmatter.model_validate(yaml.safe_load(header))
    except yaml.YAMLError as error:
        raise SkillError(f"{where}: bad frontmatter: it isn't YAML ({_one_line(error)})") from error
    except ValidationError as error:
        raise SkillError(f"{where}: bad frontmatter: {_explain(error)}") from error
    return SkillFile(
        name=fields.name,
        description=fields.description,
        kind=fields.kind,
        signals=tuple(fields.signals),
        tools=tuple(fields.tools),
        text=text.strip() + "\n",
    )


@cache
def read_skills(root: Path) -> tuple[SkillFile, ...]:
    """Read all skills under `root`, once per process. Raises `SkillError`."""
    return tuple(read_skill(folder) for folder in skill_folders(root))


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What skills may name, and what they must say.

    `sections` are the tags of a request, of which `speaking` speak for Sage. `takes` is how long each arc
    takes, by its skill.
    """

    offered_tools: Collection[str]
    skill_tools: SkillTools
    attributes: Collection[str]
    sections: Collection[str] = ()
    speaking: Collection[str] = ()
    takes: Mapping[str, str] = field(default_factory=dict)


def find_faults(root: Path, terms: Terms) -> list[str]:
    """Return every error of the skills under `root`, one line each: `<name>/SKILL.md: <error>`."""
    faults: list[str] = []
    skills: dict[str, tuple[Path, SkillFile]] = {}
    for folder in skill_folders(root) if root.is_dir() else ():
        try:
            skill = read_skill(folder)
        except SkillError as error:
            faults.append(str(error))
            continue
        found = _faults_of(skill, folder, offered_tools=terms.offered_tools)
        found += _tool_faults(skill, root, terms)
        found += _said_faults(skill, terms)
        if skill.name in skills:
            found.append(f"duplicate name {skill.name}: {skills[skill.name][0].name} has it too")
        else:
            skills[skill.name] = (folder, skill)
        faults += [f"{folder.name}/{SKILL_FILE}: {fault}" for fault in found]
    if not skills and not faults:
        faults.append(f"{root.name}: there are no skills")
    directory = rules.build_directory(
        ((skill.name, skill.kind, skill.description) for _, skill in skills.values()),
        names_by_kind(terms.skill_tools),
    )
    tokens = rules.estimate_tokens(directory)
    if tokens > rules.DIRECTORY_BUDGET:
        faults.append(
            f"{root.name}: the directory of arcs and approaches takes {tokens} tokens, "
            f"the budget is {rules.DIRECTORY_BUDGET}"
        )
    return faults


def read_skill_file(name: str, path: str, *, root: Path | None = None) -> str:
    """Read another text file of a skill; `path` is relative to its folder.

    Raises `SkillError` for anything but a text file inside that folder.
    """
    folder = ((root or skills_root()) / name).resolve()
    wanted = (folder / path).resolve() if "\x00" not in path else folder
    is_inside = folder.parent == (root or skills_root()).resolve() and wanted.is_relative_to(folder)
    if not is_inside or wanted.suffix not in TEXT_SUFFIXES or not wanted.is_file():
        raise SkillError(f"{name} has no file {path}")
    return wanted.read_text(encoding="utf-8")


def list_skill_files(name: str, *, root: Path | None = None) -> Sequence[str]:
    folder = (root or skills_root()) / name
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix in TEXT_SUFFIXES)
    return sorted(path.relative_to(folder).as_posix() for path in found if path.name != SKILL_FILE)


def _faults_of(skill: SkillFile, folder: Path, *, offered_tools: Collection[str]) -> list[str]:
    faults = []
    if skill.name != folder.name:
        faults.append(f"its name is {skill.name}, its folder {folder.name}")
    faults += rules.name_faults(
        tools=skill.tools,
        signals=skill.signals,
        offered_tools=offered_tools,
        known_signals=[signal.name for signal in SIGNALS],
    )
    called_by = {signal.name: signal.skill for signal in SIGNALS}
    faults += [
        f"signal {name} calls {called_by[name]}, not {skill.name}"
        for name in skill.signals
        if name in called_by and called_by[name] != skill.name
    ]
    faults += [
        f"signal {name} calls it and isn't among its signals"
        for name, called in called_by.items()
        if called == skill.name and name not in skill.signals
    ]
    return faults + rules.text_faults(name=skill.name, kind=skill.kind, text=skill.text)


def _said_faults(skill: SkillFile, terms: Terms) -> list[str]:
    """Return errors for what a skill must say: when it is used, how long it takes, who speaks."""
    faults = rules.description_faults(skill.kind, skill.description)
    if skill.name in terms.takes:
        faults += rules.size_faults(skill.description, skill.text, takes=terms.takes[skill.name])
    is_base = skill.kind == SkillKind.BASE
    return faults + rules.section_faults(
        skill.text, is_base=is_base, speaking=terms.speaking, known=terms.sections
    )


def _tool_faults(skill: SkillFile, root: Path, terms: Terms) -> list[str]:
    """Return errors about tool names in the text and in the skill's other files."""
    other_names = {*terms.attributes, *terms.sections, *SessionKind.values}
    texts = {"": skill.text} | {
        f"{path}: ": read_skill_file(skill.name, path, root=root)
        for path in list_skill_files(skill.name, root=root)
    }
    return [
        f"{where}{fault}"
        for where, text in texts.items()
        for fault in rules.tool_faults(
            text, declared=skill.tools, offered_tools=terms.offered_tools, other_names=other_names
        )
    ]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:160]


def _explain(error: ValidationError) -> str:
    lines = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(part) for part in fault["loc"])
        lines.append(f"{where}: {fault['msg']}" if where else fault["msg"])
    return "; ".join(lines)
