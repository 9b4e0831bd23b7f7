"""Reads pages that are pictures, and stores their text, which then counts like that of other pages.

A model that sees writes it down; without one, Tesseract recognises it here, if it is installed. A note names
the pages that were read so, and those that couldn't be.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import structlog
from django.utils import timezone

from coaching.files.objects import open_object
from coaching.library.documents.locks import update_documents
from coaching.library.pipeline.batch import Batch, Image, Item, Services
from coaching.library.pipeline.call_records import CallPlan
from coaching.library.pipeline.calls import CallFailed, CallWithdrawn, make_call, prefix_of
from coaching.library.pipeline.page_rendering import (
    MEDIA_TYPE,
    NotRendered,
    RenderedPage,
    render_page_now,
)
from coaching.library.pipeline.page_requests import build_pages_request, read_pages_skill
from coaching.library.pipeline.pages import clean_page, pages_of, read_pages, with_pages
from coaching.library.pipeline.recognition import recognise_now
from coaching.library.pipeline.requests import request_tokens
from coaching.library.pipeline.stages.read_text import can_look, no_sight, reading_threads, reads_pictures
from coaching.library.pipeline.stored_text import FoundText, fingerprint_of, store_text
from coaching.library.rows.reading_notes import LOOKED_AT, RECOGNISED, with_looked_at
from coaching.models import CallPurpose, Document, DocumentState
from sessions_app.database import in_database

logger = structlog.get_logger(__name__)

PAGES_A_CALL = 4
"""As many are read before they are stored: an interruption loses no more."""
MAX_PAGES, MAX_RECOGNISED = 40, 200
"""Of one document, by a model and without one. The others are named as unread."""
SHOWN_PIXELS, RECOGNISED_PIXELS = 1_568, 2_480
"""The longer side. Above the first, models reduce images themselves (docs.claude.com, Vision).

The second is a letter at 210 dots an inch.
"""
ENOUGH_CHARACTERS = 200
"""An image with as much text is classified by its text."""

# One page at a time: it takes seconds of a core. The pages of two documents take turns.
_recognising = ThreadPoolExecutor(max_workers=1, thread_name_prefix="text recognition")

Texts = Mapping[int, str]
"""By page, empty for one without text; pages that couldn't be read are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How pages are read: so many at once, at most so many of a document. `note` is its sentence."""

    note: str
    at_once: int
    most: int
    read: Callable[[Batch, Item, Sequence[int], Services], Awaitable[Texts]]


async def read_pictures(batch: Batch, services: Services) -> Batch:
    """Give each document the text of its pages that are pictures, as far as they can be read.

    Raises what `make_call` raises, except `CallFailed`: then the pages stay unread.
    """
    return batch.with_items(await asyncio.gather(*(_read(batch, item, services) for item in batch.items)))


async def _read(batch: Batch, item: Item, services: Services) -> Item:
    if item.ending or not item.picture_pages or not reads_pictures():
        return item
    try:
        read = await _look(batch, item, services, _BY_MODEL if can_look() else _BY_RECOGNITION)
    except CallWithdrawn:
        return item.ended(DocumentState.QUEUED, "")
    if read.ending or read.text or (read.image and can_look()):
        return read
    return read.ended(DocumentState.REVIEW, no_sight() if read.image else read.unread)


async def _look(batch: Batch, item: Item, services: Services, way: _Way) -> Item:
    """Read the pages a few at a time, and store each time what was read."""
    left = list(item.picture_pages)
    tried = left[: way.most]
    for start in range(0, len(tried), way.at_once):
        try:
            texts = await way.read(batch, item, tried[start : start + way.at_once], services)
        except CallWithdrawn:
            raise
        except CallFailed as failure:
            logger.info("pages_not_read", document_id=item.document.pk, reason=str(failure))
            break
        left = [number for number in left if number not in texts]
        item = await _stored(batch, item, texts, left=left, how=way.note)
        if item.ending:
            break
    return item


