"""Removes what a picture says about its taking: place, time, camera, author, comments. Pure.

Only lengths of segments, chunks and blocks are read, nothing is decoded: pixels and colour profiles stay as
they are. What isn't known to be needed is left out. Of EXIF, the orientation is kept, since viewers turn a
picture by it.

Over 300 lines, because each of five formats has its own parts, and its own way through them.
"""

import itertools
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping

from coaching.library.extractors.content_types import GIF, JPEG, PNG, TIFF, WEBP, image_type

MAX_PARTS = 200_000
"""A picture of 25 MB has fewer, unless it was made to take long."""

_SIGNS = (b"Exif", b"EXIF", b"eXIf", b"xmpmeta", b"ns.adobe.com/xap", b"Photoshop 3.0")
"""A picture with metadata contains one of them."""
_COMMENTS = {JPEG: (b"\xff\xfe",), GIF: (b"\x21\xfe",)}

_APP0, _APP1, _APP2, _APP14, _LAST_APP, _COMMENT = 0xE0, 0xE1, 0xE2, 0xEE, 0xEF, 0xFE
_END_OF_IMAGE, _START_OF_SCAN, _FILL = 0xD9, 0xDA, 0xFF
_KEPT_APPS = (_APP0, _APP14)
"""JFIF and Adobe's colour transform."""
_FIRST_WITH_LENGTH = 0xC0
_WITHOUT_LENGTH = range(0xD0, 0xD9)
_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""Between them stands compressed data."""
_PROFILE = b"ICC_PROFILE\0"
_EXIF = b"Exif\0\0"
_ORIENTATION = 0x0112

_PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI".split()
    + b"bKGD hIST pHYs sPLT acTL fcTL fdAT".split()
)
_PNG_EXIF, _PNG_END = b"eXIf", b"IEND"

_WEBP_KEPT = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ICCP", b"ANIM", b"ANMF", b"ALPH"))
_WEBP_EXIF = b"EXIF"
_HAS_EXIF, _HAS_XMP = 0b1000, 0b0100
"""Flags of `VP8X`."""

_GIF_IMAGE, _GIF_EXTENSION, _GIF_END = 0x2C, 0x21, 0x3B
_GIF_CONTROL, _GIF_APPLICATION = 0xF9, 0xFF
_GIF_LOOPS = (b"NETSCAPE2.0", b"ANIMEXTS1.0")

_TIFF_DIRECTORIES = (34665, 34853, 40965)
"""EXIF, GPS and interoperability: directories of their own."""
_TIFF_SMALLER_COPIES = 330
MAX_COPIES = 100
_TIFF_REMOVED = frozenset((
    269, 270, 271, 272, 285, 305, 306, 315, 316, 700, 33432, 33723, 34377, 36867, 37510, 37724, 40091, 40092,
    40093, 40094, 40095, 42016, 42032, 42033, 42035, 42036, 42037, 50827,
))  # fmt: skip
"""Names, descriptions, camera, program, times, author, XMP, IPTC, Photoshop's and Windows' texts."""
_TIFF_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}


class MetadataStays(Exception):
    """A picture has metadata, or may have, and is built so that it can't be removed."""


def without_metadata(data: bytes) -> bytes:
    """Return a picture without its metadata, and anything else as it is. Raises `MetadataStays`.

    A damaged picture without metadata is returned as it is.
    """
    remove = _BY_TYPE.get(image_type(data))
    if remove is None:
        return data
    try:
        return b"".join(remove(data))
    except (struct.error, ValueError, IndexError):
        if any(sign in data for sign in (*_SIGNS, *_COMMENTS.get(image_type(data), ()))):
            raise MetadataStays from None
        return data


def _parts() -> Iterator[None]:
    """Count the parts of a picture. Raises `MetadataStays` after too many."""
    yield from itertools.repeat(None, MAX_PARTS)
    raise MetadataStays


