"""A deterministic token estimate, so that counting, usage and cache shares agree.

About four characters are one token; a message has a small overhead. Not for predicting costs.
"""

from collections.abc import Iterable

import orjson

from coaching.practice.api.prefix import Json, Unit

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1_500
MESSAGE_OVERHEAD = 3


def count_text(text: str) -> int:
    """Estimate the tokens of a text; at least one unless it is empty."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def count_unit(unit: Unit) -> int:
    """Estimate the tokens of one block of a request."""
    overhead = MESSAGE_OVERHEAD if unit.block_index == 0 else 0
    if unit.section == "tools":
        tool = {key: value for key, value in unit.block.items() if key != "cache_control"}
        return count_text(orjson.dumps(tool).decode())
    return overhead + _count_block(unit.block)


def count_units(units: Iterable[Unit]) -> int:
    """Estimate the tokens of a whole request."""
    return sum(map(count_unit, units))


def _count_block(block: Json) -> int:
    match block.get("type"):
        case "text":
            return count_text(block["text"])
        case "thinking":
            return count_text(block["thinking"]) + 1
        case "tool_use":
            return count_text(block["name"]) + count_text(orjson.dumps(block["input"]).decode())
        case "tool_result":
            content = block.get("content") or ""
            if isinstance(content, str):
                return count_text(content) + 1
            return 1 + sum(map(_count_block, content))
        case "image":
            return IMAGE_TOKENS
        case _:
            return count_text(orjson.dumps(dict(block)).decode())
