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


LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A call. One that can't be read has no input, and `broken` is its text."""

    name: str
    input: dict[str, Any]
    broken: str = ""


def may_be_call(head: str) -> bool:
    """Whether a JSON object may be a call, by its first characters without blanks."""
    return any(head.startswith(each) or each.startswith(head) for each in _HEADS)


def read_calls(text: str, names: frozenset[str]) -> tuple[WrittenCall, ...]:
    """Return the call that an object is; none if it isn't whole, or names no tool of `names`."""
    calls = _read(text, is_tagged=False)
    return calls if all(call.name in names for call in calls) else ()


def read_tagged_calls(text: str, names: frozenset[str]) -> tuple[WrittenCall, ...]:
    """Return the calls between tags: several, a name before its input, or no input at all.

    Whatever tool they name, as the tags say that a call was meant; so they may be broken, as long as there is
    a name of `names`. None where no call may run.
    """
    if not names:
        return ()
    calls = _read(text, is_tagged=True)
    if calls and all(_is_name(call.name) for call in calls):
        return calls
    found = min((name for name in names if name in text), key=text.index, default="")
    return (WrittenCall(name=found, input={}, broken=f"<tool_call>{text}</tool_call>"),) if found else ()


def may_hold_call(text: str) -> bool:
    """Whether a text between tags looks like a call at all, and not like prose."""
    return "{" in text or "<" in text


def _read(text: str, *, is_tagged: bool) -> tuple[WrittenCall, ...]:
    try:
        found = _objects(text.strip(), is_tagged=is_tagged)
        return tuple(_read_call(each, needs_input=not is_tagged) for each in found)
    except (ValueError, RecursionError):
        return ()


def _is_name(name: str) -> bool:
    return len(name) <= LONGEST_NAME and name.isascii() and name.replace("-", "_").isidentifier()


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
