"""The rules for skills: six headings in order, known tools and signals, a size within the budget. No I/O."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from coaching.models.skills import SkillKind

HEADINGS = ("Goal", "When to Use", "Context Needed", "Tools to Use", "Constraints", "Guidance")

# In tokens as `estimate_tokens` counts them; None is no limit.
KIND_BUDGETS: dict[SkillKind, int | None] = {
    SkillKind.BASE: 2800,
    SkillKind.ARC: 500,
    SkillKind.APPROACH: 350,
    SkillKind.DOCUMENT: None,
}
NAME_BUDGETS = {
    "compact-conversation": 1_350,
    "compact-classify": 450,
    "open-day": 350,
    "close-day": 300,
    "weekly-checkin": 450,
    "pattern-review": 250,
    "life-plan-revision": 250,
    "capture-review": 250,
}
DIRECTORY_BUDGET = 200

_CHARACTERS_PER_TOKEN = 4
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_WHEN = re.compile(r"\w,? when \S")
_SECTION = re.compile(r"</?([a-z_]+)[^<>\n]*>")
# The form of tool names, which attributes of files and arcs share.
_NAME = re.compile(r"(?<![\w/.-])[a-z]+(?:_[a-z]+)+(?![\w/-])")


def estimate_tokens(text: str) -> int:
    """Estimate a text's tokens: one per four characters."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def budget_of(name: str, kind: SkillKind) -> int | None:
    """Return the maximum tokens of a skill's text; None for no limit."""
    return NAME_BUDGETS.get(name, KIND_BUDGETS[kind])


def arc_of(name: str) -> str:
    """Return the arc of a skill: `open_day` for `open-day`."""
    return name.replace("-", "_")


def skill_of_arc(arc: str) -> str:
    """Return the skill of an arc: `open-day` for `open_day`."""
    return arc.replace("_", "-")


def build_directory(skills: Iterable[tuple[str, SkillKind, str]], tools: Mapping[SkillKind, str]) -> str:
    """Build the base prompt's list of arcs and approaches, from name, kind and description.

    `tools` are the tools for each kind of skill.
    """
    ordered = sorted(skills)
    arcs = [f"- {arc_of(name)}: {says}" for name, kind, says in ordered if kind == SkillKind.ARC]
    approaches = [f"- {name}: {says}" for name, kind, says in ordered if kind == SkillKind.APPROACH]
    parts = (
        (f"Arcs (`{tools[SkillKind.ARC]}`):", arcs),
        (f"Approaches (`{tools[SkillKind.APPROACH]}`):", approaches),
    )
    return "\n\n".join("\n".join([title, *lines]) for title, lines in parts if lines)


def without_tools(text: str, tools: Collection[str]) -> str:
    """Return a skill's text without the sentences that name one of `tools`, and without empty sections."""
    kept: list[str] = []
    for line in text.split("\n"):
        if not any(tool in line for tool in tools):
            kept.append(line)
            continue
        sentences = line.replace(". ", ".\n").split("\n")
        said = [sentence for sentence in sentences if not any(tool in sentence for tool in tools)]
        kept += [" ".join(said)] if said else []
    sections = "\n".join(kept).split("\n## ")
    whole = [section for section in sections if section.partition("\n")[2].strip()]
    return "\n## ".join(whole)


def text_faults(*, name: str, kind: SkillKind, text: str) -> list[str]:
    """Return the errors of a skill's text, one sentence each."""
    before, sections = _sections(text)
    faults = _heading_faults([title for title, _ in sections])
    if before.strip():
        faults.append(f"text before the first heading: “{before.strip().splitlines()[0][:40]}”")
    faults += [
        f"nothing stands under “{title.lstrip('#').strip()}”" for title, body in sections if not body.strip()
    ]
    tokens, budget = estimate_tokens(text), budget_of(name, kind)
    if budget is not None and tokens > budget:
        faults.append(f"{tokens} tokens, the budget is {budget}")
    return faults


def description_faults(kind: SkillKind, description: str) -> list[str]:
    """Return the error of a line of the directory that says what a skill does and not when."""
    is_listed = kind in (SkillKind.ARC, SkillKind.APPROACH)
    if not is_listed or _WHEN.search(description):
        return []
    return ["its description doesn't say when: “<what it does> when <they need it>”"]


def size_faults(description: str, text: str, *, takes: str) -> list[str]:
    """Return the errors of an arc that doesn't say how long it takes."""
    return [
        f"its {where} doesn't say that it takes {takes}"
        for where, said in (("description", description), ("text", " ".join(text.split())))
        if takes.lower() not in said.lower()
    ]


def section_faults(
    text: str, *, is_base: bool, speaking: Collection[str], known: Collection[str]
) -> list[str]:
    """Return the errors about sections that a text names as `<name>`.

    The base names exactly the sections that speak for Sage; nothing names one that doesn't exist.
    """
    named = list(dict.fromkeys(_SECTION.findall(text)))
    faults = [f"its text names <{name}>, which no request has" for name in named if name not in known]
    if is_base:
        faults += [f"it doesn't say that <{name}> speaks for Sage" for name in speaking if name not in named]
        faults += [
            f"it names <{name}>, which doesn't speak for Sage"
            for name in named
            if name in known and name not in speaking
        ]
    return faults


def name_faults(
    *,
    tools: Iterable[str],
    signals: Iterable[str],
    offered_tools: Collection[str],
    known_signals: Collection[str],
) -> list[str]:
    """Return errors for tools in the frontmatter that aren't offered, and for unknown signals."""
    faults = [
        f"its frontmatter names the tool {tool}, which isn't offered"
        for tool in tools
        if tool not in offered_tools
    ]
    return faults + [f"unknown signal {signal}" for signal in signals if signal not in known_signals]


def tool_faults(
    text: str, *, declared: Collection[str], offered_tools: Collection[str], other_names: Collection[str]
) -> list[str]:
    """Return the errors about tool names in a text, in backticks or not.

    `other_names` have the form of tool names.
    """
    faults = []
    for name in dict.fromkeys(_NAME.findall(text)):
        if name in offered_tools and name not in declared:
            faults.append(f"its text names the tool {name}, its frontmatter doesn't")
        elif name not in offered_tools and name not in other_names:
            faults.append(f"its text names {name}, which is not an offered tool")
    return faults


def _sections(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the text before the first heading, and each heading as written (`## Goal`) with its text."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in text.splitlines():
        if found := _FENCE.match(line):
            fence = "" if fence == found[1] else fence or found[1]
        heading = None if fence else _HEADING.fullmatch(line)
        if heading:
            parts.append((f"{heading[1]} {heading[2]}", []))
        else:
            parts[-1][1].append(line)
    (_, before), *sections = parts
    return "\n".join(before), [(title, "\n".join(body)) for title, body in sections]


def _heading_faults(titles: Sequence[str]) -> list[str]:
    wanted = [f"## {heading}" for heading in HEADINGS]
    faults = [f"missing heading “{title}”" for title in wanted if title not in titles]
    faults += [f"heading “{title}” is not one of the six" for title in titles if title not in wanted]
    faults += [f"heading “{title}” stands twice" for title in wanted if titles.count(title) > 1]
    there = list(dict.fromkeys(title for title in titles if title in wanted))
    if there != [title for title in wanted if title in titles]:
        faults.append(f"the headings are out of order: {', '.join(title[3:] for title in there)}")
    return faults
