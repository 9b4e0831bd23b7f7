"""Reads pages from their pictures: a model that sees writes down their text, or Tesseract recognises it."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog
from django.conf import settings

from coaching.engine.errors import UpstreamError
from coaching.engine.profiles import profile_for
from coaching.files.objects import open_object
from coaching.library.pipeline.batch import Batch, Image, Item, Services
from coaching.library.pipeline.call_records import CallPlan
from coaching.library.pipeline.calls import CallFailed, CallWithdrawn, make_call
from coaching.library.pipeline.page_rendering import (
    MEDIA_TYPE,
    NotRendered,
    RenderedPage,
    render_page_now,
)
from coaching.library.pipeline.page_requests import build_pages_request, read_pages_skill
from coaching.library.pipeline.page_texts import PageTexts, drop_call, ended_calls
from coaching.library.pipeline.pages import clean_page, read_pages
from coaching.library.pipeline.recognition import is_installed, recognise_now
from coaching.library.pipeline.requests import request_tokens
from coaching.model_client.context_size import most_input
from coaching.models import CallPurpose, Document, DocumentSource
from coaching.people.attempts import AttemptLimit, TooOften
from coaching.sandbox.errors import AllBusy, NotStarted
from sessions_app.database import in_database

ResultT = TypeVar("ResultT")

logger = structlog.get_logger(__name__)

PAGES_A_CALL = 4
PAGE_TOKENS = 4_000
"""Of a picture and its answer."""
CALL_TOKENS = 20_000
MAX_PAGES, MAX_RECOGNISED = 40, 200
"""Of one document, by a model and without one. The others are named as unread."""
RECOGNISED_A_DAY = 500
"""Pages of one person without a model, within 24 hours and by this process since it started: half an hour of
a core.
"""
SHOWN_PIXELS, RECOGNISED_PIXELS = 1_568, 2_480
"""The longer side. Above the first, models reduce images themselves (docs.claude.com, Vision).

The second is a letter at 210 dots an inch.
"""

# Recognising takes seconds of a core: one page at a time. A conversation's document doesn't wait for others.
_bulk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pages in bulk")
_recognised_pages = AttemptLimit(attempts=RECOGNISED_A_DAY, seconds=24 * 3_600)
_urgent = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pages")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReader:
    """How pages are read: so many at once, at most so many of a document.

    `read` returns a text, or None, for each page that it is given. `may_read` says whether a person's pages
    are read now.
    """

    at_once: int
    most: int
    read: Callable[[Batch, Item, Sequence[int], Services], Awaitable[PageTexts]]
    may_read: Callable[[int], bool] = lambda _user_id: True


def sees_pictures() -> bool:
    """Say whether the model that classifies documents is shown pictures."""
    return not settings.IS_PRACTICE_MODEL and profile_for(settings.SAGE_CLASSIFY_MODEL).has_sight


def page_reader() -> PageReader | None:
    """Return how pages are read here, None if they aren't."""
    if sees_pictures():
        room = most_input(settings.SAGE_CLASSIFY_MODEL, CALL_TOKENS) // PAGE_TOKENS
        return PageReader(at_once=max(1, min(PAGES_A_CALL, room)), most=MAX_PAGES, read=_by_model)
    if is_installed():
        return PageReader(
            at_once=PAGES_A_CALL, most=MAX_RECOGNISED, read=_by_recognition, may_read=may_recognise
        )
    return None


def may_recognise(user_id: int) -> bool:
    """Return whether a person's pages of a day aren't used up."""
    return _recognised_pages.has_room(user_id)


async def _by_model(batch: Batch, item: Item, numbers: Sequence[int], services: Services) -> PageTexts:
    images = await _in_threads(item.document, _images, item, numbers)
    return dict.fromkeys(numbers) | await _written(batch, item, images, services)


async def _written(
    batch: Batch, item: Item, images: Mapping[int, Image], services: Services
) -> dict[int, str | None]:
    """Return what a model writes down; without an answer about several pages it is asked one by one."""
    if not images:
        return {}
    try:
        return await _ask(batch, item, images, services)
    except CallWithdrawn:
        raise
    except CallFailed as failure:
        logger.info("pages_not_read", document_id=item.document.pk, reason=str(failure))
    found: dict[int, str | None] = {}
    if len(images) > 1:
        for number, image in images.items():
            found |= await _written(batch, item, {number: image}, services)
    return found


async def _ask(
    batch: Batch, item: Item, images: Mapping[int, Image], services: Services
) -> dict[int, str | None]:
    document = item.document
    request = build_pages_request(document, images, skill=await in_database(read_pages_skill))
    shown = ".".join(map(str, images))
    key = f"pages:{document.pk}:{document.sha256[:12]}:{shown}#{await in_database(ended_calls, document)}"
    plan = CallPlan(
        user_id=batch.claim.user_id,
        client_id=batch.claim.client_id,
        purpose=CallPurpose.PAGES,
        key=key,
        document_ids=[document.pk],
        request=request,
        # Of its own: there is nothing in the cache that other calls would wait for.
        prefix=hashlib.sha256(key.encode()).hexdigest(),
        prompt_tokens=request_tokens(request),
        is_stored=False,
    )
    try:
        call = await make_call(plan, client=await services.client(), slot=services.calls)
    except UpstreamError:
        await in_database(drop_call, document, key)
        raise
    return dict(read_pages(call.answer, images))


async def _by_recognition(
    _batch: Batch, item: Item, numbers: Sequence[int], _services: Services
) -> PageTexts:
    found: dict[int, str | None] = {}
    for number in numbers:
        found[number] = await _in_threads(item.document, _recognised, item, number)
        if found[number] is not None:
            with suppress(TooOften):  # the last ones of a day may be a few more
                _recognised_pages.count(item.document.user_id)
    return found


async def _in_threads(document: Document, work: Callable[..., ResultT], *given: object) -> ResultT:
    threads = _urgent if document.source == DocumentSource.CHAT else _bulk
    return await asyncio.get_running_loop().run_in_executor(threads, partial(work, *given))


def _images(item: Item, numbers: Sequence[int]) -> Mapping[int, Image]:
    """Return the pages as pictures; one that can't be drawn is left out."""
    images = {1: item.image} if item.image and 1 in numbers else {}
    for number in numbers:
        if number not in images and (page := _drawn(item.document, number, SHOWN_PIXELS)):
            images[number] = Image(data=page.data, media_type=MEDIA_TYPE)
    return images


def _recognised(item: Item, number: int) -> str | None:
    page = _drawn(item.document, number, RECOGNISED_PIXELS)
    try:
        text = recognise_now(page.data) if page else None
    except (AllBusy, NotStarted):
        logger.warning("page_not_recognised", document_id=item.document.pk, exc_info=True)
        return None
    return None if text is None else clean_page(text)


def _drawn(document: Document, number: int, pixels: int) -> RenderedPage | None:
    with open_object(document.storage_key or "") as file, suppress(NotRendered, AllBusy, NotStarted):
        return render_page_now(file, size=document.size, number=number, most_pixels=pixels)
    return None
