"""Splits a JSON file into its items before anything parses them, in bounded memory and linear time.

The items are the elements of a list, or of the lists in an object, or objects after one another. A regular
expression passes over strings and everything between brackets at the speed of C, so an item's size, its
longest string and its depth are known, and limited, before a parser gets its bytes. An item over a limit is
passed over; one that goes on for very long refuses the file. Their own syntax is their parser's business.

Over 300 lines, because the parts of one scanner share its patterns and its place in a block.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coaching.legacy.importers.sentences import gettext_noop

BLOCK_BYTES = 1 << 18
MAX_ITEMS = 200_000
MAX_TOKEN_BYTES = 4 << 20
MAX_ITEM_BYTES = 64 << 20
"""The most memory that one item may take, as estimated by its bytes and the number of its values."""
VALUE_BYTES = 100
MAX_DEPTH = 100
MAX_PASSED_OVER_BYTES = 120 << 20
"""An item that is longer refuses the file: no conversation is, and passing over it takes time."""

_BOM = b"\xef\xbb\xbf"
# All of them match anywhere, if only nothing.
_BLANK = re.compile(rb"[ \t\r\n]*+")
_BARE = re.compile(rb"[-+.0-9A-Za-z]*+")
_STRING_REST = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_BETWEEN_BRACKETS = re.compile(
    rb'[^"{}\[\]]*+(?:"[^"\\]{0,999}+(?:\\.[^"\\]{0,999}+)*+"[^"{}\[\]]*+)*+', re.DOTALL
)
_QUOTE, _BACKSLASH = b'"\\'
_OPENING = frozenset(b"[{")

Path = tuple[str | int, ...]


class NotJson(Exception):
    """The file isn't JSON, or isn't complete; `line` is where that was noticed."""

    def __init__(self, line: int) -> None:
        super().__init__(f"Line {line} isn’t valid JSON.")
        self.line = line


class TooMuch(Exception):
    """The file has more than an export has: too many items, or one that goes on for too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """What stands for an item that wasn't parsed."""

    reason: str


