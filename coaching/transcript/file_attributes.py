"""The frontmatter of a file in words, as pages show it. No I/O."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from coaching.files.types import ATTRIBUTE_NAMES, VALUE_NAMES
from coaching.transcript.names import in_words, without_directions

_PROGRAM_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+")
_HIDDEN = ("type",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAttribute:
    """A frontmatter entry: `entries` if it is a list, otherwise `text`."""

    name: str
    text: str = ""
    entries: Sequence[str] = ()


def attributes_of(frontmatter: Mapping[str, Any]) -> list[ShownAttribute]:
    """Return a file's frontmatter in words, without its type and what is empty."""
    return [
        _attribute(key, value)
        for key, value in frontmatter.items()
        if key not in _HIDDEN and value not in ("", None, [], {})
    ]


def _attribute(key: str, value: Any) -> ShownAttribute:
    name = without_directions(str(ATTRIBUTE_NAMES.get(key, in_words(key))))
    if isinstance(value, list):
        return ShownAttribute(name=name, entries=[_entry_in_words(key, item) for item in value])
    return ShownAttribute(name=name, text=_entry_in_words(key, value))


def _entry_in_words(key: str, value: Any) -> str:
    """Return a value in words: by its label if it is one of a fixed set."""
    names = VALUE_NAMES.get(key, {})
    return str(names[value]) if isinstance(value, str) and value in names else _value_in_words(value)


def _value_in_words(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, Mapping):
        return ", ".join(
            f"{in_words(str(key)).lower()}: {_value_in_words(item)}" for key, item in value.items()
        )
    if isinstance(value, list):
        return ", ".join(_value_in_words(item) for item in value)
    return _text_in_words(str(value))


def _text_in_words(text: str) -> str:
    """Return a date or a programmatic name in words; other text unchanged."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return text.replace("_", " ") if _PROGRAM_NAME.fullmatch(text) else text
    return date_format(day, "DATE_FORMAT")
