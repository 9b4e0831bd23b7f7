"""YAML frontmatter: written by the server only, parsed as untrusted input.

The same values always give the same bytes. Frontmatter in a text from a model or an import is removed, never
merged. Parsing refuses aliases, tags, large or deeply nested blocks, and values that JSON lacks.
"""

import math
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import yaml

from coaching.files.attributes import FileAttributes, check_storable
from coaching.files.types import RULES
from coaching.models import FileType

MAX_FRONTMATTER_CHARACTERS = 16_384
MAX_INTEGER_BITS = 1_024
"""Python refuses to print integers of thousands of digits, which are short in base 16 or 60."""

BOM = "\ufeff"

_OPENING = re.compile(r"\A\ufeff?\s*?^---[ \t]*\n", re.MULTILINE)
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_FIRST_LINE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*[ \t]*:(?:\s|\Z)")
_TYPED = re.compile(r"---[ \t]*\n+type:[ \t]*([a-z-]+)")
_ANY_LINE = re.compile(r"\s*\Z|[ \t]|#|- |-\Z|[\]}]|[A-Za-z_][A-Za-z0-9_-]*[ \t]*:(?:\s|\Z)")


class _NoAliasLoader(yaml.SafeLoader):
    """Refuses aliases: a few nested ones expand to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def build_frontmatter(file_type: FileType, attributes: FileAttributes, *, day: date) -> dict[str, Any]:
    """Build the frontmatter: type, `date` (`updated` for a file that is replaced over time), attributes."""
    day_field = "updated" if RULES[file_type].naming in ("fixed", "domain") else "date"
    return {"type": str(file_type), day_field: day.isoformat(), **attributes.given()}


def render_file(frontmatter: Mapping[str, Any], body: str) -> str:
    """Render a whole file: frontmatter, an empty line, the body, one newline at the end."""
    values = {key: _dated(key, value) for key, value in frontmatter.items()}
    block = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=10**9)
    return f"---\n{block}---\n\n{body.strip()}\n"


def split_head(text: str) -> tuple[str, str]:
    """Split a stored text into its head (frontmatter and the lines around it) and its body."""
    block = _head_block(text)
    return (text[: block[1]], text[block[1] :].removeprefix("\n")) if block else ("", text)


def starts_with_frontmatter(text: str) -> bool:
    return _head_block(text.replace("\r\n", "\n")) is not None


def strip_frontmatter(text: str) -> str:
    """Return the text without its frontmatter; a text that starts with a horizontal rule is unchanged."""
    text = text.replace("\r\n", "\n")
    while (block := _head_block(text)) is not None:
        text = text[block[1] :]
    return text


def body_start(text: str) -> int:
    """Return how many characters of a text come before its body."""
    bare = text.lstrip(BOM)
    normal = bare.replace("\r\n", "\n")
    body = strip_frontmatter(normal)
    if not body:
        return len(text)
    start = len(text) - len(bare)
    for _ in range(normal[: len(normal) - len(body)].count("\n")):
        start = text.index("\n", start) + 1
    return start


def without_blocks(text: str) -> str:
    """Return a short text without Sage's frontmatter, wherever it begins; the last block may be cut off.

    It is known by its type, which is first: between two rules there may be anybody's own words.
    """
    text, start = text.removeprefix(BOM).replace("\r\n", "\n"), 0
    while (start := _next_rule(text, start)) >= 0:
        block = text[start:]
        if not _has_type(block):
            start += 1
        elif found := _head_block(block):
            text = text[:start] + block[found[1] :]
        elif _head_block(f"{block}\n---\n"):
            return text[:start]
        else:
            start += 1
    return text


def _has_type(block: str) -> bool:
    typed = _TYPED.match(block)
    return typed is not None and typed[1] in FileType.values


def _next_rule(text: str, start: int) -> int:
    """Return where the next line of hyphens begins, or -1."""
    if text.startswith("---", start) and (start == 0 or text[start - 1] == "\n"):
        return start
    return text.find("\n---", start) + 1 or -1


def parse_file(text: str) -> tuple[dict[str, Any], str]:
    """Split a text into frontmatter, empty if it can't be parsed safely, and body. Dates are ISO text."""
    block = _head_block(text)
    if block is None:
        return {}, text
    start, end = block
    body = text[end:].removeprefix("\n")
    source = text[start:end]
    if len(source) > MAX_FRONTMATTER_CHARACTERS:
        return {}, body
    try:
        values = _plain(yaml.load(_CLOSING.sub("", source), Loader=_NoAliasLoader))  # noqa: S506 (a SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return {}, body
    return (values if isinstance(values, dict) else {}), body


def _dated(key: str, value: Any) -> Any:
    """Return a day as YAML's date type, anything else unchanged."""
    try:
        return date.fromisoformat(value) if key in ("date", "updated") else value
    except (TypeError, ValueError):
        return value


def _head_block(text: str) -> tuple[int, int] | None:
    """Return the offsets of the frontmatter's first line and of the text after it, or None."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return None
    lines = [line for line in text[opening.end() : closing.start()].split("\n") if line.strip()]
    if lines and not (_FIRST_LINE.match(lines[0]) and all(_ANY_LINE.match(line) for line in lines)):
        return None
    return opening.end(), closing.end()


def _plain(value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case int() if value.bit_length() <= MAX_INTEGER_BITS:
            return value
        case str():
            return check_storable(value)
        case float() if math.isfinite(value):
            return value
        case date():
            return value.isoformat()
        case list():
            return [_plain(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {str(check_storable(key)): _plain(item) for key, item in value.items()}
        case _:
            raise ValueError("a value that JSON doesn't know")
