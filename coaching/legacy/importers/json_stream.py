"""Parses a JSON file item by item, and knows the line of every value.

`bounded` has limited an item before the standard library's parser gets it. Lines are found when a problem is
named: most exports have one line, and most items no problem.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]  # not in the stubs
from typing import Any

from coaching.legacy.importers.bounded import TOO_LARGE, NotJson, Path, Piece, Unreadable, read_pieces

_BLANKS = " \t\r\n"


# `NaN` and `Infinity` aren't JSON, but some programs write them where there is no number.
_decoder = JSONDecoder(parse_constant=lambda _: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a value begins in its item's text, and on which line."""

    at: int
    line: int


class _Lines:
    """The lines of an item's values. Each container is gone through once."""

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._root = _Place(at=0, line=line)
        self._known: dict[int, Mapping[str | int, _Place]] = {}

    def line_of(self, path: Sequence[str | int]) -> int:
        place = self._root
        for step in path:
            inside = self._inside(place)
            if step not in inside:
                break
            place = inside[step]
        return place.line

    def _inside(self, place: _Place) -> Mapping[str | int, _Place]:
        if place.at not in self._known:
            self._known[place.at] = dict(self._members(place))
        return self._known[place.at]

    def _members(self, place: _Place) -> Iterator[tuple[str | int, _Place]]:
        text, at, line, counted = self._text, place.at, place.line, place.at
        is_object = text[at] == "{"
        if not is_object and text[at] != "[":
            return
        at = self._after_blanks(at + 1)
        number = 0
        while text[at] not in "]}":
            step: str | int = number
            if is_object:
                step, at = scanstring(text, at + 1)
                at = self._after_blanks(self._after_blanks(at) + 1)
            line += text.count("\n", counted, at)
            counted = at
            yield step, _Place(at=at, line=line)
            _, at = _decoder.raw_decode(text, at)
            at = self._after_blanks(at)
            if text[at] == ",":
                at = self._after_blanks(at + 1)
            number += 1

    def _after_blanks(self, at: int) -> int:
        while self._text[at] in _BLANKS:
            at += 1
        return at


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A value of the file; `path` is `("sessions", 3)`, `(3,)` in a bare list, `("profile",)`.

    `lines` are None where the whole item stands on one.
    """

    path: Path
    value: Any
    line: int
    lines: _Lines | None = field(default=None, repr=False)

    def line_of(self, path: Sequence[str | int] = ()) -> int:
        """Return the line of a value inside the item, or of the nearest one around it that is there."""
        return self.lines.line_of(path) if path and self.lines else self.line

    def name_of(self, path: Sequence[str | int] = ()) -> str:
        """Return the place in the file in words: `sessions[3].messages[0]`."""
        name = ""
        for step in (*self.path, *path):
            name += f"[{step}]" if isinstance(step, int) else f".{step[:60]}"
        return name.removeprefix(".")


def read_items(read: Callable[[int], bytes], *, is_sequence: bool = False) -> Iterator[Item]:
    """Yield the items of a JSON file, given how its next bytes are read. Raises `NotJson`, `TooMuch`."""
    return map(_parsed, read_pieces(read, is_sequence=is_sequence))


def _parsed(piece: Piece) -> Item:
    value, lines = _value(piece)
    return Item(path=piece.path, value=value, line=piece.line, lines=lines)


def _value(piece: Piece) -> tuple[Any, _Lines | None]:
    if isinstance(piece.data, Unreadable):
        return piece.data, None
    try:
        text = piece.data.decode()
        value = _decoder.decode(text)
    except MemoryError:
        return TOO_LARGE, None
    except json.JSONDecodeError as error:
        raise NotJson(piece.line + error.lineno - 1) from error
    except ValueError as error:  # not UTF-8, or a number with thousands of digits
        raise NotJson(piece.line) from error
    return value, _Lines(text, piece.line) if "\n" in text else None