TOO_LARGE = Unreadable(reason=gettext_noop("This is too large to read, so it was skipped."))
TOO_DEEP = Unreadable(reason=gettext_noop("This is nested too deeply to read, so it was skipped."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """An item's bytes, or why it has none; `path` is `("sessions", 3)`, `(3,)` in a bare list."""

    path: Path
    line: int
    data: bytes | Unreadable


def read_pieces(read: Callable[[int], bytes], *, is_sequence: bool = False) -> Iterator[Piece]:
    """Yield the items of a JSON file, given how its next bytes are read. Raises `NotJson`, `TooMuch`.

    In a sequence (JSONL) the items are objects after one another.
    """
    splitter = _Splitter(read)
    return splitter.objects() if is_sequence else splitter.pieces()


class _Kept:
    """The bytes of an item that is being read, within the limits."""

    def __init__(self) -> None:
        self.given_up: Unreadable | None = None
        self._parts: list[bytes] = []
        self._weight = 0
        self._length = 0

    def add(self, part: bytes, *, is_in_string: bool = False) -> None:
        """Take the next bytes, which begin inside a string or not."""
        self._length += len(part)
        if self._length > MAX_PASSED_OVER_BYTES:
            raise TooMuch
        if self.given_up is None:
            self._weight += len(part) + VALUE_BYTES * _count_values(part, is_in_string=is_in_string)
            if self._weight > MAX_ITEM_BYTES:
                self.give_up(TOO_LARGE)
            else:
                self._parts.append(part)

    def give_up(self, reason: Unreadable) -> None:
        if self.given_up is None:
            self.given_up, self._parts = reason, []

    def data(self) -> bytes | Unreadable:
        return self.given_up or b"".join(self._parts)


def _count_values(part: bytes, *, is_in_string: bool) -> int:
    """Return about how many keys and values begin in a part of an item."""
    if _BACKSLASH in part:
        part = part.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b"".join(part.split(b'"')[is_in_string::2])
    return sum(map(outside.count, (b",", b":", b"[", b"{")))


class _Splitter:
    """Reads a file in blocks; `_at` is the place in the block of what comes next."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._data = read(BLOCK_BYTES).removeprefix(_BOM)
        self._at = 0
        self._line = 1
        self._counted = 0  # up to here in the block, line ends are in `_line`
        self._items = 0

    def pieces(self) -> Iterator[Piece]:
        """Yield the items of a list, of the lists in an object, and its other values."""
        top = self._next()
        if top == b"[":
            yield from self._elements(())
        elif top == b"{":
            yield from self._members()
        else:
            raise self._not_json()
        if self._peek():
            raise self._not_json()

    def objects(self) -> Iterator[Piece]:
        """Yield objects after one another."""
        number = 0
        while self._peek() == b"{":
            yield self._item((number,))
            number += 1
        if self._peek() or not number:
            raise self._not_json()

    def _elements(self, path: Path) -> Iterator[Piece]:
        if self._peek() == b"]":
            self._at += 1
            return
        number = 0
        while True:
            yield self._item((*path, number))
            number += 1
            if not self._goes_on(b"]"):
                return

    def _members(self) -> Iterator[Piece]:
        if self._peek() == b"}":
            self._at += 1
            return
        while True:
            key = self._key()
            if self._next() != b":":
                raise self._not_json()
            if self._peek() == b"[":
                self._at += 1
                yield from self._elements((key,))
            else:
                yield self._item((key,))
            if not self._goes_on(b"}"):
                return

    def _goes_on(self, end: bytes) -> bool:
        """Take a comma or the end."""
        byte = self._next()
        if byte not in (b",", end):
            raise self._not_json()
        return byte != end

    def _key(self) -> str:
        if self._peek() != b'"':
            raise self._not_json()
        kept = _Kept()
        self._string(kept)
        data = kept.data()
        if isinstance(data, Unreadable):
            raise TooMuch
        try:
            key: str = json.loads(data)
        except ValueError as error:
            raise self._not_json() from error
        return key

    def _item(self, path: Path) -> Piece:
        self._items += 1
        if self._items > MAX_ITEMS:
            raise TooMuch
        first = self._peek()
        line, kept = self._line_here(), _Kept()
        if first in (b"[", b"{"):
            self._container(kept)
        elif first == b'"':
            self._string(kept)
        else:
            self._bare(kept)
        return Piece(path=path, line=line, data=kept.data())

    def _container(self, kept: _Kept) -> None:
        inside = _Inside()
        while True:
            began_in_string = inside.is_in_string
            end = inside.scan(self._data, self._at)
            if inside.max_depth > MAX_DEPTH:
                kept.give_up(TOO_DEEP)
            if inside.string_bytes > MAX_TOKEN_BYTES:
                kept.give_up(TOO_LARGE)
            kept.add(self._data[self._at : end], is_in_string=began_in_string)
            self._at = end
            if not (inside.depth or inside.is_in_string):
                return
            self._fill_or_fail()

    def _string(self, kept: _Kept) -> None:
        string_bytes, start, is_in_string = 0, self._at, False
        self._at += 1
        while True:
            end = _end_of_string(self._data, self._at)
            string_bytes += end - self._at
            is_over = end < len(self._data) and self._data[end] == _QUOTE
            self._at = end + is_over
            if string_bytes > MAX_TOKEN_BYTES:
                kept.give_up(TOO_LARGE)
            kept.add(self._data[start : self._at], is_in_string=is_in_string)
            if is_over:
                return
            self._fill_or_fail()
            start, is_in_string = self._at, True

    def _bare(self, kept: _Kept) -> None:
        """Read a number, true, false or null."""
        length = 0
        while True:
            end = _end_of(_BARE, self._data, self._at)
            length += end - self._at
            if length > MAX_TOKEN_BYTES:
                kept.give_up(TOO_LARGE)
            kept.add(self._data[self._at : end])
            self._at = end
            if end < len(self._data) or not self._fill():
                break
        if not length:
            raise self._not_json()

    def _peek(self) -> bytes:
        """Return the next byte that isn't blank, none at the end of the file."""
        while True:
            self._at = _end_of(_BLANK, self._data, self._at)
            if self._at < len(self._data):
                return self._data[self._at : self._at + 1]
            if not self._fill():
                return b""

    def _next(self) -> bytes:
        byte = self._peek()
        self._at += len(byte)
        return byte

    def _fill(self) -> bool:
        """Read the next block, after what is left of this one: at most half an escape."""
        block = self._read(BLOCK_BYTES)
        if not block:
            return False
        self._line_here()
        self._data = self._data[self._at :] + block
        self._at = self._counted = 0
        return True

    def _fill_or_fail(self) -> None:
        if not self._fill():
            raise self._not_json()

    def _line_here(self) -> int:
        self._line += self._data.count(b"\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _not_json(self) -> NotJson:
        return NotJson(self._line_here())


def _end_of_string(data: bytes, at: int) -> int:
    """Return where a string or its block ends, or half an escape begins. Plain runs are searched for."""
    end = data.find(b'"', at)
    if data.find(b"\\", at, len(data) if end < 0 else end) < 0:
        return len(data) if end < 0 else end
    return _end_of(_STRING_REST, data, at)


class _Inside:
    """The place inside a container, from one block to the next."""

    def __init__(self) -> None:
        self.depth = self.max_depth = 0
        self.is_in_string = False
        self.string_bytes = 0
        """Of the string that began in an earlier block; shorter ones fit into a block."""

    def scan(self, data: bytes, at: int) -> int:
        """Go on in a block; return where it ends, or the container in it, or half an escape begins."""
        size = len(data)
        if self.depth > MAX_DEPTH and not self.is_in_string:
            at = self._pass_over(data, at)
        while at < size:
            if self.is_in_string:
                end = _end_of_string(data, at)
                self.string_bytes += end - at
                if end == size or data[end] == _BACKSLASH:
                    return end
                self.is_in_string, at = False, end + 1
            at = _end_of(_BETWEEN_BRACKETS, data, at)
            if at == size:
                break
            at += 1
            if data[at - 1] == _QUOTE:  # of a long string, or one that goes on in the next block
                self.is_in_string, self.string_bytes = True, 0
            elif self._is_over(data[at - 1]):
                break
        return at

    def _is_over(self, bracket: int) -> bool:
        if bracket in _OPENING:
            self.depth += 1
            self.max_depth = max(self.max_depth, self.depth)
        else:
            self.depth -= 1
        return not self.depth

    def _pass_over(self, data: bytes, at: int) -> int:
        """Pass over a block at once where it has no strings and can't end what is too deep."""
        closing = data.count(b"]", at) + data.count(b"}", at)
        if data.count(b'"', at) or closing >= self.depth:
            return at
        self.depth += data.count(b"[", at) + data.count(b"{", at) - closing
        return len(data)


def _end_of(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Return where a pattern that always matches, if only nothing, ends."""
    found = pattern.match(data, at)
    assert found is not None
    return found.end()
