"""Reads pages that are pictures: a model that sees writes down their text, which is stored by page.

From then on it is the document's text: it is found, quoted and checked like other text, and a note names the
pages that were read so. Pages that no model could read are named as unread.
"""

import asyncio
from collections.abc import Mapping, Sequence
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
from coaching.library.pipeline.page_rendering import MEDIA_TYPE, NotRendered, render_page_now
from coaching.library.pipeline.page_requests import build_pages_request, read_pages_skill
from coaching.library.pipeline.pages import pages_of, read_pages, with_pages
from coaching.library.pipeline.requests import request_tokens
from coaching.library.pipeline.stages.read_text import can_look, reading_threads
from coaching.library.pipeline.stored_text import FoundText, fingerprint_of, store_text
from coaching.library.rows.reading_notes import with_looked_at
from coaching.models import CallPurpose, DocumentState
from sessions_app.database import in_database

logger = structlog.get_logger(__name__)

PAGES_A_CALL = 4
MAX_PAGES = 40
"""Of one document. The others are named as unread."""
LONGEST_EDGE = 1_568
"""Pixels. Above it, the models reduce images themselves (docs.claude.com, Vision)."""
ENOUGH_CHARACTERS = 200
"""An image with as much text is classified by its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """How far a document's pages are read: `texts` by page, empty ones included, and the pages left."""

    texts: Mapping[int, str]
    left: Sequence[int]


async def read_pictures(batch: Batch, services: Services) -> Batch:
    """Give each document the text of its pages that are pictures, as far as a model can read them.

    Raises what `make_call` raises, except `CallFailed`: then the pages stay unread.
    """
    return batch.with_items(await asyncio.gather(*(_read(batch, item, services) for item in batch.items)))


async def _read(batch: Batch, item: Item, services: Services) -> Item:
    if item.ending or not item.picture_pages or not can_look():
        return item
    try:
        read = await _look(batch, item, services)
    except CallWithdrawn:
        return item.ended(DocumentState.QUEUED, "")
    if read.text or read.image:
        return read
    return read.ended(DocumentState.REVIEW, read.unread)


async def _look(batch: Batch, item: Item, services: Services) -> Item:
    """Show a model the pages, a few at a time, and store after each call what it has read."""
    numbers = list(item.picture_pages)
    for start in range(0, min(len(numbers), MAX_PAGES), PAGES_A_CALL):
        sent = numbers[start : start + PAGES_A_CALL]
        try:
            texts = await _ask(batch, item, sent, services)
        except CallWithdrawn:
            raise
        except CallFailed as failure:
            logger.info("pages_not_read", document_id=item.document.pk, reason=str(failure))
            break
        left = [number for number in numbers[start:] if number not in texts]
        item = await _stored(batch, item, _Looked(texts=texts, left=left))
    return item


async def _ask(batch: Batch, item: Item, sent: Sequence[int], services: Services) -> Mapping[int, str]:
    """Return the text of each of these pages, empty where there is none."""
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


def _images(item: Item, sent: Sequence[int]) -> Mapping[int, Image]:
    """Return the pages as pictures; one that can't be drawn is left out."""
    images = {1: item.image} if item.image and 1 in sent else {}
    document = item.document
    for number in sent:
        if number in images:
            continue
        with open_object(document.storage_key or "") as file, suppress(NotRendered):
            page = render_page_now(file, size=document.size, number=number, most_pixels=LONGEST_EDGE)
            images[number] = Image(data=page.data, media_type=MEDIA_TYPE)
    return images


async def _stored(batch: Batch, item: Item, looked: _Looked) -> Item:
    """Store what was read, and return the document with it."""
    pages = with_pages(pages_of(item.text, item.pages_read), looked.texts)
    text = "\f".join(pages.values())
    found = FoundText(
        text=text,
        fingerprint=await asyncio.to_thread(fingerprint_of, text),
        pages_read=tuple(pages),
        picture_pages=looked.left,
        hints=item.hints,
    )
    return await in_database(_store, batch, item, found, looked)


def _store(batch: Batch, item: Item, found: FoundText, looked: _Looked) -> Item:
    """Store a text with its note and keep the claim alive. Sync ORM code."""
    now = timezone.now()
    update_documents(batch.claim.rows(), claimed_at=now, updated_at=now)
    row = batch.claim.rows().select_related("text").filter(id=item.document.pk).first()
    if row is None:  # deleted, or another run has it
        return item.ended(DocumentState.QUEUED, "")
    before = getattr(row, "text", None)
    with_words = {number for number, words in looked.texts.items() if words}
    seen = sorted(with_words.union(before.looked_at if before else ()))
    note = with_looked_at(row.reading_note, looked_at=seen, unread=looked.left)
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
        picture_pages=looked.left,
        reading_note=note,
        image=None if has_enough else item.image,
        twin=twin,
    )
