"""The files that a walk writes: markdown of the person's own words, merged with the file that is there.

A line of the tour's is a heading, a quote, a bullet with a bold start, or italic; any other line was written
by somebody else and stays. There is no date in it, so equal answers give equal files.
"""

import re
from collections.abc import Sequence
from typing import Any

from coaching.practice.coach import texts
from coaching.practice.coach.hearing import one_line, rating_in
from coaching.practice.coach.state import State
from coaching.practice.coach.tables import DOMAINS, File, Given, part_title
from coaching.practice.script import ToolUse
from coaching.safety.plan import HEADINGS, parse_plan

FOOT = texts.said("foot")
_OLD_FOOT = "*Written down by the practice coach, in your own words.*"
_FRONTMATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FILE_TAG = re.compile(r"\A\s*<file [^>]*>\n|</file>\s*\Z")
_OWN_LINE = re.compile(r"\s*\Z|#|- [“„«]|- \*\*|\*.*\*\Z")
_QUOTE = re.compile(r"^- [“„«].*[“”»]$", re.MULTILINE)
_MAX_CHARACTERS = 90_000
_STATUSES = frozenset({"thriving", "good", "okay", "needs_attention", "in_crisis"})


def is_to_write(file: File, state: State) -> bool:
    """Return whether a file has something to hold: "later" is no answer."""
    nothing = Given(words="")
    is_refused = state.walk.asks_before_writing and state.given.get("yes", nothing).value != "yes"
    if is_refused or state.given.get("ground", nothing).value == "leave":
        return False
    given = [state.given[name] for name in file.slots if name in state.given]
    return any(not each.is_later for each in given)


def changed_at(file: File, state: State) -> int:
    """Return the position of the last answer that changes a file."""
    return max((state.given[name].at for name in file.slots if name in state.given), default=0)


def as_call(file: File, state: State, stored: str, *, is_again: bool) -> ToolUse:
    """Return the call that saves a file. `stored` is what `read_file` has returned, empty for no file.

    `is_again`: this walk has saved it before, so attributes that no longer hold go.
    """
    body = _FRONTMATTER.sub("", _FILE_TAG.sub("", stored)).strip()
    content = _plan(file, state, body) if file.is_plan else _merged(file, state, body)
    values: dict[str, Any] = {"file_type": file.file_type, "content": content}
    if file.file_name:
        values["file_name"] = file.file_name
    answered = {name: state.given[slot] for name, slot in file.attributes.items() if slot in state.given}
    attributes = {name: _attribute(name, given) for name, given in answered.items()}
    if given := {name: value for name, value in attributes.items() if value}:
        values["attributes"] = given
    if is_again and (gone := [name for name in file.attributes if not attributes.get(name)]):
        values["remove"] = gone
    return ToolUse("save_file", values)


def _plan(file: File, state: State, body: str) -> str:
    """Return the sections that were answered, each below what stood in it; the server keeps the others."""
    held, parts = parse_plan(body), []
    sections = {heading: section for section, heading in HEADINGS.items()}
    for heading, names in file.sections.items():
        words = [state.given[name].words for name in names if name in state.given]
        said = [f"- {line.strip()}" for text in words for line in text.splitlines() if line.strip()]
        if any(name in state.given and not state.given[name].is_later for name in names):
            stands = [line for line in held.text(sections[heading]).splitlines() if line.strip()]
            parts.append(f"## {heading}\n\n" + "\n".join(dict.fromkeys([*stands, *said])))
    return "\n\n".join(parts)[:_MAX_CHARACTERS]


def _merged(file: File, state: State, body: str) -> str:
    kept_below = next((f"## {each}" for each in texts.in_all("kept") if f"## {each}" in body), "")
    ours, _, older = body.partition(kept_below) if kept_below else (body, "", "")
    is_ours = _OLD_FOOT in ours or texts.stands_in("foot", ours)
    kept = [line for line in ours.splitlines() if not (is_ours and _OWN_LINE.match(line))] if body else []
    kept += older.strip().splitlines()
    quotes = _QUOTE.findall(ours) if file.appends and is_ours else []
    parts = [f"# {file.title}"]
    for heading, names in file.sections.items():
        lines = [
            *quotes,
            *(line for name in names if name in state.given for line in _lines(name, names, state)),
        ]
        quotes = []
        parts += [f"## {heading}\n\n" + "\n".join(dict.fromkeys(lines))] if lines else []
    parts.append(texts.said("foot"))
    if any(line.strip() for line in kept):
        parts.append(f"## {texts.said('kept')}\n\n" + "\n".join(kept).strip())
    return ("\n\n".join(parts) + "\n")[:_MAX_CHARACTERS]


def _lines(name: str, names: Sequence[str], state: State) -> list[str]:
    """Return a slot's lines below its heading; in a list of parts each has its name."""
    given = state.given[name]
    titles = {slot.name: slot.title for slot in state.walk.slots}
    label = f"**{titles[name]}**: " if len(names) > 2 else ""
    later = texts.said("left_for_later")
    if given.ratings:
        rated = [(part, given.ratings[part]) for part in DOMAINS if part in given.ratings]
        return [f"- **{part_title(part)}**: {values.get('new')}" for part, values in rated]
    if given.is_later:
        return [f"- {label}{later}"] if label else []
    if given.items:
        return [f"- **{item.replace('*', '')}**" for item in given.items]
    if label:
        return [f"- {label}{one_line(given.words)}"]
    words = given.words.lstrip("#>*-+| ")
    return [f"- **{words}**" if given.value else f"- {texts.said('quoted', words=words)}"]


def _attribute(name: str, given: Given) -> Any:
    if given.is_later:
        return ""
    match name:
        case "status":
            return given.value if given.value in _STATUSES else ""
        case "updated_rating":
            return rating_in(given.words)
        case "priorities" | "themes":
            return list(given.items)
        case "domains_touched":
            return given.value.split()
        case "energy" | "mood_signal":
            return given.words[:80] if texts.language() != "en" else given.value or given.words[:80]
        case _:
            return one_line(given.words, 140)
