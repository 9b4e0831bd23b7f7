"""Reads each document's text from its bytes, in a process of its own, and finds near-same texts.

An email's attachments become documents of their own. What has no text, nor a page that a model could look at,
or must not be sent to the model, ends here: in review, failed or refused, with the reason.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from django.conf import settings
from django.utils.translation import gettext_noop

from coaching.engine.profiles import profile_for
from coaching.files.objects import open_object
from coaching.library.documents.pictures import keep_picture
from coaching.library.pipeline.attachments import take_attachments
from coaching.library.pipeline.batch import Batch, Image, Item, Services, Twin
from coaching.library.pipeline.extracted import AttachedFile, Extraction
from coaching.library.pipeline.extraction import extract_now
from coaching.library.pipeline.recognition import is_installed
from coaching.library.pipeline.stored_text import Fingerprint, FoundText, fingerprint_of, store_text
from coaching.models import Document, DocumentSource, DocumentState
from sessions_app.database import in_database

WITHHELD = gettext_noop("You chose never to send this document to the AI model, so please file it yourself.")
NO_SIGHT = gettext_noop(
    "This is an image, and the practice model can’t look at images. Please file it yourself."
)
MODEL_WITHOUT_SIGHT = gettext_noop(
    "This is an image, and the AI model can’t look at images. Please file it yourself."
)
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


def reading_threads(document: Document) -> ThreadPoolExecutor:
    """Return the threads that wait for processes that read this document."""
    return _urgent if document.source == DocumentSource.CHAT else _bulk


def can_look() -> bool:
    """Say whether the model that reads documents is shown pictures."""
    return not settings.IS_PRACTICE_MODEL and profile_for(settings.SAGE_CLASSIFY_MODEL).has_sight


def reads_pictures() -> bool:
    """Say whether the text of pages that are pictures is read: by a model that sees, or here."""
    return can_look() or is_installed()


def no_sight() -> str:
    """Return why an image without a text that could be read isn't classified."""
    return NO_SIGHT if settings.IS_PRACTICE_MODEL else MODEL_WITHOUT_SIGHT


async def read_text(batch: Batch, _services: Services) -> Batch:
    """Give each document its text, or its ending."""
    items = await asyncio.gather(*(_with_text(batch, item) for item in batch.items))
    return batch.with_items(items)


async def _with_text(batch: Batch, item: Item) -> Item:
    document = item.document
    if item.ending or item.text:
        return _allowed(item)
    extraction, found = await asyncio.get_running_loop().run_in_executor(
        reading_threads(document), partial(_extract, document)
    )
    if extraction.attachments:  # first: what has its text isn't read again
        await in_database(_attach, batch, document, extraction.attachments)
    twin = await in_database(_store, batch, document, extraction, found)
    pages = extraction.picture_pages if reads_pictures() and not document.is_withheld else ()
    if extraction.outcome != "text" and not extraction.image and not pages:
        return item.ended(_ENDS[extraction.outcome], extraction.sentence or NO_TEXT)
    read = replace(
        item,
        text=extraction.text,
        pages_read=extraction.pages_read,
        hints=extraction.hints,
        reading_note=extraction.note,
        picture_pages=pages,
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
    if item.image and not item.text and not reads_pictures():
        return item.ended(DocumentState.REVIEW, no_sight())
    return item


def _extract(document: Document) -> tuple[Extraction, Fingerprint]:
    with open_object(document.storage_key or "") as file:
        extraction = extract_now(file, size=document.size, name=document.name)
    return extraction, fingerprint_of(extraction.text)


def _store(batch: Batch, document: Document, extraction: Extraction, found: Fingerprint) -> Twin | None:
    """Store what was read, and find the text that was there before and is almost the same."""
    values = {
        "content_type": extraction.content_type,
        "page_count": extraction.page_count,
        "reading_note": extraction.note,
    }
    if extraction.outcome == "text":
        text = FoundText(
            text=extraction.text,
            fingerprint=found,
            pages_read=extraction.pages_read,
            picture_pages=extraction.picture_pages,
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
