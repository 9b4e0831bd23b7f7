"""Pictures as models are shown them: stored once for each document, and put into requests when they are sent.

A turn's stored request names a picture by its document, so that its bytes aren't stored with every turn.
"""

import base64
from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from coaching.library.documents.drawn_pages import HIDDEN_STATES
from coaching.models import Document, DocumentImage

_SOURCE = "document"


@transaction.atomic
def keep_picture(*, user_id: int, document_id: int, data: bytes, media_type: str) -> None:
    """Store a document's picture; one that is there stays as it is. Does nothing if the document is gone."""
    document = Document.of(user_id).select_for_update(no_key=True).filter(id=document_id).first()
    if document is not None:
        DocumentImage.of(user_id).get_or_create(
            document=document, defaults={"data": data, "media_type": media_type}
        )


def thumbnail_to_show(*, user_id: int, document_id: int) -> bytes:
    """Return the small picture that its person may see; empty if it has yet to be drawn.

    Raises `DocumentImage.DoesNotExist`.
    """
    return bytes(_shown(user_id).values_list("thumbnail", flat=True).get(document=document_id))


def picture_to_show(*, user_id: int, document_id: int) -> tuple[bytes, str]:
    """Return a picture that its person may see, and its media type. Raises `DocumentImage.DoesNotExist`."""
    data, media_type = _shown(user_id).values_list("data", "media_type").get(document=document_id)
    return bytes(data), media_type


def keep_thumbnail(*, user_id: int, document_id: int, data: bytes) -> None:
    DocumentImage.of(user_id).filter(document=document_id).update(thumbnail=data)


def _shown(user_id: int) -> QuerySet[DocumentImage]:
    shown = DocumentImage.of(user_id).filter(document__is_withheld=False)
    return shown.exclude(document__state__in=HIDDEN_STATES)


def picture_reference(document_id: int) -> dict[str, Any]:
    """Return the block that stands for a picture in a stored request."""
    return {"type": "image", "source": {"type": _SOURCE, "id": document_id}}


def referred_picture(block: Mapping[str, Any]) -> int | None:
    """Return the document whose picture a block stands for; None for any other block."""
    if block.get("type") != "image" or block["source"]["type"] != _SOURCE:
        return None
    document_id: int = block["source"]["id"]
    return document_id


def read_pictures(*, user_id: int, ids: Collection[int]) -> Mapping[int, dict[str, Any]]:
    """Return the image blocks of those of the documents whose picture the model may see."""
    rows = DocumentImage.of(user_id).filter(document_id__in=ids, document__is_withheld=False)
    return {
        document_id: {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": media_type,
                "data": base64.b64encode(data).decode("ascii"),
            },
        }
        for document_id, media_type, data in rows.values_list("document_id", "media_type", "data")
    }
