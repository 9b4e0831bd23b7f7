"""A safety plan as text: seven sections after Stanley and Brown, and whatever else somebody wrote. Pure.

The stored form is stable: English headings in a fixed order, all of them. Reading is lenient, because models
and people write headings at other levels, in bold, with numbers, or in their own language. Nothing is
dropped: text that belongs to no section is kept under `Other notes`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MAX_HEADING_CHARACTERS = 120
CLEARED = "-"
"""As the whole text of a section in Sage's save, it empties the section. A section that is left out stays."""

_ENTRY_NUMBER = re.compile(r"[0-9]{1,2}[.)][ \t]*")


class PlanSection(StrEnum):
    """The sections, in the order of the plan. The values are names of form fields."""

    WARNING_SIGNS = "warning_signs"
    WHAT_HELPS = "what_helps"
    PLACES = "places"
    WHOM_TO_CALL = "whom_to_call"
    PROFESSIONALS = "professionals"
    SAFER = "safer"
    WHAT_MATTERS = "what_matters"


HEADINGS: Mapping[PlanSection, str] = {
    PlanSection.WARNING_SIGNS: "Warning signs",
    PlanSection.WHAT_HELPS: "What helps me",
    PlanSection.PLACES: "Places and people",
    PlanSection.WHOM_TO_CALL: "Whom I can call",
    PlanSection.PROFESSIONALS: "Professionals",
    PlanSection.SAFER: "Making it safer",
    PlanSection.WHAT_MATTERS: "What matters to me",
}
OTHER_NOTES = "Other notes"

_OTHER_NAMES: Mapping[PlanSection, tuple[str, ...]] = {
    PlanSection.WARNING_SIGNS: ("my warning signs", "warnzeichen", "señales de alerta", "señales de aviso"),
    PlanSection.WHAT_HELPS: ("what helps", "was mir hilft", "lo que me ayuda", "qué me ayuda"),
    PlanSection.PLACES: ("people and places", "orte und menschen", "lugares y personas"),
    PlanSection.WHOM_TO_CALL: (
        "who i can call", "whom to call", "people i can call", "wen ich anrufen kann", "a quién puedo llamar",
    ),
    PlanSection.PROFESSIONALS: ("professionals and agencies", "fachleute", "profesionales"),
    PlanSection.SAFER: (
        "making my surroundings safer", "was es sicherer macht", "cómo estar más a salvo",
        "hacerlo más seguro",
    ),
    PlanSection.WHAT_MATTERS: ("reasons to live", "was mir wichtig ist", "lo que me importa"),
}  # fmt: skip
_REST_NAMES = ("other notes", "weitere notizen", "otras notas")
_TITLES = frozenset(
    {"safety plan", "my safety plan", "sicherheitsplan", "mein sicherheitsplan", "plan de seguridad",
     "mi plan de seguridad"}
)  # fmt: skip
_SECTIONS: Mapping[str, PlanSection] = {
    name: section
    for section, heading in HEADINGS.items()
    for name in (heading.casefold(), *_OTHER_NAMES[section])
}

_NAMED = re.compile(
    r"\b(?:safety|crisis)[ -]plan\b|\b(?:sicherheits|krisen)plan\b|\bplan de (?:seguridad|crisis)\b",
    re.IGNORECASE,
)
_REST, _TITLE, _UNKNOWN = "rest", "title", "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyPlan:
    """A plan's texts by section, without empty ones, and `rest`, what belongs to none."""

    texts: Mapping[PlanSection, str] = field(default_factory=dict)
    rest: str = ""

    def text(self, section: PlanSection) -> str:
        return self.texts.get(section, "")

    @property
    def is_empty(self) -> bool:
        return not self.texts and not self.rest


def names_plan(text: str) -> bool:
    """Return whether a message names a safety plan."""
    return _NAMED.search(text) is not None


def make_plan(texts: Mapping[PlanSection, str], rest: str = "") -> SafetyPlan:
    """Return a plan of these texts, trimmed."""
    trimmed = {section: _trimmed(texts.get(section, "")) for section in PlanSection}
    return SafetyPlan(texts={section: text for section, text in trimmed.items() if text}, rest=_trimmed(rest))


