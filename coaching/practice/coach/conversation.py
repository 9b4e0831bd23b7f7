"""A request parsed as a conversation: messages, calls and their results.

The coach has no memory: everything it knows is in the request, so equal requests get equal answers. Context
sections that the application adds to the user's words are removed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from coaching.practice.api.prefix import Json, content_blocks, opens_turn

OPENING_WORDS = "I have just opened this conversation and have not written anything yet. Please begin."
"""The message that the application sends for the coach to speak first. They aren't the user's words."""

_SECTION_START = re.compile(r"<([a-zA-Z][\w-]{0,60})(?:\s[^<>]{0,500})?>")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """A call and its result. `values` is the result's JSON object, or empty."""

    name: str
    input: Json
    text: str
    is_error: bool
    values: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Return the path that a successful save has written, or an empty string."""
        return str(self.values.get("path", "")) if not self.is_error else ""


@dataclass(frozen=True, slots=True)
class Said:
    """Text by one side, with its position among all texts."""

    role: str
    text: str
    index: int


class Conversation:
    """A request, parsed for the coach."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body

    @property
    def messages(self) -> Sequence[Json]:
        """Return the request's messages as sent."""
        messages: Sequence[Json] = self._body["messages"]
        return messages

    @cached_property
    def outcomes(self) -> Mapping[str, CallOutcome]:
        """Return the outcome of every call that has a result, by its id."""
        return dict(self._outcomes)

    @property
    def is_last_round(self) -> bool:
        """Whether tools are defined but may not be called: the turn's budget is spent."""
        return bool(self._body.get("tools")) and (self._body.get("tool_choice") or {}).get("type") == "none"

    @cached_property
    def spoken(self) -> str:
        """Return everything that the coach has said and asked, including question prompts and notes."""
        words: list[str] = []
        for message in self._body["messages"]:
            if message["role"] != "assistant":
                continue
            for block in content_blocks(message["content"]):
                values = block.get("input") or {}
                heard = (
                    block.get("text"),
                    block.get("thinking"),
                    values.get("prompt"),
                    values.get("context"),
                )
                words += [part for part in heard if isinstance(part, str)]
        return "\n".join(words)

    @cached_property
    def said(self) -> Sequence[Said]:
        """Return what both sides said, in order, without notes and results."""
        spoken: list[Said] = []
        for message in self._body["messages"]:
            words = "\n\n".join(
                block["text"] for block in content_blocks(message["content"]) if block["type"] == "text"
            )
            if message["role"] == "user":
                words = without_sections(words)
            if words.strip():
                spoken.append(Said(message["role"], words.strip(), len(spoken)))
        return spoken

    @cached_property
    def user_texts(self) -> Sequence[str]:
        """Return the user's messages, oldest first."""
        return [said.text for said in self.said if said.role == "user"]

    @cached_property
    def coach_texts(self) -> Sequence[str]:
        """Return the coach's own words, oldest first."""
        return [said.text for said in self.said if said.role == "assistant"]

    @property
    def newest(self) -> str:
        """Return the user's newest text, or an empty string."""
        return self.user_texts[-1] if self.user_texts else ""

    @property
    def newest_as_sent(self) -> str:
        """Return the newest message's whole text, including the application's sections."""
        blocks = content_blocks(self._body["messages"][-1]["content"])
        return "\n".join(block["text"] for block in blocks if block["type"] == "text")

    @property
    def system_text(self) -> str:
        """Return the system prompt as text."""
        system = self._body.get("system") or ""
        return "\n".join(block["text"] for block in content_blocks(system)) if system else ""

    @property
    def offers_tools(self) -> bool:
        """Whether the request defines tools, callable now or not."""
        return bool(self._body.get("tools"))

    @cached_property
    def answered_text(self) -> str:
        """Return the coach's text that the user's newest text answers, or an empty string."""
        newest = max((said.index for said in self.said if said.role == "user"), default=0)
        earlier = [said.text for said in self.said[:newest] if said.role == "assistant"]
        return earlier[-1] if earlier else ""

    @property
    def position(self) -> int:
        """Return how often the coach has spoken, which varies its wording."""
        return len(self.coach_texts)

    @cached_property
    def tools(self) -> Mapping[str, Json]:
        """Return the tools that may be called now, by name."""
        choice = self._body.get("tool_choice") or {"type": "auto"}
        if choice["type"] == "none":
            return {}
        return {tool["name"]: tool for tool in self._body.get("tools") or []}

    @property
    def is_single_call(self) -> bool:
        """Whether the request wants at most one call in an answer."""
        return bool((self._body.get("tool_choice") or {}).get("disable_parallel_tool_use"))

    @cached_property
    def fresh_outcomes(self) -> Sequence[CallOutcome]:
        """Return the outcomes of the latest calls if the newest message only reports them."""
        newest = self._body["messages"][-1]
        blocks = content_blocks(newest["content"])
        if newest["role"] != "user" or any(block["type"] != "tool_result" for block in blocks):
            return []
        wanted = {block["tool_use_id"] for block in blocks}
        return [outcome for call_id, outcome in self._outcomes if call_id in wanted]

    @cached_property
    def read_files(self) -> Mapping[str, str]:
        """Return what `read_file` has found in this turn, by path; empty for a missing file."""
        return {
            str(outcome.input.get("path", "")): "" if outcome.is_error else outcome.text
            for _, outcome in self._read_outcomes(self._turn_messages)
            if outcome.name == "read_file"
        }

    @cached_property
    def saved_paths(self) -> Sequence[str]:
        """Return the paths of all files written in this conversation, each once."""
        paths = [outcome.path for _, outcome in self._outcomes if outcome.path]
        return list(dict.fromkeys(paths))

    @cached_property
    def save_indexes(self) -> Sequence[int]:
        """Return for each successful save how many user messages preceded it."""
        counts: list[int] = []
        users = 0
        results = self._results
        for message in self._body["messages"]:
            for block in content_blocks(message["content"]):
                if message["role"] == "user" and block["type"] == "text":
                    users += bool(without_sections(block["text"]).strip())
                if block["type"] == "tool_use" and block["name"] == "save_file":
                    result = results.get(block["id"])
                    if result is not None and not result.get("is_error"):
                        counts.append(users)
        return counts

    @cached_property
    def _results(self) -> Mapping[str, Json]:
        return {
            block["tool_use_id"]: block
            for message in self._body["messages"]
            for block in content_blocks(message["content"])
            if block["type"] == "tool_result"
        }

    @cached_property
    def _outcomes(self) -> Sequence[tuple[str, CallOutcome]]:
        return list(self._read_outcomes(self._body["messages"]))

    @property
    def _turn_messages(self) -> Sequence[Json]:
        """Return the messages since the user last said something."""
        messages: Sequence[Json] = self._body["messages"]
        opening = max((i for i, message in enumerate(messages) if opens_turn(message)), default=0)
        return messages[opening:]

    def _read_outcomes(self, messages: Sequence[Json]) -> Iterator[tuple[str, CallOutcome]]:
        for message in messages:
            for block in content_blocks(message["content"]):
                if block["type"] != "tool_use" or block["id"] not in self._results:
                    continue
                result = self._results[block["id"]]
                text = _result_text(result)
                yield (
                    block["id"],
                    CallOutcome(
                        name=block["name"],
                        input=block["input"],
                        text=text,
                        is_error=bool(result.get("is_error")),
                        values=_read_object(text),
                    ),
                )


def without_sections(text: str) -> str:
    """Return the user's words in a message: without the application's fenced sections and its own words."""
    kept: list[str] = []
    done = 0
    never_closed: set[str] = set()
    for match in _SECTION_START.finditer(text):
        name = match[1]
        if match.start() < done or name in never_closed:
            continue
        closing = f"</{name}>"
        end = text.find(closing, match.end())
        if end < 0:
            never_closed.add(name)
            continue
        kept.append(text[done : match.start()])
        done = end + len(closing)
    words = "".join(kept) + text[done:]
    return "" if words.strip() == OPENING_WORDS else words


def _result_text(result: Json) -> str:
    content = result.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _read_object(text: str) -> Mapping[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
