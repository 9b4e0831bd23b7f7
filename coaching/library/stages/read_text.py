"""Reads each document's text from its bytes, in a process of its own, and finds near-same texts.

What has no text, or must not be sent to the model, ends here: in review, failed or refused, with the reason.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from coaching.files.objects import open_object
from coaching.library.batch import Batch, Image, Item, Services, Twin
from coaching.library.extraction import Extraction, extract_now
from coaching.library.near_text import fingerprint, similarity
from coaching.models import Document, DocumentSource, DocumentState, DocumentText
from sessions_app.database import in_database, lock_until_commit

NEAR = 0.9
WITHHELD = "You marked it never to be sent to the model. File it yourself."
NO_SIGHT = "It is an image, and there is no model here that can look at it. File it yourself."
NO_TEXT = "No text was found in it. File it yourself, or upload a version with text."
_TWIN_LOCK = 0x11B3
_ENDS: Mapping[str, DocumentState] = {
    "no_text": DocumentState.REVIEW,
    "needs_password": DocumentState.FAILED,
    "broken": DocumentState.FAILED,
    "refused": DocumentState.REFUSED,
}

# Bulk never takes every process of the sandbox: a conversation may wait for one.
_bulk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="documents in bulk")
_urgent = ThreadPoolExecutor(max_workers=2, thread_name_prefix="documents")


async def read_text(batch: Batch, _services: Services) -> Batch:
    """Give each document its text, or its ending."""
    items = await asyncio.gather(*(_with_text(batch, item) for item in batch.items))
    return batch.with_items(items)


async def _with_text(batch: Batch, item: Item) -> Item:
    document = item.document
    if item.ending or item.text:
        return _allowed(item)
    executor = _urgent if document.source == DocumentSource.CHAT else _bulk
    found = await asyncio.get_running_loop().run_in_executor(executor, partial(_extract, document))
    extraction, numbers = found
    twin = await in_database(_store, batch, document, extraction, numbers)
    if extraction.outcome != "text" and not extraction.image:
        return item.ended(_ENDS[extraction.outcome], extraction.sentence or NO_TEXT)
    read = replace(
        item,
        text=extraction.text,
        pages_read=extraction.pages_read,
        hints=extraction.hints,
        image=Image(data=extraction.image, media_type=extraction.media_type) if extraction.image else None,
        twin=twin,
    )
    return _allowed(read)


def _allowed(item: Item) -> Item:
    """Return a document that may go on to the model, or with its ending."""
    if item.ending:
        return item
    if item.document.is_withheld:
        return item.ended(DocumentState.REVIEW, WITHHELD)
    if item.image and settings.IS_PRACTICE_MODEL:
        return item.ended(DocumentState.REVIEW, NO_SIGHT)
    return item


def _extract(document: Document) -> tuple[Extraction, list[int]]:
    with open_object(document.storage_key or "") as file:
        extraction = extract_now(file, size=document.size, name=document.name)
    return extraction, fingerprint(extraction.text)


@transaction.atomic
def _store(batch: Batch, document: Document, extraction: Extraction, numbers: Sequence[int]) -> Twin | None:
    """Store a text, and find the one that was there before and is almost the same."""
    rows = batch.claim.rows().filter(id=document.pk)
    values = {"content_type": extraction.content_type, "page_count": extraction.page_count}
    if extraction.outcome != "text":
        rows.update(**values)
        return None
    # One after another, so that of two that come at the same time the later one sees the earlier.
    lock_until_commit(_TWIN_LOCK, batch.claim.client_id % 2**31)
    twin = _twin(document, numbers)
    found = {"similar_to_id": twin.document_id, "similarity": twin.similarity} if twin else {}
    if rows.update(**values, **found, read_at=timezone.now()):
        DocumentText.unscoped.update_or_create(
            document_id=document.pk,
            defaults={
                "text": extraction.text,
                "pages_read": list(extraction.pages_read),
                "hints": dict(extraction.hints),
                "fingerprint": list(numbers),
            },
        )
    return twin


def _twin(document: Document, numbers: Sequence[int]) -> Twin | None:
    others = DocumentText.of(document.user_id).filter(document__client_id=document.client_id)
    rows = others.exclude(document_id=document.pk).exclude(fingerprint=[])
    best = max(
        (
            (similarity(numbers, other), pk, name)
            for pk, name, other in rows.values_list("document_id", "document__name", "fingerprint")
        ),
        default=None,
    )
    if best is None or best[0] < NEAR:
        return None
    return Twin(document_id=best[1], name=best[2], similarity=round(best[0], 3))
