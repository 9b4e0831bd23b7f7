"""Pages of hostile files are drawn, or a sentence says why not; and an answer is checked like any other."""

import io
import json
import time
from typing import Any

import pytest

from coaching.library.pipeline.extraction import MAX_BYTES
from coaching.library.pipeline.page_rendering import (
    LIMITS,
    MAX_WORDS,
    NotRendered,
    RenderedPage,
    page_in,
    render_page_now,
)
from coaching.sandbox.errors import UntrueAnswer
from coaching.sandbox.host import START_SECONDS
from tests.library.extractors import files, images
from tests.library.extractors.hostile import HOSTILE, scanned_pdf
from tests.library.extractors.hostile_forms import HOSTILE_FORMS
from tests.patience import patience
from tests.thoroughness import sample_of_day

ALL = {**HOSTILE, **HOSTILE_FORMS}
WEBP = images.image("WEBP", size=(20, 30))
SAID = {"outcome": "drawn", "width": 20, "height": 30, "page_count": 1, "words": [["rent", 0, 0, 10_000, 9]]}


def rendered(data: bytes, number: int = 1) -> RenderedPage:
    return render_page_now(io.BytesIO(data), size=len(data), number=number)


def answer_of(said: object = None, data: bytes = WEBP, **changes: Any) -> bytes:
    return json.dumps({**SAID, **changes} if said is None else said).encode() + b"\n" + data


@pytest.fixture(scope="module", autouse=True)
def _started() -> None:
    """Start a process, so that the others' time is their own."""
    assert rendered(files.pdf([["A lease"]])).words


def rendered_or_reason(data: bytes) -> RenderedPage | str:
    try:
        return rendered(data)
    except NotRendered as error:
        return error.sentence


@pytest.mark.parametrize("kind", sample_of_day(list(ALL), of_each=4))
def test_a_page_of_a_hostile_file_ends_in_time(kind: str) -> None:
    data = ALL[kind][0]()
    began = time.monotonic()
    found = rendered_or_reason(data)
    assert time.monotonic() - began < LIMITS.seconds + START_SECONDS / 10 * patience()
    if isinstance(found, RenderedPage):
        assert max(found.width, found.height) <= 2_000
        assert len(found.data) < LIMITS.answer_bytes
    assert rendered(files.pdf([["A lease"]])).words, "the next one is drawn"


def test_a_scan_has_a_page_without_words() -> None:
    page = rendered(scanned_pdf(), 3)
    assert (page.page_count, page.words) == (3, [])


def test_a_file_over_the_limit_is_refused_unread() -> None:
    source = io.BytesIO(b"x")
    with pytest.raises(NotRendered, match="takes too long or too much memory"):
        render_page_now(source, size=MAX_BYTES + 1, number=1)
    assert source.tell() == 0


def test_an_answer_in_order_is_taken() -> None:
    page = page_in(answer_of(), most_pixels=30)
    assert (page.width, page.height, page.words, page.data) == (20, 30, [["rent", 0, 0, 10_000, 9]], WEBP)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]\n",
        answer_of(data=b"<svg onload=alert(1)>"),
        answer_of(data=images.image("PNG", size=(20, 30))),
        answer_of(outcome="else"),
        answer_of({"outcome": "unread"}),
        answer_of({"outcome": "unread", "sentence": 7}),
        answer_of(width=31),
        answer_of(height="30"),
        answer_of(page_count=-1),
        answer_of(thumbnail_bytes=100_000),
        answer_of(thumbnail_bytes=True),
        answer_of(words=None),
        answer_of(words=[[]]),
        answer_of(words=["rent"]),
        answer_of(words=[["rent", 0, 0, 10_001, 9]]),
        answer_of(words=[["rent", 0, 0, 1.5, 9]]),
        answer_of(words=[["re\0nt", 0, 0, 9, 9]]),
        answer_of(words=[["\ud800", 0, 0, 9, 9]]),
        answer_of(words=[["a", 0, 0, 9, 9]] * (MAX_WORDS + 1)),
    ],
)
def test_an_untrue_answer_is_none(answer: bytes) -> None:
    with pytest.raises(UntrueAnswer):
        page_in(answer, most_pixels=30)
