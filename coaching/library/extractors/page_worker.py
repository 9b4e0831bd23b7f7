"""Draws one page of a document: the module of the processes of `coaching.library.pipeline.page_rendering`."""

import io
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import pypdfium2
from PIL import Image, UnidentifiedImageError

from coaching.library.extractors.content_types import IMAGES, PDF
from coaching.library.extractors.detection import find_type
from coaching.library.extractors.extracted import LOCKED, Unread, gettext_noop
from coaching.library.extractors.image import DAMAGED as IMAGE_DAMAGED
from coaching.library.extractors.image import TOO_MANY_PIXELS, open_page
from coaching.library.extractors.pdf import DAMAGED, is_password_missing
from coaching.library.extractors.pdf_added import AddedText
from coaching.library.extractors.pdf_words import Word, words_of

NOT_DRAWN = gettext_noop("This page is damaged and can’t be shown.")
QUALITY = 80
METHOD = 2
"""Of 0 to 6: slower ones make the file a tenth smaller."""
SHORTEST_EDGE = 8
"""Of an image, in pixels: a line is drawn as a strip."""


class Missing(Exception):
    """The document has no such page, or its type has no pages to draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A page: its picture, its words, and how many pages the document has."""

    image: Image.Image
    page_count: int
    words: Sequence[Word] = ()


def answer(head: bytes, data: bytes) -> bytes:
    """Draw the page that `head` names. Return a line of JSON, and the image as WebP if there is one.

    `head` is JSON: the page's `number`, and how many `pixels` its longer side has at most. With `thumbnail`,
    which is such a number too, a smaller image follows, of `thumbnail_bytes`.
    """
    asked = json.loads(head)
    try:
        drawn = _draw(data, asked["number"], asked["pixels"])
    except Missing:
        return json.dumps({"outcome": "missing"}).encode() + b"\n"
    except Unread as error:
        return json.dumps({"outcome": "unread", "sentence": error.sentence}).encode() + b"\n"
    said = {
        "outcome": "drawn",
        "width": drawn.image.width,
        "height": drawn.image.height,
        "page_count": drawn.page_count,
        "words": drawn.words,
    }
    image, thumbnail = _written(drawn.image), b""
    if pixels := asked.get("thumbnail"):
        drawn.image.thumbnail((pixels, pixels))
        thumbnail = _written(_thick(drawn.image))
        said["thumbnail_bytes"] = len(thumbnail)
    return json.dumps(said, ensure_ascii=False).encode() + b"\n" + image + thumbnail


def _draw(data: bytes, number: int, pixels: int) -> Drawn:
    content_type = find_type(data, "")
    if content_type == PDF:
        return _pdf_page(data, number, pixels)
    if content_type in IMAGES:
        return _image_page(data, number, pixels)
    raise Missing


def _pdf_page(data: bytes, number: int, pixels: int) -> Drawn:
    try:
        document = pypdfium2.PdfDocument(data)
        document.init_forms()
    except pypdfium2.PdfiumError as error:
        raise Unread("broken", LOCKED if is_password_missing(error) else DAMAGED) from None
    count = len(document)
    if not 1 <= number <= count:
        raise Missing
    try:
        page = document[number - 1]
        # A page may be 200 inches long and a point wide; what it measures is only a claim.
        longer = max(page.get_width(), page.get_height(), 1.0)
        image = page.render(scale=pixels / longer, rev_byteorder=True).to_pil()
        with closing(AddedText(document)) as added:
            words = list(words_of(page, added))
    except (pypdfium2.PdfiumError, ValueError, OverflowError):
        raise Unread("broken", NOT_DRAWN) from None
    image.thumbnail((pixels, pixels))  # rounding may have added a pixel
    return Drawn(image=_thick(image.convert("RGB")), page_count=count, words=words)


def _image_page(data: bytes, number: int, pixels: int) -> Drawn:
    try:
        image, count = open_page(data, number, pixels)
    except Image.DecompressionBombError:
        raise Unread("refused", TOO_MANY_PIXELS) from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise Unread("broken", IMAGE_DAMAGED) from None
    if image is None:
        raise Missing
    return Drawn(image=_thick(image), page_count=count)


def _thick(image: Image.Image) -> Image.Image:
    """Return an image that can be seen: one of a few pixels' width becomes a strip."""
    width, height = max(image.width, SHORTEST_EDGE), max(image.height, SHORTEST_EDGE)
    return image if (width, height) == image.size else image.resize((width, height))


def _written(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "WEBP", quality=QUALITY, method=METHOD)
    return written.getvalue()


# What libraries load when they are first used.
Image.init()
