"""Reads a JSON file item by item, in bounded memory, and knows the line of every value.

The items are the elements of a list, or of the lists in an object. ijson parses (a C parser that is pushed
bytes and returns events): the standard library's parser needs the whole file in memory, and other streaming
parsers can't be fed line by line, which is how the line of each value is known.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, BinaryIO

import ijson
from django.utils.translation import gettext_noop

PIECE_BYTES = 1 << 16
MOST_ITEM_BYTES = 96 << 20
"""The most memory that one item may take, as estimated while it is read."""
VALUE_BYTES = 100
MOST_DEPTH = 100
_BOM = b"\xef\xbb\xbf"

Path = tuple[str | int, ...]


class NotJson(Exception):
    """The file isn't JSON, or isn't complete; `line` is where that was noticed."""

    def __init__(self, line: int) -> None:
        super().__init__(f"Line {line} isn’t valid JSON.")
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """What stands for an item that wasn't read into memory."""

    reason: str


TOO_LARGE = Unreadable(reason=gettext_noop("This is too large to read, so it was skipped."))
TOO_DEEP = Unreadable(reason=gettext_noop("This is nested too deeply to read, so it was skipped."))


class Located(dict[str, Any]):
    """A JSON object that knows its line, and those of its values on other lines."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}

    def line_at(self, key: str) -> int:
        return self.lines.get(key, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A value of the file; `path` is `("sessions", 3)`, `(3,)` in a bare list, `("profile",)`."""

    path: Path
    value: Any
    line: int

    def line_of(self, path: Sequence[str | int] = ()) -> int:
        """Return the line of a value inside the item, or the nearest line above it that is known."""
        line, value = self.line, self.value
        for step in path:
            if isinstance(value, Located) and step in value:
                line, value = value.line_at(str(step)), value[str(step)]
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
                line = value.line if isinstance(value, Located) else line
            else:
                break
        return line

    def name_of(self, path: Sequence[str | int] = ()) -> str:
        """Return the place in the file in words: `sessions[3].messages[0]`."""
        name = ""
        for step in (*self.path, *path):
            name += f"[{step}]" if isinstance(step, int) else f".{step[:60]}"
        return name.removeprefix(".")


def read_items(file: BinaryIO) -> Iterator[Item]:
    """Yield the items of a JSON file. Raises `NotJson`."""
    events: list[tuple[str, Any]] = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events)
    outline = _Outline()
    line = 1
    try:
        for line, piece in _pieces(file):
            parser.send(piece)
            yield from outline.items(events, line)
            del events[:]
        parser.close()
        yield from outline.items(events, line)
    # The C parser wraps the ValueError of a number with thousands of digits.
    except (ijson.JSONError, UnicodeDecodeError, SystemError, StopIteration) as error:
        raise NotJson(line) from error


def _pieces(file: BinaryIO) -> Iterable[tuple[int, bytes]]:
    """Yield the file in pieces of at most one line, each with its number."""
    line = 1
    block = file.read(PIECE_BYTES).removeprefix(_BOM)
    while block:
        for piece in block.splitlines(keepends=True) if b"\n" in block else (block,):
            yield line, piece
            line += piece.endswith(b"\n")
        block = file.read(PIECE_BYTES)


class _Outline:
    """The part of the file around its items: a list, or an object with lists."""

    def __init__(self) -> None:
        self._top = ""
        self._key: str | None = None
        self._place: int | None = None
        self._item: _Building | None = None

    def items(self, events: Sequence[tuple[str, Any]], line: int) -> Iterator[Item]:
        """Yield the items that these events, which came from a line, complete."""
        for event, value in events:
            if self._item is None:
                self._outside(event, value, line)
            else:
                self._item.add(event, value, line)
            if self._item is not None and self._item.is_complete:
                yield self._completed(self._item)

    def _outside(self, event: str, value: Any, line: int) -> None:
        if event == "map_key":
            self._key = value
        elif event == "end_array":
            self._place = None
        elif event == "end_map":
            return
        elif not self._top:
            if event not in ("start_array", "start_map"):
                raise NotJson(line)
            self._top = event
            self._place = 0 if event == "start_array" else None
        elif event == "start_array" and self._top == "start_map" and self._place is None:
            self._place = 0
        else:
            self._item = _Building(line)
            self._item.add(event, value, line)

    def _completed(self, building: "_Building") -> Item:
        path = tuple(step for step in (self._key, self._place) if step is not None)
        if self._place is not None:
            self._place += 1
        self._item = None
        return Item(path=path, value=building.result, line=building.line)


class _Building:
    """An item that is being built, within the limits on its size and depth."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.result: Any = None
        self.is_complete = False
        self._stack: list[Any] = []
        self._keys: list[str] = []
        self._depth = 0
        self._bytes = 0
        self._given_up: Unreadable | None = None

    def add(self, event: str, value: Any, line: int) -> None:
        """Take an event."""
        self._bytes += VALUE_BYTES + (len(value) if isinstance(value, str) else 0)
        if event == "map_key":
            if self._given_up is None:
                self._keys[-1] = value
            return
        if event in ("start_map", "start_array"):
            self._open(event, line)
        elif event in ("end_map", "end_array"):
            self._close()
        elif self._given_up is None:
            self._put(float(value) if isinstance(value, Decimal) else value, line)
        self._check()

    def _open(self, event: str, line: int) -> None:
        self._depth += 1
        if self._given_up is None:
            made: Any = Located(line) if event == "start_map" else []
            self._put(made, line)
            self._stack.append(made)
            self._keys.append("")

    def _close(self) -> None:
        self._depth -= 1
        if self._given_up is None:
            self._stack.pop()
            self._keys.pop()

    def _put(self, value: Any, line: int) -> None:
        if not self._stack:
            self.result = value
        elif isinstance(inside := self._stack[-1], Located):
            key = self._keys[-1]
            inside[key] = value
            if line != inside.line:
                inside.lines[key] = line
        else:
            inside.append(value)

    def _check(self) -> None:
        if self._given_up is None and (self._bytes > MOST_ITEM_BYTES or self._depth > MOST_DEPTH):
            self._given_up = TOO_DEEP if self._depth > MOST_DEPTH else TOO_LARGE
            self.result, self._stack, self._keys = self._given_up, [], []
        self.is_complete = self._depth == 0
