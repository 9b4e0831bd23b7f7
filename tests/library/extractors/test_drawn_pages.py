"""Pages as they are drawn for a person: upright, without metadata, with a box for each word."""

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from PIL import Image
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from coaching.library.extractors.page_worker import answer
from coaching.library.pipeline.page_rendering import page_in
from tests.library.extractors import forms, images

SENTENCE = "The rent is 900 a month."


def drawn(data: bytes, number: int = 1, *, pixels: int = 400) -> tuple[dict[str, Any], Image.Image | None]:
    line, _, image = answer(json.dumps({"number": number, "pixels": pixels}).encode(), data).partition(b"\n")
    return json.loads(line), Image.open(io.BytesIO(image)).convert("RGB") if image else None


def page(
    *, size: tuple[float, float] = (400, 800), turned: int = 0, words: Sequence[str] = (SENTENCE,)
) -> bytes:
    """Return a PDF whose words stand near its lower left corner, black on white."""
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=size, invariant=True)
    for number, line in enumerate(words):
        canvas.drawString(20, 100 - 20 * number, line)
    canvas.setPageRotation(turned)
    canvas.showPage()
    canvas.save()
    return written.getvalue()


def test_a_large_jpeg_is_drawn_at_a_fraction_and_its_thumbnail_follows() -> None:
    written = io.BytesIO()
    Image.new("L", (10_000, 4_800), "white").save(written, "JPEG")
    line, _, data = answer(b'{"number": 1, "pixels": 200, "thumbnail": 50}', written.getvalue()).partition(
        b"\n"
    )
    found = page_in(line + b"\n" + data, most_pixels=200, has_thumbnail=True)
    for image, size in ((found.data, (200, 96)), (found.thumbnail, (50, 24))):
        with Image.open(io.BytesIO(image)) as shown:
            assert shown.size == size


def darkest(image: Image.Image, box: Sequence[int]) -> int:
    """Return how dark a box of a page is, in ten-thousandths of it: 0 is black."""
    left, top, right, bottom = box
    sides = (image.width, image.height, image.width, image.height)
    cut = [int(side * place / 10_000) for side, place in zip(sides, (left, top, right, bottom), strict=True)]
    lowest = image.convert("L").crop((cut[0], cut[1], cut[2] + 1, cut[3] + 1)).getextrema()[0]
    assert not isinstance(lowest, tuple)
    return int(lowest)


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_each_word_has_its_box_on_the_page_as_it_is_shown(turned: int) -> None:
    said, image = drawn(page(turned=turned))
    assert image is not None
    assert image.size == (200, 400)
    assert [word[0] for word in said["words"]] == SENTENCE.split()
    for _, *box in said["words"]:
        assert darkest(image, box) < 128
    left, top = min(word[1] for word in said["words"]), min(word[2] for word in said["words"])
    right, bottom = max(word[3] for word in said["words"]), max(word[4] for word in said["words"])
    assert (right - left > bottom - top) == (turned % 180 == 0), "a turned line runs down the page"


def test_letters_of_a_script_without_spaces_have_boxes_of_their_own() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=(400, 400))
    canvas.setFont("HeiseiMin-W3", 12)
    canvas.drawString(20, 100, "家賃は900円")
    canvas.save()
    said, _ = drawn(written.getvalue())
    assert [word[0] for word in said["words"]] == ["家", "賃", "は", "900", "円"]


@pytest.mark.parametrize(
    "size", [(14_400, 1), (1, 14_400), (14_400, 14_400), (0.5, 0.5), (3, 3)], ids=lambda size: f"{size}"
)
def test_a_page_of_any_size_is_drawn_within_the_limit(size: tuple[float, float]) -> None:
    said, image = drawn(page(size=size), pixels=2_000)
    assert image is not None
    assert max(image.size) <= 2_000
    assert min(image.size) >= 8
    assert image.size == (said["width"], said["height"])


def test_what_was_typed_into_a_form_is_drawn() -> None:
    _, blank = drawn(forms.form(), pixels=800)
    _, filled = drawn(forms.form(name="Mia Groß", is_married=True), pixels=800)
    assert blank is not None
    assert filled is not None
    assert blank.tobytes() != filled.tobytes()
    said, _ = drawn(forms.form(name="Mia Groß"), pixels=800)
    words = {word[0]: word[1:] for word in said["words"]}
    left, top, right, bottom = words["Groß"]
    assert words["Mia"] == words["name:"] == [left, top, right, bottom], "they share the field's box"
    assert darkest(filled, (left, top, right, bottom)) < 128


def test_a_zero_in_a_comment_is_left_out_and_the_page_is_shown() -> None:
    noted = forms.annotation("Text", "A ze\\000ro and \\000 more")
    line, _, data = answer(b'{"number": 1, "pixels": 200}', forms.pdf_with_annotations(noted)).partition(
        b"\n"
    )
    found = page_in(line + b"\n" + data, most_pixels=200)
    assert [word[0] for word in found.words][-4:] == ["A", "zero", "and", "more"]


def test_long_comments_in_a_script_without_spaces_fit_into_an_answer() -> None:
    comment = f"<FEFF{'5BB6' * 19_000}>".encode()
    noted = [forms.annotation("Text", "x").replace(b"(x)", comment)] * 30
    line, _, data = answer(b'{"number": 1, "pixels": 200}', forms.pdf_with_annotations(*noted)).partition(
        b"\n"
    )
    assert page_in(line + b"\n" + data, most_pixels=200).words
    assert len(line) < 1_000_000


def test_a_picture_is_upright_and_has_no_metadata() -> None:
    written = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "where I live"  # turned by a quarter, and a description
    Image.new("RGB", (300, 100), "red").save(written, "JPEG", exif=exif)
    line, _, data = answer(b'{"number": 1, "pixels": 200}', written.getvalue()).partition(b"\n")
    said = json.loads(line)
    assert (said["width"], said["height"], said["words"]) == (67, 200, [])
    assert b"where I live" not in data
    assert b"EXIF" not in data


def test_each_image_of_a_tiff_is_a_page() -> None:
    written = io.BytesIO()
    first, *others = (Image.new("RGB", (100, height)) for height in (50, 100, 200))
    first.save(written, "TIFF", save_all=True, append_images=others)
    found = [drawn(written.getvalue(), number)[0] for number in (1, 2, 3)]
    assert [(one["height"], one["page_count"]) for one in found] == [(50, 3), (100, 3), (200, 3)]


@pytest.mark.parametrize("number", [0, 2, -1, 10**9])
@pytest.mark.parametrize("kind", ["pdf", "picture", "text"])
def test_a_page_that_is_not_there_is_missing(kind: str, number: int) -> None:
    made = {"pdf": page(), "picture": images.image("PNG", size=(20, 20)), "text": b"A lease of ten years"}
    assert drawn(made[kind], number)[0] == {"outcome": "missing"}
    assert drawn(made["text"], 1)[0] == {"outcome": "missing"}