async def _by_model(batch: Batch, item: Item, sent: Sequence[int], services: Services) -> Texts:
    document = item.document
    images = await asyncio.get_running_loop().run_in_executor(
        reading_threads(document), partial(_images, item, sent)
    )
    if not images:
        return {}
    skill = await in_database(read_pages_skill)
    request = build_pages_request(document, images, skill=skill)
    plan = CallPlan(
        user_id=batch.claim.user_id,
        client_id=batch.claim.client_id,
        purpose=CallPurpose.PAGES,
        key=f"pages:{document.pk}:{document.sha256[:12]}:{sent[0]}-{sent[-1]}",
        document_ids=[document.pk],
        request=request,
        prefix=prefix_of(request),
        prompt_tokens=request_tokens(request),
        is_stored=False,
    )
    call = await make_call(plan, client=await services.client(), slot=services.calls)
    return read_pages(call.answer, images)


async def _by_recognition(_batch: Batch, item: Item, sent: Sequence[int], _services: Services) -> Texts:
    recognise = partial(_recognised, item.document)
    read = [
        (number, await asyncio.get_running_loop().run_in_executor(_recognising, recognise, number))
        for number in sent
    ]
    return {number: clean_page(text) for number, text in read if text is not None}


_BY_MODEL = _Way(note=LOOKED_AT, at_once=PAGES_A_CALL, most=MAX_PAGES, read=_by_model)
_BY_RECOGNITION = _Way(note=RECOGNISED, at_once=PAGES_A_CALL, most=MAX_RECOGNISED, read=_by_recognition)


def _images(item: Item, sent: Sequence[int]) -> Mapping[int, Image]:
    """Return the pages as pictures; one that can't be drawn is left out."""
    images = {1: item.image} if item.image and 1 in sent else {}
    for number in sent:
        if number not in images and (page := _drawn(item.document, number, SHOWN_PIXELS)):
            images[number] = Image(data=page.data, media_type=MEDIA_TYPE)
    return images


def _recognised(document: Document, number: int) -> str | None:
    page = _drawn(document, number, RECOGNISED_PIXELS)
    return recognise_now(page.data) if page else None


def _drawn(document: Document, number: int, pixels: int) -> RenderedPage | None:
    with open_object(document.storage_key or "") as file, suppress(NotRendered):
        return render_page_now(file, size=document.size, number=number, most_pixels=pixels)
    return None


async def _stored(batch: Batch, item: Item, texts: Texts, *, left: Sequence[int], how: str) -> Item:
    """Store what was read, and return the document with it."""
    pages = with_pages(pages_of(item.text, item.pages_read), texts)
    text = "\f".join(pages.values())
    found = FoundText(
        text=text,
        fingerprint=await asyncio.to_thread(fingerprint_of, text),
        pages_read=tuple(pages),
        picture_pages=left,
        looked_at=[number for number, words in texts.items() if words],
        hints=item.hints,
    )
    return await in_database(_store, batch, item, found, how)


def _store(batch: Batch, item: Item, found: FoundText, how: str) -> Item:
    """Store a text with its note and keep the claim alive. Sync ORM code."""
    now = timezone.now()
    update_documents(batch.claim.rows(), claimed_at=now, updated_at=now)
    row = batch.claim.rows().select_related("text").filter(id=item.document.pk).first()
    if row is None:  # deleted, or another run has it
        return item.ended(DocumentState.QUEUED, "")
    before = getattr(row, "text", None)
    seen = sorted({*found.looked_at, *(before.looked_at if before else ())})
    note = with_looked_at(row.reading_note, how=how, looked_at=seen, unread=found.picture_pages)
    is_whole = found.pages_read == tuple(range(1, row.page_count + 1))
    found = replace(
        found,
        pages_read=() if is_whole else found.pages_read,
        looked_at=seen,
        filled=before.filled if before else "",
    )
    twin = item.twin
    if found.text:
        twin = store_text(batch.claim, item.document, found, reading_note=note)
    has_enough = sum(map(str.isalnum, found.text)) >= ENOUGH_CHARACTERS
    return replace(
        item,
        text=found.text,
        pages_read=found.pages_read,
        picture_pages=found.picture_pages,
        reading_note=note,
        image=None if has_enough else item.image,
        twin=twin,
    )
