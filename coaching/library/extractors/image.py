"""Images: no text, but prepared for a model that sees, as a JPEG of bounded size without metadata.

Each image of a TIFF is a page. The first one is prepared here, and each can be drawn for its person.
"""

import io
import struct

from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.TiffImagePlugin import TiffImageFile

from coaching.library.extractors.extracted import Extracted, Unread, gettext_noop

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP")
MAX_PIXELS = 40_000_000
"""To decode."""
MAX_PIXELS_STORED = 80_000_000
"""Of a JPEG, which is decoded at a fraction of its size."""
TOO_MANY_PIXELS = gettext_noop("This image has too many pixels. Upload a smaller version.")
TOO_SMALL = gettext_noop("This image is too small to show anything.")
DAMAGED = gettext_noop("This image is damaged and can’t be opened.")
LONGEST_EDGE = 1_568
"""Above it, the models reduce images themselves (docs.claude.com, Vision)."""
SHORTEST_EDGE = 8
MAX_PAGES = 200
"""Of a TIFF. They are looked at one by one."""
MAX_COUNTED = 1_000
MAX_BYTES = 600_000
"""A request may hold several, in base64."""
_SUBFILE_TYPE, _REDUCED = 254, 1
_SIZES = ((LONGEST_EDGE, 85), (LONGEST_EDGE, 65), (1_024, 65))


def extract(data: bytes) -> Extracted:
    """Return the first image, upright and reduced, and how many there are. Raises `Unread`."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            width, height = opened.size
            if min(width, height) < SHORTEST_EDGE:
                raise Unread("refused", TOO_SMALL)
            _draft(opened, LONGEST_EDGE)
            reduced = _reduced(opened, LONGEST_EDGE)
            count = len(page_frames(opened))
    except Image.DecompressionBombError:
        raise Unread("refused", TOO_MANY_PIXELS) from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise Unread("broken", DAMAGED) from None
    return Extracted(
        page_count=count,
        picture_pages=tuple(range(1, min(count, MAX_PAGES) + 1)),
        hints={"width": str(width), "height": str(height)},
        image=_written(reduced),
    )


def open_page(data: bytes, number: int, edge: int) -> tuple[Image.Image | None, int]:
    """Return a page, upright and at most `edge` pixels long, and how many pages there are.

    The page is None if there is none of that number. Raises `Unread`, and whatever Pillow raises.
    """
    with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
        frames = page_frames(opened)
        if not 1 <= number <= len(frames):
            return None, len(frames)
        if frames != [0]:
            opened.seek(frames[number - 1])
        _draft(opened, edge)
        return _reduced(opened, edge), len(frames)


def _draft(image: Image.Image, edge: int) -> None:
    """Have a JPEG decoded at a fraction of its size. Raises `Unread` for too many pixels to decode."""
    width, height = image.size
    image.draft("RGB", (edge, edge))
    if width * height > MAX_PIXELS_STORED or image.width * image.height > MAX_PIXELS:
        raise Unread("refused", TOO_MANY_PIXELS)


def page_frames(image: Image.Image) -> list[int]:
    """Return which images of a file are its pages: of a TIFF, those that aren't smaller copies of others.

    An animation has one page. After `MAX_COUNTED` images, and at a damaged one, the file ends.
    """
    if not isinstance(image, TiffImageFile):
        return [0]
    frames = []
    for number in range(MAX_COUNTED):
        try:
            image.seek(number)
        except (EOFError, OSError, SyntaxError, TypeError, ValueError, struct.error):
            break
        if not image.tag_v2.get(_SUBFILE_TYPE, 0) & _REDUCED:
            frames.append(number)
    return frames or [0]


def _written(image: Image.Image) -> bytes:
    """Return an image as a JPEG: of the first size and quality that is small enough, else of the last."""
    data = b""
    for edge, quality in _SIZES:
        image.thumbnail((edge, edge))
        written = io.BytesIO()
        image.save(written, "JPEG", quality=quality, comment=b"")
        data = written.getvalue()
        if len(data) <= MAX_BYTES:
            break
    return data


def _reduced(image: Image.Image, edge: int) -> Image.Image:
    """Return the image reduced first, since every copy of a large one takes a third of the memory limit."""
    has_alpha = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    small = image.convert("RGBA" if has_alpha else "RGB") if image.mode not in ("RGB", "RGBA") else image
    small.thumbnail((edge, edge))
    upright = ImageOps.exif_transpose(small)
    if not has_alpha:
        return upright.convert("RGB")
    layered = upright.convert("RGBA")
    opaque = Image.new("RGB", layered.size, "white")
    opaque.paste(layered, mask=layered.getchannel("A"))
    return opaque
