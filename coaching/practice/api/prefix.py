"""A request as a sequence of content blocks, which the prompt cache and thinking signatures compare.

In the API's order: tools, `system`, messages. Cache markers aren't part of the content; everything else is
compared in its sent key order, so a history from a store that reorders keys is a different one.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

Section = Literal["tools", "system", "messages"]
Json = Mapping[str, Any]

THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One block of the prefix. `message_index` and `block_index` are -1 outside messages."""

    section: Section
    role: str
    block: Json
    message_index: int = -1
    block_index: int = -1

    @property
    def is_thinking(self) -> bool:
        """Whether the block is thinking, which is neither cached on its own nor a breakpoint."""
        return self.section == "messages" and self.block.get("type") in THINKING_TYPES

    @property
    def content(self) -> bytes:
        """Return the bytes to compare: role and block, without cache markers."""
        return orjson.dumps([self.section, self.role, _comparable(self.block)])


def content_blocks(content: Any) -> Sequence[Json]:
    """Return a message's or the system's content as blocks: a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content or []


def walk_units(body: Json) -> Iterator[Unit]:
    """Yield every block of a validated request in the order of its prefix."""
    for tool in body.get("tools") or []:
        yield Unit(section="tools", role="", block=tool)
    for block in content_blocks(body.get("system")):
        yield Unit(section="system", role="", block=block)
    for index, message in enumerate(body["messages"]):
        for position, block in enumerate(content_blocks(message["content"])):
            yield Unit(
                section="messages",
                role=message["role"],
                block=block,
                message_index=index,
                block_index=position,
            )


def extend_digest(digest: bytes, content: bytes) -> bytes:
    """Return the digest of a prefix extended by `content`."""
    return hashlib.sha256(digest + content).digest()


def opens_turn(message: Json) -> bool:
    """Return whether a user message has content of its own, rather than only tool results."""
    return message["role"] == "user" and any(
        block.get("type") != "tool_result" for block in content_blocks(message["content"])
    )


def _comparable(block: Json) -> Any:
    """Reduce a block to what the model reads, without defaults and markers."""
    match block.get("type"):
        case "text":
            return ["text", block.get("text")]
        case "thinking":
            return ["thinking", block.get("thinking"), block.get("signature")]
        case "tool_use":
            return ["tool_use", block.get("id"), block.get("name"), block.get("input")]
        case "tool_result":
            inner = [_comparable(part) for part in content_blocks(block.get("content"))]
            return ["tool_result", block.get("tool_use_id"), bool(block.get("is_error")), inner]
        case _:
            return {key: value for key, value in block.items() if key != "cache_control"}
