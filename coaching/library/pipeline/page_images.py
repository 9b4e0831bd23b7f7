"""A document's page for its person: as it was drawn, or drawn now, in the person's turn."""

import json
from functools import partial
from typing import Any

from coaching.files.objects import open_object
from coaching.library.documents.drawn_pages import (
    NoPicture,
    drawn_page,
    keep_page,
    shown_document,
    trim_pages,
)
from coaching.library.pipeline.page_rendering import (
    DRAWN_TYPES,
    MAX_PAGES,
    NotRendered,
    render_page_now,
)
from coaching.library.pipeline.turns import BUSY, Busy, in_turn
from coaching.models import Document, DocumentPage
from coaching.people.attempts import AttemptLimit
from coaching.sandbox.errors import AllBusy
from sessions_app.database import give_back_connections, give_back_idle_connections, in_database

DRAWN_IN_A_MINUTE = 50

drawings = AttemptLimit(attempts=DRAWN_IN_A_MINUTE, seconds=60)


def has_pages(document: Document) -> bool:
    """Return whether the pages of a document can be drawn, if its person may see them."""
    return document.content_type in DRAWN_TYPES


def known_page(*, user_id: int, document_id: int, number: int, has_data: bool = True) -> DocumentPage | None:
    """Return a page that was drawn already, perhaps without its image; None if it has to be drawn.

    Raises `Document.DoesNotExist` if there is no such page for its person, and `NoPicture`.
    """
    document = _document_with(user_id=user_id, document_id=document_id, number=number)
    return _known(document, number, has_data=has_data)


async def page_for(*, user_id: int, document_id: int, number: int, has_data: bool = True) -> DocumentPage:
    """Return a page, drawn if it has to be; perhaps without its image. Its request holds no slot meanwhile.

    Raises `Document.DoesNotExist`, `NoPicture`, `TooOften`, `Busy` and `StorageFailed`.
    """
    asked = {"user_id": user_id, "document_id": document_id, "number": number}
    if page := await in_database(known_page, **asked, has_data=has_data):
        return page
    return await in_turn(user_id, partial(draw_page, **asked))


def draw_page(*, user_id: int, document_id: int, number: int) -> DocumentPage:
    """Draw a page, unless somebody has done it meanwhile. Blocks. Raises what `page_for` raises."""
    try:
        document = _document_with(user_id=user_id, document_id=document_id, number=number)
        return _known(document, number) or _drawn(document, number)
    finally:
        give_back_idle_connections()


def _document_with(*, user_id: int, document_id: int, number: int) -> Document:
    """Return a document that may have a page of this number for its person."""
    document = shown_document(user_id=user_id, document_id=document_id)
    most = min(document.page_count or MAX_PAGES, MAX_PAGES)
    if not has_pages(document) or not 1 <= number <= most:
        raise Document.DoesNotExist
    return document


def _known(document: Document, number: int, *, has_data: bool = True) -> DocumentPage | None:
    page = drawn_page(user_id=document.user_id, document_id=document.pk, number=number, has_data=has_data)
    if page is not None and page.failure:
        raise NoPicture(page.failure)
    return page


def _drawn(document: Document, number: int) -> DocumentPage:
    drawings.count(document.user_id)
    assert document.storage_key is not None
    values: dict[str, Any]
    try:
        give_back_connections()
        with open_object(document.storage_key) as file:
            drawn = render_page_now(file, size=document.size, number=number)
    except AllBusy:
        raise Busy(BUSY) from None
    except NotRendered as error:
        if not error.sentence:
            raise Document.DoesNotExist from None
        if not error.is_lasting:
            raise Busy(error.sentence) from None
        values = {"failure": error.sentence}
    else:
        values = {
            "data": drawn.data,
            "size": len(drawn.data) + len(json.dumps(drawn.words)),
            "width": drawn.width,
            "height": drawn.height,
            "page_count": drawn.page_count,
            "words": drawn.words,
        }
    page = keep_page(user_id=document.user_id, document_id=document.pk, number=number, values=values)
    trim_pages(document.user_id)
    if page.failure:
        raise NoPicture(page.failure)
    return page
