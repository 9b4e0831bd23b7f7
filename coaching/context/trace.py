"""The record of how a prompt was built: the skills in it and who called each, the sections and their size.

Only names and numbers, no text of a person. It is stored with the turn when its prompt is built; what the
turn called and cost is added later (`coaching.transcript.trace` reads both).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coaching.context.opening import Opening, Statement
from coaching.context.pipeline import Context
from coaching.context.statement import SKILL_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The parts of a request. `earlier` go with messages inside the window, `newest` with the last.

    `in_results` are the skills that calls have loaded, each with its caller; `named` those that the newest
    message names. The numbers are tokens: `frame` is prompt and tools, `window` the messages without context.
    """

    context: Context
    opening: Opening
    earlier: Sequence[Statement]
    newest: Statement
    in_results: Mapping[str, str]
    named: Sequence[str]
    arc: str
    frame: int
    window: int


def trace_of(sent: Sent) -> dict[str, Any]:
    """Return the trace as plain JSON values."""
    called = sent.context.called
    skills = {
        "arc": sent.arc,
        "offered": called.arc if "offer" in sent.newest.sections else "",
        "approaches": list(called.approaches),
        "said": [name for name, _ in _skills_in(sent.newest)],
        "in_play": _in_play(sent),
        "named": list(sent.named),
        "matches": [asdict(match) for match in called.trace],
    }
    context = {
        "opening": dict(sent.opening.statement.sizes),
        "earlier": _added_up(statement.sizes for statement in sent.earlier),
        "message": dict(sent.newest.sizes),
        "frame": sent.frame,
        "window": sent.window,
        "left_out": sorted(sent.context.unknown),
        "brief": {"version": sent.opening.brief, "covers": sent.opening.brief_covers},
    }
    return {"skills": skills, "context": context}


def _in_play(sent: Sent) -> list[dict[str, str]]:
    """Return each skill in the request once, at its newest place, with its caller."""
    found: dict[str, dict[str, str]] = {}

    def note(name: str, caller: str, where: str) -> None:
        found.pop(name, None)
        found[name] = {"skill": name, "caller": caller, "where": where}

    for name, caller in _skills_in(sent.opening.statement):
        note(name, caller, "opening")
    for statement in sent.earlier:
        for name, caller in _skills_in(statement):
            note(name, caller, "earlier")
    for name, caller in sent.in_results.items():
        note(name, caller, "result")
    for name, caller in _skills_in(sent.newest):
        note(name, caller, "message")
    return list(found.values())


def _skills_in(statement: Statement) -> list[tuple[str, str]]:
    return [
        (key.removeprefix(SKILL_KEY), caller)
        for key, caller in statement.sections.items()
        if key.startswith(SKILL_KEY)
    ]


def _added_up(sizes: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in sizes:
        total.update(each)
    return dict(total)
