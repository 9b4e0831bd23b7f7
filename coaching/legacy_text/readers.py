"""Reads one old block: the tool call that it stands for, as name and input. The inputs fit today's tools."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

Call = tuple[str, dict[str, Any]]

MAX_CONTENT_CHARACTERS = 100_000
MAX_LABEL_CHARACTERS = 100
MAX_LINE_CHARACTERS = 300
MAX_WORD_CHARACTERS = 80
MAX_TITLE_CHARACTERS = 100
FEWEST_OPTIONS, MAX_OPTIONS = 2, 6
MAX_PRIORITIES = 10

ARCS = ("open_day", "close_day", "weekly_checkin", "life_mapping")

FILE_TYPES: Mapping[str, str] = {
    "domain": "domain",
    "overview": "fixed",
    "life-plan": "fixed",
    "check-in": "date",
    "daily-log": "date",
    "day-plan": "date",
    "weekly-plan": "fixed",
    "sage-context": "fixed",
    "sage-patterns": "fixed",
    "capture": "moment",
    "reflection-prompt": "slug",
}
"""How a file of each type is named."""

DOMAINS: Mapping[str, str] = {
    "career": "career",
    "work": "career",
    "relationship": "relationships",
    "relationships": "relationships",
    "health": "health",
    "body": "health",
    "finance": "finances",
    "finances": "finances",
    "money": "finances",
    "learning": "learning",
    "growth": "learning",
    "creative": "creativity",
    "creativity": "creativity",
    "play": "play",
    "fun": "play",
    "meaning": "meaning",
    "purpose": "meaning",
}
"""The domains by the words of their old names, like “Career / Work”."""
STATUSES = ("thriving", "good", "okay", "needs_attention", "in_crisis")

_ATTRIBUTE = re.compile(r"(?<!\w)(\w++)\s*+=\s*+(?:\"([^\"\n]*)\"?|'([^'\n]*)'?|[“”‘’]?([^\s\"'\]“”‘’]+))")
_TITLE_UNFIT = re.compile(r"[^\w ,.!?'’-]|\.\.")
_BULLET = re.compile(r"(?:[-*+•–]\s+)?(.*)")
_AROUND_LABEL = ' \t"“”*`'
_FENCE = re.compile(r"^[ \t]*(?:`{3}|~{3})", re.MULTILINE)
_CODE = re.compile(r"(`{3,}|~{3,})\w*[ \t]*\n(.*)\n[ \t]*\1", re.DOTALL)


class Unreadable(Exception):
    """A block can't be read; the text says why."""


def read_file_update(rest: str, body: str) -> Call:
    """Read `FILE_UPDATE`: type and name are attributes of its tag, its body is the file's."""
    given = {found[1].lower(): _first(found) for found in _ATTRIBUTE.finditer(rest)}
    file_type = re.sub(r"[\s_]+", "-", given.get("type", "").lower())
    if not file_type:
        raise Unreadable("its type is missing")
    if file_type not in FILE_TYPES:
        raise Unreadable("its type is unknown")
    if not body:
        raise Unreadable("it is empty")
    _check_length(body)
    values: dict[str, Any] = {"file_type": file_type}
    if name := _file_name(FILE_TYPES[file_type], given.get("name", "")):
        values["file_name"] = name
    values["content"] = body
    if attributes := _attributes(file_type, given):
        values["attributes"] = attributes
    return "save_file", values


def read_day_plan(_: str, body: str) -> Call:
    """Read `DAY_PLAN_DATA`: a JSON object. All its texts are in the plan's body."""
    fenced = _CODE.fullmatch(body)
    try:
        data = json.loads(fenced[2] if fenced else body)
        if not isinstance(data, dict):
            raise Unreadable("it isn’t a JSON object")
        content = "\n\n".join(_plan_parts(data))
    except (ValueError, RecursionError):
        raise Unreadable("it isn’t JSON") from None
    if not content:
        raise Unreadable("it is empty")
    _check_length(content)
    values: dict[str, Any] = {"file_type": "day-plan"}
    if day := _day(data.get("date")):
        values["file_name"] = day
    values["content"] = content
    attributes = {
        "energy": _line(data.get("energy") or data.get("energy_level"), MAX_WORD_CHARACTERS),
        "intention": _line(data.get("intention") or data.get("intention_statement"), MAX_LINE_CHARACTERS),
        "priorities": _priorities(data.get("priorities")),
    }
    if given := {key: value for key, value in attributes.items() if value}:
        values["attributes"] = given
    return "save_file", values


