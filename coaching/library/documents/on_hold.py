"""Documents that came with an import: Sage goes through them only once their person lets it.

Until then no job sends their text to the model unasked. Search finds it, and a conversation in which somebody
asks may use it like any document's.
"""

from collections.abc import Collection

from django.db.models import QuerySet
from django.utils import timezone

from coaching.job_queue.documents import DOCUMENT_QUEUES, enqueue_documents
from coaching.library.documents.locks import lock_documents
from coaching.library.moves import moving
from coaching.models import UNFINISHED_STATES, Document, DocumentState


def on_hold(user_id: int) -> QuerySet[Document]:
    """Return a person's documents that wait for them; those that they filed themselves aren't offered."""
    return Document.of(user_id).filter(is_on_hold=True, state__in=(DocumentState.UNREAD, *UNFINISHED_STATES))


def let_read(*, user_id: int, document_ids: Collection[int]) -> int:
    """Queue the reading of documents that wait for their person; return how many there were.

    Each is read within the daily budget, as uploads are. Those that are never sent to the model stay unread.
    """
    waiting = on_hold(user_id).filter(id__in=document_ids, is_withheld=False)
    with moving(waiting):
        ids = lock_documents(user_id, waiting.values_list("id", flat=True))
        rows = Document.of(user_id).filter(id__in=ids, is_on_hold=True)
        # Whoever reads one of them just now, or has queued it, goes on with it.
        rows.filter(state=DocumentState.UNREAD).update(
            state=DocumentState.QUEUED, reason="", attempts=0, updated_at=timezone.now()
        )
        count = rows.update(is_on_hold=False)
        if count:
            for number in range(DOCUMENT_QUEUES):
                enqueue_documents(user_id, number)
    return count
