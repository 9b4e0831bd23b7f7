"""A document's page for its person: as it was drawn, or drawn now, in the person's turn."""

import threading
from typing import Any

import structlog
from django.utils.translation import gettext_noop

from coaching.files.objects import open_object
from coaching.library.documents.drawn_pages import (
    NoPicture,
    drawn_page,
    keep_page,
    shown_document,
    trim_pages,
)
from coaching.library.pipeline.page_rendering import DRAWN_TYPES, WAIT_SECONDS, NotRendered, render_page_now
from coaching.models import Document, DocumentPage
from coaching.people.attempts import AttemptLimit
from coaching.sandbox.errors import AllBusy
from sessions_app.database import give_back_connections
from sessions_app.errors import Refused

DRAWN_IN_A_MINUTE = 50
BUSY = gettext_noop("Sage is showing many pages right now. Try again in a moment.")

logger = structlog.get_logger(__name__)

drawings = AttemptLimit(attempts=DRAWN_IN_A_MINUTE, seconds=60)

_turns = tuple(threading.Lock() for _ in range(64))
"""A person's pages are drawn one after another: a page in two tabs once, and others' needn't wait for all."""


class Busy(Refused):
    """No process to draw a page just now."""


def has_pages(document: Document) -> bool:
    """Return whether the pages of a document can be drawn, if its person may see them."""
    return document.content_type in DRAWN_TYPES


def page_of(*, user_id: int, document_id: int, number: int) -> DocumentPage:
    """Return a page with its image. Blocks while it is drawn. Sync code, outside transactions.

    Raises `Document.DoesNotExist`, `NoPicture`, `TooOften`, `Busy` and `StorageFailed`.
    """
    document = shown_document(user_id=user_id, document_id=document_id)
    is_possible = has_pages(document) and 1 <= number <= (document.page_count or number)
    if not is_possible:
        raise Document.DoesNotExist
    page = drawn_page(user_id=user_id, document_id=document_id, number=number)
    if page is None:
        page = _drawn_in_turn(document, number)
    if page.failure:
        raise NoPicture(page.failure)
    return page


def _drawn_in_turn(document: Document, number: int) -> DocumentPage:
    give_back_connections()
    turn = _turns[document.user_id % len(_turns)]
    if not turn.acquire(timeout=WAIT_SECONDS):
        raise Busy(BUSY)
    try:
        known = drawn_page(user_id=document.user_id, document_id=document.pk, number=number)
        return known or _drawn(document, number)
    finally:
        turn.release()


def _drawn(document: Document, number: int) -> DocumentPage:
    drawings.count(document.user_id)
    assert document.storage_key is not None
    values: dict[str, Any]
    try:
        with open_object(document.storage_key) as file:
            drawn = render_page_now(file, size=document.size, number=number)
    except AllBusy:
        raise Busy(BUSY) from None
    except NotRendered as error:
        if not error.sentence:
            raise Document.DoesNotExist from None
        values = {"failure": error.sentence}
    else:
        values = {
            "data": drawn.data,
            "size": len(drawn.data),
            "width": drawn.width,
            "height": drawn.height,
            "page_count": drawn.page_count,
            "words": drawn.words,
        }
    page = keep_page(user_id=document.user_id, document_id=document.pk, number=number, values=values)
    trim_pages(document.user_id)
    return page
