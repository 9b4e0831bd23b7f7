"""Reads calls that a model wrote as text, in the forms that open models were trained on. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coaching.engine.json_text import parse_object

_NAMES = ("name", "tool", "tool_name", "function")
_INPUTS = ("arguments", "parameters", "input", "args")
_OTHERS = frozenset({"id", "type"})
_HEADS = tuple(f'{{"{key}":' for key in (*_NAMES, *_INPUTS, *_OTHERS))
HEAD_CHARACTERS = max(map(len, _HEADS))


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    name: str
    input: dict[str, Any]


def may_be_call(head: str) -> bool:
    """Whether a JSON object may be a call, by its first characters without blanks."""
    return any(head.startswith(each) or each.startswith(head) for each in _HEADS)


def read_calls(text: str, names: frozenset[str], *, is_tagged: bool) -> tuple[WrittenCall, ...]:
    """Return the calls in a text; none if it isn't whole, or if one names no tool of `names`.

    Between tags there may be several calls, a name before its input, or no input at all.
    """
    try:
        found = _objects(text.strip(), is_tagged=is_tagged)
        calls = tuple(_read_call(each, needs_input=not is_tagged) for each in found)
    except (ValueError, RecursionError):
        return ()
    return calls if all(call.name in names for call in calls) else ()


def _objects(text: str, *, is_tagged: bool) -> Iterator[dict[str, Any]]:
    """Yield the object of each call. Raises `ValueError`."""
    name, found, rest = text.partition("{")
    if not is_tagged or (found and not name):
        yield parse_object(text)
    elif text.startswith("["):
        values = parse_object(f'{{"calls":{text}}}')["calls"]
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise ValueError("not a list of calls")
        yield from values
    else:  # save_file>{…}, or save_file[ARGS]{…}
        plain = name.strip().removesuffix("[ARGS]").removesuffix(">").strip()
        yield {"name": plain, "arguments": parse_object(found + rest)}


def _read_call(value: dict[str, Any], *, needs_input: bool) -> WrittenCall:
    """Raises `ValueError` for an object that is no call."""
    inner = value.get("function")
    if isinstance(inner, dict):
        value = {**inner, **{key: each for key, each in value.items() if key != "function"}}
    if not value.keys() <= {*_NAMES, *_INPUTS, *_OTHERS}:
        raise ValueError("more than a call")
    named = [value[key] for key in _NAMES if key in value]
    given = [value[key] for key in _INPUTS if key in value] or ([] if needs_input else [{}])
    if len(named) != 1 or len(given) != 1 or not isinstance(named[0], str):
        raise ValueError("not one name and one input")
    arguments = parse_object(given[0]) if isinstance(given[0], str) else given[0]
    if not isinstance(arguments, dict):
        raise ValueError("the input is not an object")
    return WrittenCall(name=named[0], input=arguments)
