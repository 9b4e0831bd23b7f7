"""One page of a document as a picture with its words, drawn in a process for this page alone.

For whoever shows a page: to a person, or smaller, to a model that sees. Whatever the bytes are, there is a
page, or a reason why there is none.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import structlog
from django.utils.translation import gettext_noop

from coaching.library.extractors.content_types import IMAGES, PDF
from coaching.library.pipeline.extraction import MAX_BYTES, exact_chunks
from coaching.sandbox import answers
from coaching.sandbox.errors import NotAnswered, UntrueAnswer
from coaching.sandbox.host import ProcessHost
from coaching.sandbox.limits import MEGABYTE, Limits

MODULE = "coaching.library.extractors.page_worker"
MEDIA_TYPE = "image/webp"
DRAWN_TYPES = IMAGES | {PDF}
"""Others have no pages of their own to draw: their text is what there is to see."""
MOST_PIXELS = 2_000
PROCESSES = 2
WAIT_SECONDS = 20.0
"""For one of the processes, while others draw."""
LIMITS = Limits(
    memory_bytes=512 * MEGABYTE, cpu_seconds=10, seconds=20.0, answer_bytes=16 * MEGABYTE, niceness=5
)
UNITS = 10_000
"""A word's box is in ten-thousandths of the page's width and height."""
MAX_WORDS = 20_000
MAX_WORD_CHARACTERS = 200
MAX_PAGES = 1_000_000
MAX_SENTENCE = 500

_MAX_HEAD_BYTES = 8 * MEGABYTE
_TOO_COSTLY = gettext_noop(
    "This page takes too long or too much memory to show. Download the file to see it."
)
_BROKEN = gettext_noop("This page is damaged and can’t be shown.")

logger = structlog.get_logger(__name__)

_host = ProcessHost(MODULE, LIMITS, slots=PROCESSES)

Word = Sequence[Any]
"""A word's text, then left, top, right and bottom of its box."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPage:
    """A page as WebP, and its words in reading order; an image has none. Sizes are in pixels.

    `thumbnail` is empty unless one was asked for.
    """

    data: bytes
    width: int
    height: int
    page_count: int
    words: Sequence[Word]
    thumbnail: bytes = b""


class NotRendered(Exception):
    """A page that can't be drawn. `sentence` says why; it is empty for a page that doesn't exist.

    `is_lasting` if that was found in the file, so that another attempt would end the same.
    """

    def __init__(self, sentence: str = "", *, is_lasting: bool = False) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.is_lasting = is_lasting


def render_page_now(
    source: BinaryIO, *, size: int, number: int, most_pixels: int = MOST_PIXELS, thumbnail_pixels: int = 0
) -> RenderedPage:
    """Draw a page of a document of `size` bytes from an open file. Blocks for at most 40 seconds.

    Its longer side has at most `most_pixels`, its thumbnail's at most `thumbnail_pixels`. Raises
    `NotRendered`, `AllBusy` and `NotStarted`, and
    `RuntimeError` in a transaction.
    """
    if size > MAX_BYTES:
        raise NotRendered(_TOO_COSTLY)
    asked = {"number": number, "pixels": most_pixels, "thumbnail": thumbnail_pixels}
    head = json.dumps(asked).encode()
    try:
        answer = _host.ask(head, exact_chunks(source, size), size, wait_seconds=WAIT_SECONDS)
    except NotAnswered as error:
        logger.warning("page_not_drawn", bytes=size, number=number, is_too_costly=error.is_too_costly)
        raise NotRendered(_TOO_COSTLY if error.is_too_costly else _BROKEN) from None
    try:
        return page_in(answer, most_pixels=most_pixels, has_thumbnail=thumbnail_pixels > 0)
    except UntrueAnswer:
        logger.warning("page_drawer_untrue", bytes=size, number=number)
        raise NotRendered(_BROKEN) from None


def page_in(answer: bytes, *, most_pixels: int, has_thumbnail: bool = False) -> RenderedPage:
    """Return the page that an answer holds. Raises `NotRendered` and `UntrueAnswer`."""
    line, _, data = answer.partition(b"\n")
    if len(line) > _MAX_HEAD_BYTES:
        raise UntrueAnswer
    said = answers.json_object(line)
    if said.get("outcome") == "missing":
        raise NotRendered
    if said.get("outcome") == "unread":
        sentence = answers.text(said.get("sentence"), most=MAX_SENTENCE) or _BROKEN
        raise NotRendered(sentence, is_lasting=True)
    size = len(data) - answers.number(said.get("thumbnail_bytes", 0), most=len(data))
    images = [data[:size], data[size:]]
    if said.get("outcome") != "drawn" or not all(map(_is_webp, images if has_thumbnail else images[:1])):
        raise UntrueAnswer
    return RenderedPage(
        data=images[0],
        thumbnail=images[1],
        width=answers.number(said.get("width"), most=most_pixels),
        height=answers.number(said.get("height"), most=most_pixels),
        page_count=answers.number(said.get("page_count"), most=MAX_PAGES),
        words=[_word_in(word) for word in answers.list_of(said.get("words"), most=MAX_WORDS)],
    )


def _is_webp(data: bytes) -> bool:
    return data.startswith(b"RIFF") and data[8:12] == b"WEBP"


def _word_in(value: object) -> Word:
    text, *box = answers.list_of(value, most=5) or [None]
    if len(box) != 4:
        raise UntrueAnswer
    sides = [answers.number(side, most=UNITS) for side in box]
    return [answers.text(text, most=MAX_WORD_CHARACTERS), *sides]
