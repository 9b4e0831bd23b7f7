"""What is wrong with a value that a program sent, as a sentence."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_NAMED = 3
"""How many of the values that can't be used an answer names."""
_MAX_NAME = 100
_BODY = "The body"
_TYPES: Mapping[str, str] = {
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
    "date": "a date like 2026-11-30",
    "time": "a time like 09:30",
    "datetime": "a moment like 2026-11-30T09:30:00Z",
    "uuid": "a UUID",
}
_OF_TYPES = ("type", "parsing", "from_float", "from_datetime_inexact")
"""Pydantic names its errors of a type by that and one of these: `int_parsing`, `model_attributes_type`."""


def values_in_words(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return sentences about the first of pydantic's errors, by the names that programs know."""
    return " ".join(f"{_name(error['loc'])} {_fault(error)}." for error in errors[:MAX_NAMED])


def _name(loc: Sequence[str | int]) -> str:
    """Return the name of a value; a body is an argument of its route, whose name no program knows."""
    place, *parts = loc
    names = parts[1:] if place == "body" else parts
    return f"“{'.'.join(map(str, names))[:_MAX_NAME]}”" if names else _BODY


def _fault(error: Mapping[str, Any]) -> str:
    kind, stated = error["type"], error.get("ctx", {})
    if kind in _FAULTS:
        return _FAULTS[kind](stated)
    base, _, rest = kind.partition("_")
    if base in _TYPES and rest.endswith(_OF_TYPES):
        return f"has to be {_TYPES[base]}"
    return f"can’t be used: {error['msg'].removeprefix('Value error, ').rstrip('.')}"


def _too_long(stated: Mapping[str, Any]) -> str:
    return f"may have up to {_counted(stated['max_length'], stated)}"


def _too_short(stated: Mapping[str, Any]) -> str:
    least = stated["min_length"]
    return "mustn’t be empty" if least == 1 else f"needs at least {_counted(least, stated)}"


def _counted(number: int, stated: Mapping[str, Any]) -> str:
    """Return how many of what: a text's fault has no type, or that of any value where the text is checked."""
    if stated.get("field_type", "Value") == "Value":
        return f"{number:,} {'character' if number == 1 else 'characters'}"
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def _one_of(stated: Mapping[str, Any]) -> str:
    return f"has to be one of these: {stated['expected'].replace(chr(39), '')}"


_FAULTS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "missing": lambda _: "is missing",
    "extra_forbidden": lambda _: "isn’t known here",
    "too_long": _too_long,
    "string_too_long": _too_long,
    "string_unicode": lambda _: "contains a character that can’t be stored",
    "too_short": _too_short,
    "string_too_short": _too_short,
    "enum": _one_of,
    "literal_error": _one_of,
    "greater_than_equal": lambda stated: f"has to be {stated['ge']:,} or more",
    "less_than_equal": lambda stated: f"may be {stated['le']:,} at most",
}
