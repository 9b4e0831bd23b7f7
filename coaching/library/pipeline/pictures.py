"""A conversation's picture, prepared while it is uploaded, so that it goes along with its message."""

import io

import structlog

from coaching.library.documents.pictures import keep_picture
from coaching.library.extractors.content_types import image_type
from coaching.library.pipeline.extraction import extract_now
from coaching.models import Document
from coaching.sandbox.errors import NotStarted

logger = structlog.get_logger(__name__)


def prepare_picture(document: Document, data: bytes) -> None:
    """Store the picture that a document is, if it is one. Sync code, outside transactions.

    One that can't be prepared now is left to the job that reads the document.
    """
    if document.is_withheld or not image_type(data):
        return
    try:
        found = extract_now(io.BytesIO(data), size=len(data), name=document.name)
    except NotStarted:
        logger.warning("picture_not_prepared", document_id=document.pk)
        return
    if found.image:
        keep_picture(
            user_id=document.user_id,
            document_id=document.pk,
            data=found.image,
            media_type=found.media_type,
        )
