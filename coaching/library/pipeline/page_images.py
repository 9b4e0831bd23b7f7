"""A document's page for its person: as it was drawn, or drawn now, in the person's turn."""

import asyncio
import contextvars
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from django.utils.translation import gettext_noop

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
    WAIT_SECONDS,
    NotRendered,
    render_page_now,
)
from coaching.models import Document, DocumentPage
from coaching.people.attempts import AttemptLimit
from coaching.people.in_flight import waiting
from coaching.sandbox.errors import AllBusy
from sessions_app.database import give_back_connections, give_back_idle_connections, in_database
from sessions_app.errors import Refused
from sessions_app.languages import in_active_language

DRAWN_IN_A_MINUTE = 50
THREADS = 8
"""They mostly wait for one of the processes."""
PEOPLE_TOLD_APART = 64
BUSY = gettext_noop("Sage is showing many pages right now. Try again in a moment.")

drawings = AttemptLimit(attempts=DRAWN_IN_A_MINUTE, seconds=60)

_threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="drawing")
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Sequence[asyncio.Lock]] = WeakKeyDictionary()
"""A person's pages are drawn one after another: a page in two tabs once, and others' needn't wait for all."""


class Busy(Refused):
    """A page that couldn't be drawn just now: another attempt may succeed."""


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
    async with waiting() as may_wait:
        if not may_wait:
            raise Busy(BUSY)
        return await _in_turn(user_id, partial(draw_page, **asked))


async def _in_turn(user_id: int, draw: Callable[[], DocumentPage]) -> DocumentPage:
    """Draw a page when the person's earlier ones are done. Waiting for that takes no thread."""
    loop = asyncio.get_running_loop()
    turns = _turns.setdefault(loop, [asyncio.Lock() for _ in range(PEOPLE_TOLD_APART)])
    turn = turns[user_id % len(turns)]
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await turn.acquire()
    except TimeoutError:
        raise Busy(BUSY) from None
    in_context = partial(contextvars.copy_context().run, in_active_language(draw))
    drawing = loop.run_in_executor(_threads, in_context)
    drawing.add_done_callback(lambda _: turn.release())
    # A thread can't be stopped: if nobody awaits the page any more, the turn lasts until it is drawn.
    return await asyncio.shield(drawing)


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
