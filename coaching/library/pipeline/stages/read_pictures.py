"""Reads pages that are pictures, and stores their text, which then counts like that of other pages.

A note names the pages that were read so, and those that couldn't be. Each page is tried once; the person's
"Read again" tries those again that couldn't be read.
"""

import asyncio
from dataclasses import replace

from django.conf import settings
from django.utils.translation import gettext_noop

from coaching.library.pipeline.batch import Batch, Item, Services
from coaching.library.pipeline.calls import CallWithdrawn
from coaching.library.pipeline.page_reading import page_reader, sees_pictures
from coaching.library.pipeline.page_texts import PageTexts, keep_page_texts, read_page_texts
from coaching.library.pipeline.pages import pages_of, says_enough, with_pages
from coaching.library.pipeline.stages.read_text import NO_TEXT
from coaching.library.pipeline.stored_text import FoundText, fingerprint_of, store_text
from coaching.library.rows.reading_notes import with_page_texts
from coaching.models import DocumentState
from sessions_app.database import in_database

PAGES_A_JOB = 8
"""After them other people's jobs have their turn."""
PAGES_OF_DAY = gettext_noop(
    "Sage has read as many pages from pictures for you as it can in a day. It goes on with this by itself."
)
NO_SIGHT = gettext_noop(
    "This is an image, and the practice model can’t look at images. Please file it yourself."
)
MODEL_WITHOUT_SIGHT = gettext_noop(
    "This is an image, and the AI model can’t look at images. Please file it yourself."
)


async def read_pictures(batch: Batch, services: Services) -> Batch:
    """Give each document the text of its pages that are pictures, as far as they can be read.

    A document of which pages are left waits for the next job. Raises what `make_call` raises, except
    `CallFailed`: then the pages stay unread.
    """
    items, room = [], PAGES_A_JOB
    for item in batch.items:
        read = item
        if item.picture_pages and not item.ending:
            read, room = await _read(batch, item, services, room)
        items.append(read)
    return batch.with_items(items)


async def _read(batch: Batch, item: Item, services: Services, room: int) -> tuple[Item, int]:
    """Return a document with its text, and how many more pages this job may read."""
    known = await in_database(read_page_texts, item.document)
    reader = page_reader()
    left = [page for page in item.picture_pages[: reader.most] if page not in known] if reader else []
    while reader and left and room > 0:
        if not reader.may_read(item.document.user_id):
            return item.ended(DocumentState.WAITING, PAGES_OF_DAY), room
        some = left[: min(reader.at_once, room)]
        try:
            texts = await reader.read(batch, item, some, services)
        except CallWithdrawn:
            return item.ended(DocumentState.QUEUED, ""), room
        if not await in_database(keep_page_texts, batch.claim, item.document, texts):
            return item.ended(DocumentState.QUEUED, ""), room
        known |= texts
        left, room = left[len(some) :], room - len(some)
    if left:
        return item.ended(DocumentState.QUEUED, ""), room
    return await _with_text(batch, item, known), room


async def _with_text(batch: Batch, item: Item, known: PageTexts) -> Item:
    """Return a document with the text of all its pages, which is stored, or with its ending."""
    words = {page: text for page in item.picture_pages if (text := known.get(page))}
    # What an image shows is known by the image.
    unread = [
        page for page in item.picture_pages if known.get(page) is None and not (page == 1 and item.image)
    ]
    pages = with_pages(pages_of(item.text, item.pages_read), words)
    note = with_page_texts(item.reading_note, read=list(words), unread=unread)
    text = "\f".join(pages.values())
    if not text.strip():
        await in_database(batch.claim.rows().filter(id=item.document.pk).update, reading_note=note)
        return _without_text(item, has_unread=bool(unread))
    is_whole = list(pages) == list(range(1, item.page_count + 1))
    found = FoundText(
        text=text,
        fingerprint=await asyncio.to_thread(fingerprint_of, text),
        pages_read=() if is_whole else tuple(pages),
        filled=item.filled,
        hints=item.hints,
    )
    twin = await in_database(store_text, batch.claim, item.document, found, reading_note=note)
    is_shown = sees_pictures() and not says_enough(text)
    return replace(
        item,
        text=text,
        pages_read=found.pages_read,
        reading_note=note,
        image=item.image if is_shown else None,
        twin=twin,
    )


def _without_text(item: Item, *, has_unread: bool) -> Item:
    if item.image and sees_pictures():
        return item
    if item.image:
        return item.ended(
            DocumentState.REVIEW, NO_SIGHT if settings.IS_PRACTICE_MODEL else MODEL_WITHOUT_SIGHT
        )
    return item.ended(DocumentState.REVIEW, item.unread if has_unread else NO_TEXT)
