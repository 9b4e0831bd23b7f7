"""Pictures are stored without the place where they were taken, and look as before."""

import io
import struct
import time
import tracemalloc
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from PIL import Image, ImageOps, PngImagePlugin

from coaching.library.documents.picture_metadata import MetadataStays, without_metadata
from tests.patience import is_quick

PLACE, WORDS = "Quay Street 12", "taken by Mia"
GPS, ARTIST, DESCRIPTION, ORIENTATION, XMP = 34853, 315, 270, 274, 700
MOST_BYTES = 25 << 20
SECONDS = 1.0
"""For the largest file that may be uploaded, whatever it holds."""


def exif_of(orientation: int) -> Image.Exif:
    """Return EXIF that says where a picture was taken, and by whom."""
    exif = Image.Exif()
    exif[DESCRIPTION], exif[ARTIST], exif[ORIENTATION] = PLACE, WORDS, orientation
    exif.get_ifd(GPS).update({1: "N", 2: (52.0, 31.0, 12.0), 29: PLACE})
    return exif


def picture(kind: str, mode: str = "RGB", *, orientation: int = 6, **more: Any) -> bytes:
    """Return a gradient that says where it was taken."""
    written = io.BytesIO()
    shown = Image.linear_gradient("L").crop((0, 0, 256, 128)).convert(mode)
    shown.save(written, kind, exif=exif_of(orientation), **more)
    return written.getvalue()


def jpeg(mode: str = "RGB", **more: Any) -> bytes:
    xmp = f"<x:xmpmeta>{PLACE}</x:xmpmeta>".encode()
    return picture("JPEG", mode, comment=WORDS.encode(), xmp=xmp, icc_profile=b"a profile", **more)


def png(mode: str = "RGB") -> bytes:
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Author", WORDS)
    texts.add_itxt("Location", PLACE)
    texts.add(b"prVt", PLACE.encode())
    return picture("PNG", mode, pnginfo=texts, icc_profile=b"a profile") + WORDS.encode()


def frames() -> list[Image.Image]:
    return [Image.linear_gradient("L").rotate(90 * number) for number in range(4)]


def gif() -> bytes:
    written = io.BytesIO()
    first, *others = frames()
    first.save(written, "GIF", save_all=True, append_images=others, comment=WORDS.encode(), loop=3)
    at = written.getvalue().index(b"\x21\xff")
    xmp = b"\x21\xff\x0bXMP DataXMP" + bytes([len(PLACE)]) + PLACE.encode() + b"\0"
    return written.getvalue()[:at] + xmp + written.getvalue()[at:]


def tiff() -> bytes:
    """Return pages that say where they were taken, the first by its coordinates, too."""
    written = io.BytesIO()
    first, *others = frames()
    for each in (first, *others):
        exif = exif_of(6)
        exif[XMP] = f"<x:xmpmeta>{PLACE}</x:xmpmeta>".encode()
        if each is first:  # PIL writes wrong places for those of the others
            exif[GPS] = exif.get_ifd(GPS)
        each.encoderinfo = {"exif": exif}
    first.save(written, "TIFF", save_all=True, append_images=others)
    return written.getvalue()


PICTURES: Mapping[str, bytes] = {
    "jpeg": jpeg(),
    "grey jpeg": jpeg("L"),
    "jpeg in the colours of print": jpeg("CMYK"),
    "progressive jpeg": jpeg(progressive=True),
    "jpeg with another behind it": jpeg() + jpeg(),
    "jpeg with words between its scans": jpeg(progressive=True).replace(
        b"\xff\xda", b"\xff\xfe" + struct.pack("!H", len(WORDS) + 2) + WORDS.encode() + b"\xff\xda"
    ),
    "png": png(),
    "png of 16 bits": png("I;16"),
    "png with a palette": png("P"),
    "webp": picture("WEBP", xmp=PLACE.encode(), icc_profile=b"a profile"),
    "webp without loss": picture("WEBP", "RGBA", lossless=True, xmp=PLACE.encode()),
    "gif that moves": gif(),
    "tiff of four pages": tiff(),
}


def shown(data: bytes) -> list[bytes]:
    """Return the pixels of each frame, as viewers turn them."""
    with Image.open(io.BytesIO(data)) as opened:
        found = []
        for number in range(getattr(opened, "n_frames", 1)):
            opened.seek(number)
            found.append(ImageOps.exif_transpose(opened).convert("RGB").tobytes())
        return found


@pytest.mark.parametrize("kind", PICTURES)
def test_place_and_words_are_gone_and_all_looks_the_same(kind: str) -> None:
    data = PICTURES[kind]
    assert PLACE.encode() in data or WORDS.encode() in data
    stored = without_metadata(data)
    assert PLACE.encode() not in stored
    assert WORDS.encode() not in stored
    assert shown(stored) == shown(data)[: len(shown(stored))]
    assert without_metadata(stored) == stored
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(stored)) as opened:
        assert not opened.getexif().get_ifd(GPS)
        assert set(opened.getexif()) <= {ORIENTATION} or opened.format == "TIFF"
        assert opened.info.get("icc_profile") == before.info.get("icc_profile")
        assert opened.info.get("loop") == before.info.get("loop")
        assert getattr(opened, "n_frames", 1) == getattr(before, "n_frames", 1)