def parse_plan(body: str) -> SafetyPlan:
    """Read a plan from the body of its file. A heading that stands twice adds to its section."""
    found: dict[PlanSection, list[list[str]]] = {}
    rest: list[list[str]] = [[]]
    lines = rest[-1]
    for line in body.replace("\r\n", "\n").split("\n"):
        match _meaning(line):
            case PlanSection() as section:
                lines = []
                found.setdefault(section, []).append(lines)
            case "rest":
                lines = []
                rest.append(lines)
            case "unknown" if lines is rest[-1]:
                lines.append(line)
            case "unknown":
                lines = [line]
                rest.append(lines)
            case "title":
                continue
            case _:
                lines.append(_unescaped(line))
    return make_plan({section: _joined(parts) for section, parts in found.items()}, _joined(rest))


def render_plan(plan: SafetyPlan, headings: Mapping[PlanSection, str] = HEADINGS, notes: str = "") -> str:
    """Return the body of the plan's file; with other headings it is only for showing."""
    parts = []
    for section in PlanSection:
        text = _escaped(plan.text(section), is_rest=False)
        parts.append(f"## {headings[section]}\n\n{text}" if text else f"## {headings[section]}")
    if plan.rest:
        parts.append(f"## {notes or OTHER_NOTES}\n\n{_escaped(plan.rest, is_rest=True)}")
    return "\n\n".join(parts)


def apply_save(held: SafetyPlan, saved: SafetyPlan) -> SafetyPlan:
    """Return what a save by Sage makes of a plan: sections that it leaves out stay, and so do other notes."""
    texts = dict(held.texts)
    for section, text in saved.texts.items():
        texts[section] = "" if text == CLEARED else text
    if not saved.rest or saved.rest in held.rest:
        rest = held.rest
    elif held.rest in saved.rest:
        rest = saved.rest
    else:
        rest = f"{held.rest}\n\n{saved.rest}"
    return make_plan(texts, rest)


def _meaning(line: str) -> PlanSection | str | None:
    """Return what a line begins; None for ordinary text."""
    text = line.strip()
    if len(text) > MAX_HEADING_CHARACTERS:
        return None
    level, title = _title_in(text)
    if level is None:
        return None
    name = _ENTRY_NUMBER.sub("", title, count=1).strip("*_: \t").casefold()
    if name in _SECTIONS:
        return _SECTIONS[name]
    if name in _REST_NAMES:
        return _REST
    if name in _TITLES:
        return _TITLE
    return _UNKNOWN if level in (1, 2) else None


def _title_in(text: str) -> tuple[int | None, str]:
    """Return the level of a heading and its words; level 0 for a line in bold."""
    if text.startswith("#"):
        title = text.lstrip("#")
        level = len(text) - len(title)
        is_heading = level <= 6 and title[:1] in (" ", "\t")
        return (level, title.strip(" \t#")) if is_heading else (None, "")
    bold = text.rstrip(":")
    is_bold = len(bold) > 4 and bold.startswith("**") and bold.endswith("**")
    return (0, bold[2:-2]) if is_bold else (None, "")


def _escaped(text: str, *, is_rest: bool) -> str:
    """Return text whose lines are read as text again, also where one looks like a heading."""
    lines = text.split("\n")
    return "\n".join(f"\\{line}" if _is_escapable(line, is_rest=is_rest) else line for line in lines)


def _is_escapable(line: str, *, is_rest: bool) -> bool:
    meaning = _meaning(line.lstrip("\\"))
    # A heading of somebody's own stays one among the other notes.
    return meaning is not None and not (is_rest and meaning == _UNKNOWN and not line.startswith("\\"))


def _unescaped(line: str) -> str:
    return line[1:] if line.startswith("\\") and _meaning(line.lstrip("\\")) is not None else line


def _trimmed(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _joined(parts: Iterable[Iterable[str]]) -> str:
    texts = ("\n".join(lines).strip() for lines in parts)
    return "\n\n".join(text for text in texts if text)
