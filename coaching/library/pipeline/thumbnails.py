"""A picture of a conversation as a small one for its person, drawn from the one that models get."""

import io
from functools import partial

import structlog

from coaching.library.documents.pictures import keep_thumbnail, picture_to_show, thumbnail_to_show
from coaching.library.pipeline.page_rendering import MEDIA_TYPE, NotRendered, render_page_now
from coaching.library.pipeline.turns import BUSY, Busy, in_turn
from coaching.models import DocumentImage
from coaching.people.attempts import AttemptLimit, TooOften
from coaching.sandbox.errors import AllBusy, NotStarted
from sessions_app.database import in_database

THUMBNAIL_PIXELS = 480
DRAWN_IN_A_MINUTE = 100

drawings = AttemptLimit(attempts=DRAWN_IN_A_MINUTE, seconds=60)

logger = structlog.get_logger(__name__)


async def thumbnail_for(*, user_id: int, document_id: int) -> tuple[bytes, str]:
    """Return a small picture and its media type; while none can be drawn, the stored one, which is bounded.

    Raises `DocumentImage.DoesNotExist` if its person has no such picture, or it can't be drawn at all.
    """
    asked = {"user_id": user_id, "document_id": document_id}
    if stored := await in_database(thumbnail_to_show, **asked):
        return stored, MEDIA_TYPE
    data, media_type = await in_database(picture_to_show, **asked)
    try:
        drawn = await in_turn(user_id, partial(_drawn, data, user_id))
    except (Busy, TooOften):
        return data, media_type
    except NotRendered:
        logger.warning("thumbnail_not_drawn", document_id=document_id, bytes=len(data))
        raise DocumentImage.DoesNotExist from None
    await in_database(keep_thumbnail, **asked, data=drawn)
    return drawn, MEDIA_TYPE


def _drawn(data: bytes, user_id: int) -> bytes:
    drawings.count(user_id)
    try:
        return render_page_now(io.BytesIO(data), size=len(data), number=1, most_pixels=THUMBNAIL_PIXELS).data
    except (AllBusy, NotStarted):
        raise Busy(BUSY) from None