def read_suggested_replies(_: str, body: str) -> Call:
    """Read `SUGGESTED_REPLIES`: one answer a line, or all in one line with bars between them."""
    if _FENCE.search(body):
        raise Unreadable("there is code in it")  # which keeps its tags, so it is shown as code
    lines = body.splitlines() if "\n" in body else body.split("|")
    found = (_BULLET.fullmatch(line.strip()) for line in lines)
    labels = [" ".join(each[1].strip(_AROUND_LABEL).split()) for each in found if each]
    labels = list(dict.fromkeys(filter(None, labels)))
    if not FEWEST_OPTIONS <= len(labels) <= MAX_OPTIONS:
        raise Unreadable(f"it has {len(labels):,} answers instead of {FEWEST_OPTIONS} to {MAX_OPTIONS}")
    if max(map(len, labels)) > MAX_LABEL_CHARACTERS:
        raise Unreadable(f"an answer has over {MAX_LABEL_CHARACTERS} characters")
    return "show_options", {"options": [{"label": label} for label in labels]}


def read_enter_mode(rest: str, _: str) -> Call:
    """Read `ENTER_MODE`: the arc stands after a colon."""
    mode = rest.rpartition(":")[2].rpartition("=")[2].strip(" \t\"'“”").lower()
    arc = re.sub(r"[\s-]+", "_", mode)
    if arc not in ARCS:
        raise Unreadable("its mode is unknown" if arc else "its mode is missing")
    return "enter_structured_arc", {"arc": arc}


def read_session_complete(_: str, __: str) -> Call:
    """Read `SESSION_COMPLETE`, which has neither attributes nor a body."""
    return "complete_session", {"type": "session"}


READERS: Mapping[str, Callable[[str, str], Call]] = {
    "FILE_UPDATE": read_file_update,
    "SUGGESTED_REPLIES": read_suggested_replies,
    "DAY_PLAN_DATA": read_day_plan,
    "ENTER_MODE": read_enter_mode,
    "SESSION_COMPLETE": read_session_complete,
}
"""By the block's name. Each takes the rest of the tag and the body, and raises `Unreadable`."""


def _first(found: re.Match[str]) -> str:
    return next((value for value in found.groups()[1:] if value is not None), "").strip()


def _check_length(content: str) -> None:
    if len(content) > MAX_CONTENT_CHARACTERS:
        raise Unreadable(f"it has {len(content):,} characters; a file has at most {MAX_CONTENT_CHARACTERS:,}")


def _file_name(naming: str, name: str) -> str:
    """Return the name as today's files have it; empty where a type takes none, or not this one."""
    if naming == "domain":
        words = re.findall(r"[a-z]+", name.lower())
        domain = next((DOMAINS[word] for word in words if word in DOMAINS), "")
        if not domain:
            raise Unreadable("its domain is unknown" if name else "its domain is missing")
        return domain
    if naming == "date":
        return _day(name)
    if naming == "slug" and len(name) <= MAX_TITLE_CHARACTERS:
        return "" if _TITLE_UNFIT.search(name) else name
    return ""


def _day(value: object) -> str:
    try:
        return date.fromisoformat(value).isoformat() if isinstance(value, str) else ""
    except ValueError:
        return ""


def _attributes(file_type: str, given: Mapping[str, str]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if file_type == "domain":
        status = re.sub(r"[\s-]+", "_", given.get("status", "").lower())
        rating = given.get("updated_rating", "")
        attributes["status"] = status if status in STATUSES else ""
        attributes["updated_rating"] = int(rating) if rating in ("1", "2", "3", "4", "5") else 0
    if FILE_TYPES[file_type] == "date":
        attributes["energy"] = _line(given.get("energy"), MAX_WORD_CHARACTERS)
        attributes["mood_signal"] = _line(given.get("mood_signal"), MAX_WORD_CHARACTERS)
    if file_type == "day-plan":
        attributes["intention"] = _line(given.get("intention"), MAX_LINE_CHARACTERS)
    attributes["preview_line"] = _line(given.get("preview_line"), MAX_LINE_CHARACTERS)
    return {name: value for name, value in attributes.items() if value}


def _line(value: object, most: int) -> str:
    line = " ".join(value.split()) if isinstance(value, str) else ""
    return line if len(line) <= most else ""


def _priorities(value: object) -> list[str]:
    items = value if isinstance(value, list) else []
    texts = (item.get("text") if isinstance(item, dict) else item for item in items)
    return [line for text in texts if (line := _line(text, MAX_LINE_CHARACTERS))][:MAX_PRIORITIES]


def _plan_parts(data: Mapping[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        name = key.replace("_", " ").strip()
        name = name[:1].upper() + name[1:]
        texts = list(_texts_of(value))
        if isinstance(value, list):
            items = "\n".join(f"- {text}" for text in texts)
            if items:
                yield f"**{name}**\n\n{items}" if name else items
        elif texts:
            yield f"**{name}:** {' · '.join(texts)}" if name else " · ".join(texts)


def _texts_of(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value; one for each item of a list."""
    if isinstance(value, str):
        if line := " ".join(value.split()):
            yield line
    elif isinstance(value, list):
        for item in value:
            if text := " · ".join(_texts_of(item)):
                yield text
    elif isinstance(value, dict):
        yield from _texts_of(_texts_first(value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _texts_first(value: Mapping[str, Any]) -> Sequence[Any]:
    """Return the values of an object, its text first; ranks are the order of their list."""
    return [value.get("text"), *(each for key, each in value.items() if key not in ("text", "rank"))]
