"""The words in drawings of Windows are read, whatever the drawing says of its own size."""

import struct
from collections.abc import Callable

import pytest

from coaching.library.extractors.metafiles import MAX_TEXTS, lines_of
from tests.library.extractors import metafiles


@pytest.mark.parametrize("made", [metafiles.emf, metafiles.wmf])
def test_texts_of_one_height_are_a_line(made: Callable[..., bytes]) -> None:
    assert lines_of(made("Rent", "1,200 €", " \t")) == ["Rent 1,200 €"]
    assert lines_of(made()) == []


def test_a_text_that_has_its_place_alone_is_read() -> None:
    content = struct.pack("<H", 3) + b"Ren\0" + struct.pack("<hh", 7, 9)
    record = struct.pack("<IH", 3 + len(content) // 2, 0x0521) + content
    assert lines_of(struct.pack("<HHH12x", 1, 9, 0x300) + record * 2) == ["Ren Ren"]


@pytest.mark.parametrize(
    "drawing",
    [
        b"",
        b"\xff\xd8\xff",
        metafiles.emf("Rent")[:60],
        metafiles.emf("Rent", begin=4_000_000_000),
        metafiles.emf("Rent", size=7),
        metafiles.emf("Rent", size=0),
        metafiles.emf("Rent", size=4_000_000_000)[:-60],
        metafiles.wmf("Rent")[:30],
        metafiles.wmf("Rent")[:22] + struct.pack("<HHH12x", 1, 9, 0x300) + bytes(100),
        metafiles.wmf("Rent")[:40] + struct.pack("<IH", 4_000_000_000, 0x0A32),
    ],
)
def test_drawings_that_lie_have_no_words(drawing: bytes) -> None:
    assert lines_of(drawing) == []


def test_of_many_texts_only_the_first_are_read() -> None:
    assert len(lines_of(metafiles.emf(*["x"] * (MAX_TEXTS + 10)))[0].split()) == MAX_TEXTS
