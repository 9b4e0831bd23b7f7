"""Checked values from a process's answer, which may come from whoever made what it read."""

import json
from typing import Any

from coaching.sandbox.errors import UntrueAnswer


def json_object(data: bytes) -> dict[str, Any]:
    """Return a JSON object. Raises `UntrueAnswer`."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise UntrueAnswer from None
    if not isinstance(found, dict):
        raise UntrueAnswer
    return found


def text(value: object, *, most: int) -> str:
    """Return a text that can be stored, cut to `most` characters. Raises `UntrueAnswer`."""
    if not isinstance(value, str):
        raise UntrueAnswer
    cut = value[:most]
    if "\0" in cut:
        raise UntrueAnswer
    try:
        cut.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        raise UntrueAnswer from None
    return cut


def number(value: object, *, most: int) -> int:
    """Return a whole number from 0 to `most`. Raises `UntrueAnswer`."""
    if type(value) is not int or not 0 <= value <= most:
        raise UntrueAnswer
    return value


def list_of(value: object, *, most: int) -> list[Any]:
    """Return a list of at most `most` values. Raises `UntrueAnswer`."""
    if not isinstance(value, list) or len(value) > most:
        raise UntrueAnswer
    return value
