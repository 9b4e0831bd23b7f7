"""Reads each document's text from its bytes, in a process of its own, and finds near-same texts.

An email's attachments become documents of their own. What has no text, or must not be sent to the model,
ends here: in review, failed or refused, with the reason.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial, reduce
from heapq import nlargest
from operator import or_

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.files.objects import open_object
from coaching.library.documents.locks import lock_documents
from coaching.library.documents.pictures import keep_picture
from coaching.library.pipeline.attachments import take_attachments
from coaching.library.pipeline.batch import Batch, Image, Item, Services, Twin
from coaching.library.pipeline.extracted import AttachedFile, Extraction
from coaching.library.pipeline.extraction import extract_now
from coaching.library.pipeline.normalised_text import Pairs, fingerprint, similarity, word_pairs
from coaching.models import Document, DocumentSource, DocumentState, DocumentText
from sessions_app.database import in_database, lock_until_commit
from sessions_app.lock_spaces import LockSpace

NEAR = 0.9
MAX_COMPARED = 5
"""As many texts are compared word by word."""
WITHHELD = gettext_noop("You chose never to send this document to the AI model, so please file it yourself.")
NO_SIGHT = gettext_noop(
    "This is an image, and the practice model can’t look at images. Please file it yourself."
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
    extraction, pairs, numbers = found
    if extraction.attachments:  # first: what has its text isn't read again
        await in_database(_attach, batch, document, extraction.attachments)
    twin = await in_database(_store, batch, document, extraction, pairs, numbers)
    if extraction.outcome != "text" and not extraction.image:
        return item.ended(_ENDS[extraction.outcome], extraction.sentence or NO_TEXT)
    read = replace(
        item,
        text=extraction.text,
        pages_read=extraction.pages_read,
        hints=extraction.hints,
        reading_note=extraction.note,
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
    if item.image and settings.IS_PRACTICE_MODEL:
        return item.ended(DocumentState.REVIEW, NO_SIGHT)
    return item


def _extract(document: Document) -> tuple[Extraction, Pairs, list[int]]:
    with open_object(document.storage_key or "") as file:
        extraction = extract_now(file, size=document.size, name=document.name)
    pairs = word_pairs(extraction.text)
    return extraction, pairs, fingerprint(pairs)


@transaction.atomic
def _store(
    batch: Batch, document: Document, extraction: Extraction, pairs: Pairs, numbers: Sequence[int]
) -> Twin | None:
    """Store a text, and find the one that was there before and is almost the same."""
    rows = batch.claim.rows().filter(id=document.pk)
    values = {
        "content_type": extraction.content_type,
        "page_count": extraction.page_count,
        "reading_note": extraction.note,
    }
    if extraction.outcome != "text":
        if rows.update(**values) and extraction.image:
            keep_picture(
                user_id=document.user_id,
                document_id=document.pk,
                data=extraction.image,
                media_type=extraction.media_type,
            )
        return None
    # One after another, so that of two that come at the same time the later one sees the earlier.
    lock_until_commit(LockSpace.DOCUMENT_TWINS, batch.claim.client_id % 2**31)
    twin = _twin(document, pairs, numbers, filled=extraction.filled)
    held = lock_documents(
        document.user_id, [document.pk, *([twin.document_id] if twin else [])], to_refer=True
    )
    twin = twin if twin and twin.document_id in held else None
    found = {"similar_to_id": twin.document_id, "similarity": twin.similarity} if twin else {}
    if rows.update(**values, **found, read_at=timezone.now()):
        DocumentText.unscoped.update_or_create(
            document_id=document.pk,
            defaults={
                "text": extraction.text,
                "pages_read": list(extraction.pages_read),
                "filled": extraction.filled,
                "hints": dict(extraction.hints),
                "fingerprint": list(numbers),
            },
        )
    return twin


def _twin(document: Document, pairs: Pairs, numbers: Sequence[int], *, filled: str) -> Twin | None:
    """Return the most similar of the texts whose fingerprints have most in common with this one's.

    Forms with other values are no twins, however much of their text is the same.
    """
    others = DocumentText.of(document.user_id).filter(document__client_id=document.client_id, filled=filled)
    shares_one = reduce(or_, (Q(fingerprint__contains=[number]) for number in numbers), Q(pk=None))
    found = others.filter(shares_one).exclude(document_id=document.pk).values_list("pk", "fingerprint")
    in_common = ((len(set(other).intersection(numbers)), pk) for pk, other in found)
    likeliest = [pk for _, pk in nlargest(MAX_COMPARED, in_common)]
    texts = others.filter(pk__in=likeliest).values_list("pk", "document__name", "text")
    compared = ((similarity(pairs, word_pairs(text)), pk, name) for pk, name, text in texts)
    best = max(compared, default=None)
    if best is None or best[0] < NEAR:
        return None
    return Twin(document_id=best[1], name=best[2], similarity=round(best[0], 3))
