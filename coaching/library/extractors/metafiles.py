"""The words in drawings of Windows (EMF and WMF): pasted tables and charts, and what stands for a file."""

import struct
from collections.abc import Iterator
from itertools import islice

MAX_RECORDS = 50_000
MAX_TEXTS = 2_000

_EMF_HEADER, _EMF_MARK, _EMF_MARK_AT = 1, b" EMF", 40
_EMF_TEXT_ANSI, _EMF_TEXT = 83, 84
_EMF_TEXT_HEAD = struct.Struct("<36xiiIII")
"""Of a record: the place, then how many letters, where they begin, and options."""
_GLYPHS = 0x10
"""Numbers of a font's shapes instead of letters."""
_WMF_PLACEABLE, _PLACEABLE_BYTES = b"\xd7\xcd\xc6\x9a", 22
_WMF_HEADER = struct.Struct("<HHH12x")
_WMF_TEXT, _WMF_TEXT_IN_BOX = 0x0521, 0x0A32
_IN_BOX, _BOX_BYTES = 0x02 | 0x04, 8
_ENCODING = "cp1252"

_Placed = tuple[int, str]
"""A text and how far down it stands."""


def lines_of(data: bytes) -> list[str]:
    """Return the lines of text in a drawing; none if it is no metafile or damaged."""
    is_emf = data[_EMF_MARK_AT : _EMF_MARK_AT + len(_EMF_MARK)] == _EMF_MARK
    placed = _emf(data) if is_emf else _wmf(data)
    lines: list[str] = []
    last: int | None = None
    for height, text in islice(placed, MAX_TEXTS):
        said = " ".join("".join(filter(str.isprintable, text.replace("\t", " "))).split())
        if said and height == last:
            lines[-1] += f" {said}"
        elif said:
            lines.append(said)
            last = height
    return lines


def _emf(data: bytes) -> Iterator[_Placed]:
    at = 0
    for _ in range(MAX_RECORDS):
        if at + 8 > len(data):
            return
        kind, size = struct.unpack_from("<II", data, at)
        if size < 8 or size % 4:
            return
        record = data[at : at + size]
        at += size
        if kind not in (_EMF_TEXT, _EMF_TEXT_ANSI) or len(record) < _EMF_TEXT_HEAD.size:
            continue
        _, height, count, begin, options = _EMF_TEXT_HEAD.unpack_from(record)
        if not options & _GLYPHS:
            width, encoding = (2, "utf-16-le") if kind == _EMF_TEXT else (1, _ENCODING)
            yield height, record[begin : begin + count * width].decode(encoding, "replace")


def _wmf(data: bytes) -> Iterator[_Placed]:
    at = _PLACEABLE_BYTES if data.startswith(_WMF_PLACEABLE) else 0
    if at + _WMF_HEADER.size > len(data) or _WMF_HEADER.unpack_from(data, at)[:2] not in ((1, 9), (2, 9)):
        return
    at += _WMF_HEADER.size
    for _ in range(MAX_RECORDS):
        if at + 6 > len(data):
            return
        words, kind = struct.unpack_from("<IH", data, at)
        if words < 3:
            return
        record = data[at + 6 : at + 2 * words]
        at += 2 * words
        if kind == _WMF_TEXT and len(record) >= 2:
            (count,) = struct.unpack_from("<H", record)
            height = record[2 + count + count % 2 :][:2]
            yield (
                int.from_bytes(height, "little", signed=True),
                record[2 : 2 + count].decode(_ENCODING, "replace"),
            )
        elif kind == _WMF_TEXT_IN_BOX and len(record) >= 8:
            height, _, count, options = struct.unpack_from("<hhHH", record)
            begin = 8 + _BOX_BYTES * bool(options & _IN_BOX)
            yield height, record[begin : begin + count].decode(_ENCODING, "replace")