def _jpeg(data: bytes) -> Iterator[bytes]:
    """Yield what a JPEG shows, up to its end: other pictures may follow, with metadata of their own."""
    yield data[:2]
    at = 2
    for _ in _parts():
        if data[at] != _FILL:
            raise ValueError("no marker")
        marker = data[at + 1]
        if marker == _FILL:  # fill bytes may come before a marker
            at += 1
            continue
        if marker == _END_OF_IMAGE:
            yield data[at : at + 2]
            return
        if marker < _FIRST_WITH_LENGTH or marker in _WITHOUT_LENGTH:
            raise ValueError("no segment")
        end = at + 2 + struct.unpack_from("!H", data, at + 2)[0]
        yield _segment(marker, data[at:end])
        at = end
        if marker == _START_OF_SCAN:
            found = _MARKER.search(data, end)
            at = found.start() if found else len(data)
            yield data[end:at]
        if at >= len(data):  # cut off
            return


def _segment(marker: int, segment: bytes) -> bytes:
    content = segment[4:]
    if marker == _APP1 and content.startswith(_EXIF):
        body = _EXIF + _tiff_of(_orientation(content[len(_EXIF) :]))
        return struct.pack("!BBH", _FILL, _APP1, len(body) + 2) + body if len(body) > len(_EXIF) else b""
    if marker == _APP2:
        return segment if content.startswith(_PROFILE) else b""
    is_needed = marker in _KEPT_APPS or not _APP0 <= marker <= _LAST_APP
    return segment if is_needed and marker != _COMMENT else b""


def _orientation(tiff: bytes) -> int:
    """Return how EXIF says that a picture is turned; 1 for upright, and where it doesn't say."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return 1
    try:
        at = struct.unpack_from(f"{order}I", tiff, 4)[0]
        count = struct.unpack_from(f"{order}H", tiff, at)[0]
        for number in range(count):
            tag, _kind, _count, value = struct.unpack_from(f"{order}HHIH", tiff, at + 2 + 12 * number)
            if tag == _ORIENTATION:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        return 1
    return 1


def _tiff_of(orientation: int) -> bytes:
    """Return EXIF that says this alone; nothing for upright."""
    if orientation == 1:
        return b""
    return struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, _ORIENTATION, 3, 1, orientation, 0, 0)


def _png(data: bytes) -> Iterator[bytes]:
    yield data[:8]
    at = 8
    for _ in _parts():
        if at + 8 > len(data):  # cut off
            return
        length, kind = struct.unpack_from("!I4s", data, at)
        end = at + 12 + length
        if kind in _PNG_KEPT:
            yield data[at:end]
        elif kind == _PNG_EXIF and (tiff := _tiff_of(_orientation(data[at + 8 : end - 4]))):
            yield struct.pack("!I", len(tiff)) + kind + tiff + struct.pack("!I", zlib.crc32(kind + tiff))
        if kind == _PNG_END:
            return
        at = end


def _webp(data: bytes) -> Iterator[bytes]:
    kept: list[bytes] = []
    tiff = b""
    at, last = 12, min(len(data), 8 + struct.unpack_from("<I", data, 4)[0])
    for _ in _parts():
        if at + 8 > last:
            break
        kind, length = struct.unpack_from("<4sI", data, at)
        end = at + 8 + length + length % 2
        if kind in _WEBP_KEPT:
            kept.append(data[at:end])
        elif kind == _WEBP_EXIF:
            tiff = _tiff_of(_orientation(data[at + 8 : end].removeprefix(_EXIF)))
        at = end
    if kept and kept[0][:4] == b"VP8X":
        flags = kept[0][8] & ~(_HAS_EXIF | _HAS_XMP) | (_HAS_EXIF if tiff else 0)
        kept[0] = kept[0][:8] + bytes([flags]) + kept[0][9:]
        kept += [_WEBP_EXIF + struct.pack("<I", len(tiff)) + tiff] if tiff else []
    body = b"WEBP" + b"".join(kept)
    yield b"RIFF" + struct.pack("<I", len(body)) + body


def _gif(data: bytes) -> Iterator[bytes]:
    """Yield a GIF's images, what times them and how often they repeat."""
    at = _after_colours(13, data[10])
    yield data[:at]
    parts = _parts()
    for _ in parts:
        if at >= len(data):  # cut off
            return
        kind = data[at]
        if kind == _GIF_END:
            yield data[at : at + 1]
            return
        if kind == _GIF_IMAGE:
            end = _after_blocks(data, _after_colours(at + 10, data[at + 9]) + 1, parts)
            yield data[at:end]
        elif kind == _GIF_EXTENSION:
            end = _after_blocks(data, at + 2, parts)
            is_loop = data[at + 1] == _GIF_APPLICATION and data[at + 3 : at + 14] in _GIF_LOOPS
            if data[at + 1] == _GIF_CONTROL or is_loop:
                yield data[at:end]
        else:
            raise ValueError("no block")
        at = end


