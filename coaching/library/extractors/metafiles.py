"""The words in drawings of Windows (EMF and WMF): pasted tables and charts, and icons of files.

Texts of one height are a line, with a space between any two of them. Drawings made only of EMF+ records have
no words here.
"""

import struct
from collections.abc import Iterator
from itertools import islice

MAX_RECORDS = 200_000
MAX_TEXTS = 5_000
MAX_LETTERS = 500_000
"""Of all drawings of a document. What follows isn't read."""

_EMF_MARK, _EMF_MARK_AT = b" EMF", 40
_EMF_FONT, _EMF_CHARSET_AT = 82, 35
_EMF_ANSI, _EMF_TEXT, _EMF_ANSI_TEXTS, _EMF_TEXTS, _EMF_SMALL = 83, 84, 96, 97, 108
_EMF_PLACED = struct.Struct("<iiIII")
"""The place, then how many letters, where they begin in the record, and options."""
_FIRST_AT, _FIRSTS_AT, _PLACED_BYTES = 36, 40, 40
"""Offset in a record of one text, in one of several, and the distance between these, in bytes."""
_EMF_SMALL_TEXT = struct.Struct("<8xiiII12x")
_NO_BOX, _ONE_BYTE, _SMALL_BOX_BYTES = 0x100, 0x200, 16
_GLYPHS = 0x10
"""Numbers of a font's shapes instead of letters."""
_WMF_PLACEABLE, _PLACEABLE_BYTES = b"\xd7\xcd\xc6\x9a", 22
_WMF_HEADER = struct.Struct("<HHH12x")
_WMF_FONT, _WMF_CHARSET_AT = 0x02FB, 13
_WMF_TEXT, _WMF_TEXT_IN_BOX = 0x0521, 0x0A32
_IN_BOX, _BOX_BYTES = 0x02 | 0x04, 8
_WESTERN = (0, 1)
"""Character sets of fonts: of Western Europe, and that of the computer."""

_Record = tuple[int, bytes]
_Placed = tuple[int, str]
"""A text and its height on the page."""


class Metafiles:
    """Reads the drawings of one document."""

    def __init__(self) -> None:
        self._left_records = MAX_RECORDS
        self._left_texts = MAX_TEXTS
        self._left_letters = MAX_LETTERS

    def lines(self, data: bytes) -> list[str]:
        """Return the lines of text in a drawing; none if it is no metafile or damaged."""
        is_emf = data[_EMF_MARK_AT : _EMF_MARK_AT + len(_EMF_MARK)] == _EMF_MARK
        lines: list[str] = []
        last: int | None = None
        for height, text in (_emf if is_emf else _wmf)(self._counted(_records(data, is_emf=is_emf))):
            if not self._left_texts or not self._left_letters:
                break
            read = text[: self._left_letters]
            self._left_texts -= 1
            self._left_letters -= len(read)
            said = " ".join("".join(filter(str.isprintable, read.replace("\t", " "))).split())
            if said and height == last:
                lines[-1] += f" {said}"
            elif said:
                lines.append(said)
                last = height
        return lines

    def _counted(self, records: Iterator[_Record]) -> Iterator[_Record]:
        for record in islice(records, self._left_records):
            self._left_records -= 1
            yield record


def _records(data: bytes, *, is_emf: bool) -> Iterator[_Record]:
    """Yield the kind and the content of each record; in an EMF it begins with its head."""
    at, head, least, unit, skipped = 0, struct.Struct("<II"), 8, 1, 0
    if not is_emf:
        at = _PLACEABLE_BYTES if data.startswith(_WMF_PLACEABLE) else 0
        if at + _WMF_HEADER.size > len(data) or _WMF_HEADER.unpack_from(data, at)[:2] not in ((1, 9), (2, 9)):
            return
        at, head, least, unit, skipped = at + _WMF_HEADER.size, struct.Struct("<IH"), 3, 2, 6
    while at + head.size <= len(data):
        stated = head.unpack_from(data, at)
        kind, size = stated if is_emf else stated[::-1]
        if size < least or (is_emf and size % 4):
            return
        yield kind, data[at + skipped : at + size * unit]
        at += size * unit


def _emf(records: Iterator[_Record]) -> Iterator[_Placed]:
    is_western = True
    for kind, record in records:
        if kind == _EMF_FONT:
            is_western &= _is_western(record, _EMF_CHARSET_AT)
        elif kind in (_EMF_ANSI, _EMF_TEXT):
            yield from _emf_text(record, _FIRST_AT, kind == _EMF_TEXT, is_western=is_western)
        elif kind in (_EMF_ANSI_TEXTS, _EMF_TEXTS):
            count = int.from_bytes(record[_FIRSTS_AT - 4 : _FIRSTS_AT], "little")
            for at in range(_FIRSTS_AT, min(len(record), _FIRSTS_AT + count * _PLACED_BYTES), _PLACED_BYTES):
                yield from _emf_text(record, at, kind == _EMF_TEXTS, is_western=is_western)
        elif kind == _EMF_SMALL and len(record) >= _EMF_SMALL_TEXT.size:
            _, height, count, options = _EMF_SMALL_TEXT.unpack_from(record)
            begin = _EMF_SMALL_TEXT.size + _SMALL_BOX_BYTES * (not options & _NO_BOX)
            width, encoding = (1, "latin-1") if options & _ONE_BYTE else (2, "utf-16-le")
            if not options & _GLYPHS:
                yield height, record[begin : begin + count * width].decode(encoding, "replace")


def _emf_text(record: bytes, at: int, is_unicode: bool, *, is_western: bool) -> Iterator[_Placed]:
    if at + _EMF_PLACED.size > len(record):
        return
    _, height, count, begin, options = _EMF_PLACED.unpack_from(record, at)
    if options & _GLYPHS:
        return
    letters = record[begin : begin + count * (1 + is_unicode)]
    yield height, letters.decode("utf-16-le", "replace") if is_unicode else _ansi(letters, is_western)


def _wmf(records: Iterator[_Record]) -> Iterator[_Placed]:
    is_western = True
    for kind, record in records:
        if kind == _WMF_FONT:
            is_western &= _is_western(record, _WMF_CHARSET_AT)
        elif kind == _WMF_TEXT and len(record) >= 2:
            (count,) = struct.unpack_from("<H", record)
            height = int.from_bytes(record[2 + count + count % 2 :][:2], "little", signed=True)
            yield height, _ansi(record[2 : 2 + count], is_western)
        elif kind == _WMF_TEXT_IN_BOX and len(record) >= 8:
            height, _, count, options = struct.unpack_from("<hhHH", record)
            begin = 8 + _BOX_BYTES * bool(options & _IN_BOX)
            if not options & _GLYPHS:
                yield height, _ansi(record[begin : begin + count], is_western)


def _is_western(font: bytes, at: int) -> bool:
    return len(font) <= at or font[at] in _WESTERN


def _ansi(letters: bytes, is_western: bool) -> str:
    """Return a text of one byte a letter; empty if the drawing's fonts leave open which letters they are."""
    return letters.decode("cp1252", "replace") if is_western or letters.isascii() else ""
