"""A photo for the journal, made from an uploaded file: upright, reduced, without metadata.

It is drawn anew in the processes that draw pages: nothing but its pixels is in the result.
"""

import hashlib
import io
from functools import partial

import structlog
from django.utils.translation import gettext_noop

from coaching.library.extractors.content_types import image_type
from coaching.library.pipeline.page_rendering import MOST_PIXELS, NotRendered, render_page_now
from coaching.library.pipeline.turns import Busy, in_turn
from coaching.life.photos import NewPhoto, drawings
from coaching.sandbox.errors import AllBusy, NotStarted
from sessions_app.errors import Refused

THUMBNAIL_PIXELS = 640

NO_PHOTO = gettext_noop(
    "This isn’t a photo that Sage can read. Add a JPEG, PNG, WebP, GIF, TIFF or BMP picture."
)
TOO_COSTLY = gettext_noop("This photo is too large or damaged. Save a smaller copy, and add that.")
BUSY = gettext_noop("Sage is preparing many pictures right now. Try again in a moment.")

logger = structlog.get_logger(__name__)


class PhotosBusy(Busy):
    """A photo that couldn't be prepared just now: another attempt may succeed."""


def source_hash(data: bytes) -> str:
    """Return the hash by which an uploaded file is known again."""
    return hashlib.sha256(data).hexdigest()


async def prepare_photo(data: bytes, *, user_id: int) -> NewPhoto:
    """Return a photo of at most `MOST_PIXELS` with its thumbnail, in the person's turn.

    Raises `Refused` with a sentence; `PhotosBusy` if another attempt may succeed.
    """
    if not image_type(data):
        raise Refused(NO_PHOTO)
    drawings.count(user_id)
    try:
        return await in_turn(user_id, partial(_drawn, data))
    except PhotosBusy:
        raise
    except Busy:
        raise PhotosBusy(BUSY) from None


def _drawn(data: bytes) -> NewPhoto:
    try:
        drawn = render_page_now(
            io.BytesIO(data),
            size=len(data),
            number=1,
            most_pixels=MOST_PIXELS,
            thumbnail_pixels=THUMBNAIL_PIXELS,
        )
    except NotRendered as error:
        raise Refused(error.sentence if error.is_lasting else TOO_COSTLY) from None
    except (AllBusy, NotStarted):
        logger.warning("photo_not_prepared", bytes=len(data))
        raise PhotosBusy(BUSY) from None
    return NewPhoto(
        data=drawn.data,
        thumbnail=drawn.thumbnail,
        width=drawn.width,
        height=drawn.height,
        source_sha256=source_hash(data),
    )
