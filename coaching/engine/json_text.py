"""Strict parsing of JSON from the wire, and escaping of lone surrogates.

Nothing is repaired: anything but one complete JSON object raises `ValueError`.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 100

_SURROGATES = re.compile("[\ud800-\udfff]")


class LoneSurrogateError(ValueError):
    """The JSON is valid, but a string in it holds half of a character and can't be encoded."""


def parse_object(text: str) -> dict[str, Any]:
    """Parse one JSON object strictly; an empty text is an empty object.

    Raises `ValueError` for broken JSON, for anything but an object, for numbers that JSON doesn't know or a
    float can't hold, for text that can't be encoded, and for nesting deeper than `MAX_DEPTH`.
    """
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    value = json.loads(text or "{}", parse_constant=_refuse_constant, parse_float=_finite)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    if "\\u" in text and scrub_surrogates(value) != value:
        raise LoneSurrogateError("half a surrogate pair")
    return value


def without_fence(text: str) -> str:
    """Return a model's structured answer without the fence that some put around it."""
    plain = text.strip()
    opening, _, rest = plain.partition("\n")
    if opening.strip().lower() in ("```", "```json") and rest.endswith("```"):
        return rest.removesuffix("```")
    return plain


def is_object(text: str) -> bool:
    """Whether a model's structured answer is an object at all, and no prose."""
    try:
        return isinstance(json.loads(without_fence(text)), dict)
    except (ValueError, RecursionError):
        return False


def scrub_surrogates(value: Any) -> Any:
    """Return `value` with every lone surrogate in its strings replaced by U+FFFD."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_SURROGATES.sub("\ufffd", key): scrub_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrub_surrogates(item) for item in value]
    return value


def escape_surrogates(text: str) -> str:
    """Return JSON text with every lone surrogate escaped."""
    try:
        text.encode()  # a hundredth of the search's time, and hardly any text has one
    except UnicodeEncodeError:
        return _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "}]":
            depth -= 1
    return deepest


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return number
