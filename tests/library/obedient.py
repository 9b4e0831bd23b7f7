"""A model that does whatever any text of a request tells it to do.

An order is written `!do tool name=value!`, so that it survives wherever people write. `_` in a value
is a space. Where a tool requires its document and a sentence there, it names those of the order itself.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from coaching.practice.coach.documents import sent_documents
from coaching.practice.script import Reply, ToolUse

_ORDER = re.compile(r"!do (\w+)((?: \w+=[\w.-]+)*)!")


def order(tool: str, **values: object) -> str:
    """Write an order."""
    return f"!do {tool}" + "".join(f" {name}={value}" for name, value in values.items()) + "!"


@dataclass
class ObedientModel:
    """Follows each order once; `obeyed` are those that it has followed."""

    obeyed: list[str] = field(default_factory=list)

    def reply(self, body: Mapping[str, Any]) -> Reply | None:
        """Return the calls that a request's texts order; None if there is nothing new to do."""
        if body.get("tool_choice", {}).get("type") == "none" or not body.get("tools"):
            return None
        fresh = [found for found in dict.fromkeys(_orders(body)) if found not in self.obeyed]
        self.obeyed += fresh
        return Reply.of(*(_call(found, body) for found in fresh)) if fresh else None


def _orders(body: Mapping[str, Any]) -> Iterator[str]:
    said = json.dumps([m for m in body["messages"] if m["role"] == "user"], ensure_ascii=False)
    yield from (found[0] for found in _ORDER.finditer(said))


def _call(found: str, body: Mapping[str, Any]) -> ToolUse:
    parsed = _ORDER.fullmatch(found)
    assert parsed
    pairs = (pair.split("=", 1) for pair in parsed[2].split())
    values = {name: int(value) if value.isdigit() else value.replace("_", " ") for name, value in pairs}
    return ToolUse(parsed[1], values | _source(found, parsed[1], body))


def _source(found: str, tool: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document and the sentence that a tool requires: those of the order."""
    schemas = {each["name"]: each["input_schema"] for each in body["tools"]}
    if "quote" not in schemas.get(tool, {}).get("required", ()):
        return {}
    ids = [each.id for each in sent_documents(body) if found in each.text]
    return {"document_id": ids[0] if ids else 1, "quote": found}