@pytest.mark.parametrize(
    "make", [jpeg, lambda **more: picture("PNG", **more), lambda **more: picture("WEBP", **more)]
)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photo_stays_upright(make: Callable[..., bytes], orientation: int) -> None:
    data = make(orientation=orientation)
    stored = without_metadata(data)
    with Image.open(io.BytesIO(stored)) as opened:
        assert opened.getexif().get(ORIENTATION, 1) == orientation
        assert len(opened.getexif()) <= 1
    assert shown(stored) == shown(data)


@pytest.mark.parametrize("kind", PICTURES)
def test_a_damaged_picture_is_refused_or_has_no_metadata(kind: str) -> None:
    data = PICTURES[kind]
    for length in range(0, len(data), 97):
        try:
            stored = without_metadata(data[:length])
        except MetadataStays:
            continue
        assert PLACE.encode() not in stored or kind.startswith("tiff")
    assert without_metadata(b"A lease") == b"A lease"


def png_chunk(kind: bytes, content: bytes = b"") -> bytes:
    return struct.pack("!I", len(content)) + kind + content + struct.pack("!I", zlib.crc32(kind + content))


def repeated(head: bytes, part: bytes) -> bytes:
    return head + part * ((MOST_BYTES - len(head)) // len(part))


def overlapping_tiff() -> bytes:
    """Return a TIFF whose entries all name the same megabytes."""
    entry = struct.pack("<HHII", DESCRIPTION, 2, 20 << 20, 8)
    return (b"II*\0" + struct.pack("<IH", 8, 60_000) + entry * 60_000).ljust(MOST_BYTES, b"\0")


def circular_tiff() -> bytes:
    entry = struct.pack("<HHII", 330, 4, 1_000_000, 8)
    return (b"II*\0" + struct.pack("<IH", 8, 1_000) + entry * 1_000 + struct.pack("<I", 8)).ljust(MOST_BYTES)


def tiff_of_copies() -> bytes:
    """Return half a megabyte whose entries name four million directories."""
    entry = struct.pack("<HHII", 330, 4, 100, 10 + 40_000 * 12)
    return b"II*\0" + struct.pack("<IH", 8, 40_000) + entry * 40_000 + struct.pack("<100I", *range(100))


HOSTILE: Mapping[str, Callable[[], bytes]] = {
    "jpeg of empty scans": lambda: repeated(b"\xff\xd8", b"\xff\xda\0\2"),
    "jpeg of comments": lambda: repeated(b"\xff\xd8", b"\xff\xfe\0\2"),
    "jpeg of fill bytes": lambda: repeated(b"\xff\xd8", b"\xff"),
    "jpeg scan of fill bytes": lambda: repeated(b"\xff\xd8\xff\xda\0\2", b"\xff"),
    "jpeg scan of zeros": lambda: repeated(b"\xff\xd8\xff\xda\0\2", b"\xff\0"),
    "jpeg with a length of zero": lambda: repeated(b"\xff\xd8", b"\xff\xe1\0\0"),
    "png of empty chunks": lambda: repeated(b"\x89PNG\r\n\x1a\n", png_chunk(b"IDAT")),
    "png of EXIF": lambda: repeated(b"\x89PNG\r\n\x1a\n", png_chunk(b"eXIf", b"II*\0\x08\0\0\0\xff\xff")),
    "webp of empty chunks": lambda: repeated(b"RIFF\xff\xff\xff\xffWEBP", b"VP8 \0\0\0\0"),
    "gif of bytes": lambda: repeated(b"GIF89a\1\0\1\0\0\0\0", b"\x21\xfe" + b"\1x" * 100 + b"\0"),
    "gif of one endless image": lambda: repeated(b"GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2", b"\1x"),
    "tiff whose entries overlap": overlapping_tiff,
    "tiff whose directories are circular": circular_tiff,
    "tiff of copies": tiff_of_copies,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_file_takes_long(kind: str) -> None:
    data = HOSTILE[kind]()
    began = time.process_time()
    try:
        stored = without_metadata(data)
    except MetadataStays:
        stored = b""
    assert is_quick(time.process_time() - began, SECONDS)
    assert len(stored) <= len(data)


def test_directories_that_wait_take_little_memory() -> None:
    data = tiff_of_copies()
    tracemalloc.start()
    try:
        with suppress(MetadataStays):
            without_metadata(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * len(data)


def test_a_comment_beside_a_stray_byte_is_no_way_around() -> None:
    comment = b"\xff\xfe" + struct.pack("!H", len(WORDS) + 2) + WORDS.encode() + b"\0"
    data = jpeg()
    with pytest.raises(MetadataStays):
        without_metadata(data[:2] + comment + data[2:])


def test_a_directory_outside_of_a_tiff_hides_none_behind_it() -> None:
    description = struct.pack("<HHII", DESCRIPTION, 2, len(WORDS), 38)
    copies = struct.pack("<HHII", 330, 4, 5, 0xFFFFFF00)
    head = b"II*\0" + struct.pack("<IH", 8, 2)
    data = head + copies + description + struct.pack("<I", 0) + WORDS.encode()
    assert WORDS.encode() not in without_metadata(data)