def _after_colours(at: int, flags: int) -> int:
    return at + (3 << (flags & 7) + 1 if flags & 0x80 else 0)


def _after_blocks(data: bytes, at: int, parts: Iterator[None]) -> int:
    while at < len(data) and data[at]:
        next(parts)
        at += 1 + data[at]
    return at + 1


def _tiff(data: bytes) -> Iterator[bytes]:
    """Yield a TIFF in which zeros stand for what is removed: its parts say where others stand."""
    order = {b"II": "<", b"MM": ">"}[data[:2]]
    found = _Tiff(data, order)
    found.blank()
    yield bytes(found.blanked)


class _Tiff:
    """The directories of a TIFF, and its bytes without what is removed."""

    def __init__(self, data: bytes, order: str) -> None:
        self.blanked = bytearray(data)
        self._data = data
        self._order = order
        self._waiting = {self._read("I", 4)[0]: False}
        """Where the directories to come are, and whether they are removed; the last one is next."""
        self._left = len(data)
        self._parts = _parts()

    def blank(self) -> None:
        """Go through all directories. A damaged one ends where it is damaged, as for who shows it."""
        seen: set[int] = {0}
        while self._waiting:
            at, is_removed = self._waiting.popitem()
            if at in seen:
                continue
            seen.add(at)
            try:
                self._directory(at, is_removed=is_removed)
            except struct.error:
                continue

    def _read(self, form: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self._data, at)

    def _directory(self, at: int, *, is_removed: bool) -> None:
        (count,) = self._read("H", at)
        for number in range(count):
            next(self._parts)
            self._entry(at + 2 + 12 * number, is_removed=is_removed)
        if is_removed:
            self._zero(at, 2)
        else:
            self._wait_for(self._read("I", at + 2 + 12 * count)[0], is_removed=False)

    def _entry(self, at: int, *, is_removed: bool) -> None:
        tag, kind, count, place = self._read("HHII", at)
        if tag in _TIFF_DIRECTORIES:
            self._wait_for(place, is_removed=True)
        elif tag == _TIFF_SMALLER_COPIES:
            for each in [place] if count == 1 else self._places(place, min(count, MAX_COPIES)):
                next(self._parts)
                self._wait_for(each, is_removed=False)
        elif is_removed or tag in _TIFF_REMOVED:
            size = _TIFF_SIZES.get(kind, 1) * count
            self._zero(place if size > 4 else at + 8, size)

    def _places(self, at: int, count: int) -> tuple[int, ...]:
        """Return the places of directories; none where they would stand outside of the picture."""
        try:
            return self._read(f"{count}I", at)
        except struct.error:
            return ()

    def _wait_for(self, at: int, *, is_removed: bool) -> None:
        """Note a directory, once: what any of its names says is removed is removed."""
        self._waiting[at] = is_removed or self._waiting.get(at, False)

    def _zero(self, start: int, size: int) -> None:
        """Zero some bytes. Parts that overlap would take long: together they are no more than the file."""
        size = max(0, min(size, len(self._data) - start))
        self._left -= size
        if self._left < 0:
            raise MetadataStays
        self.blanked[start : start + size] = bytes(size)


_BY_TYPE: Mapping[str, Callable[[bytes], Iterator[bytes]]] = {
    JPEG: _jpeg, PNG: _png, WEBP: _webp, GIF: _gif, TIFF: _tiff,
}  # fmt: skip
