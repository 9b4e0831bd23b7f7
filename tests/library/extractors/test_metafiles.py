"""The words in drawings of Windows are read, whatever the drawing says of its own size."""

import struct
from collections.abc import Callable

import pytest

from coaching.library.extractors.metafiles import MAX_RECORDS, MAX_TEXTS, Metafiles
from tests.library.extractors import metafiles


def lines_of(drawing: bytes) -> list[str]:
    return Metafiles().lines(drawing)


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


def test_the_drawings_of_a_document_share_their_limits() -> None:
    reader = Metafiles()
    texts, records = metafiles.emf(*["x"] * (MAX_TEXTS - 1)), struct.pack("<II", 14, 8) * MAX_RECORDS
    assert len(reader.lines(texts)[0].split()) == MAX_TEXTS - 1
    assert reader.lines(metafiles.emf("Rent", "1,200")) == ["Rent"]
    reader = Metafiles()
    assert reader.lines(metafiles.emf("Rent", "1,200")) == ["Rent 1,200"]
    assert reader.lines(metafiles.emf() + records) == []
    assert reader.lines(metafiles.emf("Rent")) == []


@pytest.mark.parametrize(
    ("options", "letters", "text"),
    [
        (0x100, "Rent".encode("utf-16-le"), ["Rent"]),
        (0x300, b"Rent", ["Rent"]),
        (0x200, bytes(16) + b"Rent", ["Rent"]),
        (0x310, b"Rent", []),
    ],
)
def test_short_texts_are_read(options: int, letters: bytes, text: list[str]) -> None:
    record = struct.pack("<IIiiII12x", 108, 36 + len(letters), 10, 20, 4, options) + letters
    assert lines_of(metafiles.emf(after=record)) == text


def test_several_texts_of_one_record_are_read() -> None:
    places = struct.pack("<iiIII20x", 10, 20, 4, 120, 0) + struct.pack("<iiIII20x", 10, 40, 3, 124, 0)
    record = struct.pack("<II28xI", 96, 128, 2) + places + b"Rentdue\0"
    assert lines_of(metafiles.emf(after=record)) == ["Rent", "due"]


@pytest.mark.parametrize(("charset", "text"), [(0, ["Rent", "\u00c0"]), (204, ["Rent"])])
def test_letters_that_their_font_may_mean_otherwise_are_not_read(charset: int, text: list[str]) -> None:
    font = bytes(13) + bytes([charset]) + bytes(4)
    record = struct.pack("<IH", 3 + len(font) // 2, 0x02FB) + font
    texts = (
        struct.pack("<hhHH", height, 10, 4, 0) + said for height, said in ((1, b"Rent"), (2, b"\xc0   "))
    )
    record += b"".join(struct.pack("<IH", 3 + len(each) // 2, 0x0A32) + each for each in texts)
    assert lines_of(metafiles.wmf(after=record)) == text


def test_numbers_of_shapes_in_a_font_are_not_read() -> None:
    record = struct.pack("<IHhhHH4s", 9, 0x0A32, 20, 10, 4, 0x10, b"$%&x")
    assert lines_of(metafiles.wmf(after=record)) == []
