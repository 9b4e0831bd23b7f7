"""Reads each document's text from its bytes, in a process of its own, and finds near-same texts.

An email's attachments become documents of their own. What has neither text nor pages that are pictures, or
must not be sent to the model, ends here: in review, failed or refused, with the reason.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from django.utils.translation import gettext_noop

from coaching.files.objects import open_object
from coaching.library.documents.pictures import keep_picture
from coaching.library.pipeline.attachments import take_attachments
from coaching.library.pipeline.batch import Batch, Image, Item, Services, Twin
from coaching.library.pipeline.extracted import AttachedFile, Extraction
from coaching.library.pipeline.extraction import extract_now
from coaching.library.pipeline.page_reading import sees_pictures
from coaching.library.pipeline.speech import heard_in, is_recording
from coaching.library.pipeline.stored_text import Fingerprint, FoundText, fingerprint_of, store_text
from coaching.models import Document, DocumentSource, DocumentState
from coaching.voice.transcription import can_transcribe
from sessions_app.database import in_database

WITHHELD = gettext_noop("You chose never to send this document to the AI model, so please file it yourself.")
NO_TEXT = gettext_noop("Sage found no text in it. File it yourself, or upload a version with text.")
_ENDS: Mapping[str, DocumentState] = {
    "no_text": DocumentState.REVIEW,
    "needs_password": DocumentState.FAILED,
    "broken": DocumentState.FAILED,
    "refused": DocumentState.REFUSED,
}

# Bulk never takes every process of the sandbox: a conversation may wait for one.
_bulk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="documents in bulk")
_urgent = ThreadPoolExecutor(max_workers=2, thread_name_prefix="documents")


async def read_text(batch: Batch, services: Services) -> Batch:
    """Give each document its text, or its ending."""
    items = await asyncio.gather(*(_with_text(batch, item, services) for item in batch.items))
    return batch.with_items(items)


async def _with_text(batch: Batch, item: Item, services: Services) -> Item:
    document = item.document
    if item.ending or item.text:
        return _allowed(item)
    executor = _urgent if document.source == DocumentSource.CHAT else _bulk
    extraction, found = await asyncio.get_running_loop().run_in_executor(
        executor, partial(_extract, document)
    )
    if is_recording(extraction):
        if services.leaves_recordings and can_transcribe():
            await in_database(_store, batch, document, extraction, found, has_more=False)
            return item.ended(DocumentState.QUEUED, "")
        extraction = await heard_in(document, extraction)
        found = await asyncio.to_thread(fingerprint_of, extraction.text)
    if extraction.attachments:  # first: what has its text isn't read again
        await in_database(_attach, batch, document, extraction.attachments)
    pages = () if document.is_withheld else extraction.picture_pages
    twin = await in_database(_store, batch, document, extraction, found, has_more=bool(pages))
    if extraction.outcome not in ("text", "no_text"):
        return item.ended(_ENDS[extraction.outcome], extraction.sentence or NO_TEXT)
    if extraction.outcome == "no_text" and not extraction.image and not pages:
        return item.ended(DocumentState.REVIEW, extraction.sentence or NO_TEXT)
    read = replace(
        item,
        text=extraction.text,
        pages_read=extraction.pages_read,
        hints=extraction.hints,
        reading_note=extraction.note,
        picture_pages=pages,
        page_count=extraction.page_count,
        filled=extraction.filled,
        unread=extraction.sentence or NO_TEXT,
        image=Image(data=extraction.image, media_type=extraction.media_type) if extraction.image else None,
        twin=twin,
    )
    return _allowed(read)


def _attach(batch: Batch, document: Document, attached: Sequence[AttachedFile]) -> None:
    if batch.claim.rows().filter(id=document.pk).exists():
        take_attachments(document, attached)


def _allowed(item: Item) -> Item:
    """Return a document that may go on to the model, or with its ending."""
    if item.ending:
        return item
    if item.document.is_withheld:
        return item.ended(DocumentState.REVIEW, WITHHELD)
    if item.text and item.image and not sees_pictures():
        return replace(item, image=None)
    return item


def _extract(document: Document) -> tuple[Extraction, Fingerprint]:
    with open_object(document.storage_key or "") as file:
        extraction = extract_now(file, size=document.size, name=document.name)
    return extraction, fingerprint_of(extraction.text)


def _store(
    batch: Batch, document: Document, extraction: Extraction, found: Fingerprint, *, has_more: bool
) -> Twin | None:
    """Store what was read, and find the text that was there before and is almost the same.

    With `has_more`, the text isn't whole yet: pages have to be read from their pictures.
    """
    values = {
        "content_type": extraction.content_type,
        "page_count": extraction.page_count,
        "reading_note": extraction.note,
    }
    if extraction.outcome == "text" and not has_more:
        text = FoundText(
            text=extraction.text,
            fingerprint=found,
            pages_read=extraction.pages_read,
            filled=extraction.filled,
            hints=extraction.hints,
        )
        return store_text(batch.claim, document, text, **values)
    if batch.claim.rows().filter(id=document.pk).update(**values) and extraction.image:
        keep_picture(
            user_id=document.user_id,
            document_id=document.pk,
            data=extraction.image,
            media_type=extraction.media_type,
        )
    return None
