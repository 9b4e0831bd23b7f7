"""Reads chosen documents in this process, without the queue: what `manage.py classify` does.

Nothing is lost where it stops: its documents stay unfinished, the next run takes them up, and so do the
workers after some minutes.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence

from django.utils import timezone

from coaching.library.documents.intake import Destination
from coaching.library.documents.locks import update_documents
from coaching.library.pipeline.batch import Services
from coaching.library.pipeline.claims import claim_chosen
from coaching.library.pipeline.reading import read_batch
from coaching.models import UNFINISHED_STATES, Document, DocumentSource, DocumentState
from sessions_app.database import in_database

CALLS_AT_ONCE = 2
MAX_TRIES = 3
"""As often in a row the model may be out of reach."""
TRY_SECONDS = 5.0
POLL_SECONDS = 0.3

Progress = Callable[[Sequence[Document]], None]


def take_up(
    *, user_id: int, sha256: str, destination: Destination, taken: Collection[int] = ()
) -> Document | None:
    """Return the document with these bytes that an earlier run hasn't finished, if there is one.

    None of those `taken` already: the same bytes again are a document of their own.
    """
    left = Document.of(user_id).filter(
        source=DocumentSource.COMMAND,
        sha256=sha256,
        client=destination.client,
        project=destination.project,
        state__in=UNFINISHED_STATES,
    )
    document = left.exclude(id__in=taken).order_by("id").first()
    if document is not None and document.state == DocumentState.WAITING:
        document.state, document.reason = DocumentState.QUEUED, ""
        document.save(update_fields=["state", "reason", "updated_at"])
    return document


async def read_directly(
    *, user_id: int, document_ids: Collection[int], services: Services, progress: Progress
) -> None:
    """Read documents until all have ended, the user's budget is used up, or the model is out of reach.

    `progress` gets those that have ended, again and again.
    """
    readers = [
        asyncio.create_task(_work(user_id, f"command:{reader}", document_ids, services))
        for reader in range(CALLS_AT_ONCE)
    ]
    try:
        while not all(reader.done() for reader in readers):
            await asyncio.wait(readers, timeout=POLL_SECONDS)
            progress(await in_database(_ended, user_id, document_ids))
        for reader in readers:
            reader.result()
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        await in_database(_let_go, user_id, document_ids)


async def _work(user_id: int, reader: str, document_ids: Collection[int], services: Services) -> None:
    failures = 0
    while failures < MAX_TRIES:
        claim = await in_database(claim_chosen, user_id=user_id, reader=reader, document_ids=document_ids)
        if claim is not None:
            failures = 0 if await read_batch(claim, services) else failures + 1
            if failures:
                await asyncio.sleep(TRY_SECONDS * failures)
        elif await in_database(_is_read_elsewhere, user_id, document_ids):
            await asyncio.sleep(POLL_SECONDS)
        else:
            return


def _is_read_elsewhere(user_id: int, document_ids: Collection[int]) -> bool:
    states = (DocumentState.QUEUED, DocumentState.READING)
    return Document.of(user_id).filter(id__in=document_ids, state__in=states).exists()


def _ended(user_id: int, document_ids: Collection[int]) -> Sequence[Document]:
    return list(Document.of(user_id).filter(id__in=document_ids).exclude(state__in=UNFINISHED_STATES))


def _let_go(user_id: int, document_ids: Collection[int]) -> None:
    """Let what this run had begun be read by another one at once."""
    own = Document.of(user_id).filter(
        id__in=document_ids, state=DocumentState.READING, claim__startswith="command:"
    )
    update_documents(own, state=DocumentState.QUEUED, claim="", claimed_at=None, updated_at=timezone.now())
