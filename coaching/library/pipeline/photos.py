"""A photo for the journal, made from an uploaded file: upright, reduced, without metadata.

It is drawn anew in the processes that draw pages: nothing but its pixels is in the result.
"""

import hashlib
import io

import structlog
from django.utils.translation import gettext_noop

from coaching.library.extractors.content_types import image_type
from coaching.library.pipeline.page_rendering import MOST_PIXELS, NotRendered, RenderedPage, render_page_now
from coaching.life.photos import NewPhoto
from coaching.sandbox.errors import AllBusy, NotStarted
from sessions_app.errors import Refused

THUMBNAIL_PIXELS = 640

NO_PHOTO = gettext_noop(
    "This isn’t a photo that Sage can read. Add a JPEG, PNG, WebP, GIF, TIFF or BMP picture."
)
TOO_COSTLY = gettext_noop("This photo is too large or damaged. Save a smaller copy, and add that.")
BUSY = gettext_noop("Sage is preparing many pictures right now. Try again in a moment.")

logger = structlog.get_logger(__name__)


class PhotosBusy(Refused):
    """A photo that couldn't be prepared just now: another attempt may succeed."""


def source_hash(data: bytes) -> str:
    """Return the hash by which an uploaded file is known again."""
    return hashlib.sha256(data).hexdigest()


def prepare_photo(data: bytes) -> NewPhoto:
    """Return a photo of at most `MOST_PIXELS` with its thumbnail. Blocks, outside transactions.

    Raises `Refused` with a sentence; `PhotosBusy` if another attempt may succeed.
    """
    if not image_type(data):
        raise Refused(NO_PHOTO)
    try:
        photo = _drawn(data, MOST_PIXELS)
        thumbnail = _drawn(photo.data, THUMBNAIL_PIXELS)
    except NotRendered as error:
        raise Refused(error.sentence if error.is_lasting else TOO_COSTLY) from None
    except (AllBusy, NotStarted):
        logger.warning("photo_not_prepared", bytes=len(data))
        raise PhotosBusy(BUSY) from None
    return NewPhoto(
        data=photo.data,
        thumbnail=thumbnail.data,
        width=photo.width,
        height=photo.height,
        source_sha256=source_hash(data),
    )


def _drawn(data: bytes, most_pixels: int) -> RenderedPage:
    return render_page_now(io.BytesIO(data), size=len(data), number=1, most_pixels=most_pixels)
