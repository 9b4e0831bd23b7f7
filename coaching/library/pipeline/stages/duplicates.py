"""Links documents whose bytes the client has already: they aren't read again.

A document that came with an import and waits isn't read at all, so the same bytes, uploaded, are a document
of their own. Once the imported one may be read, it is the duplicate, although it came first.
"""

from coaching.library.documents.on_hold import on_hold
from coaching.library.documents.reasons import DUPLICATE, join_reasons
from coaching.library.pipeline.batch import Batch, Item, Services
from coaching.models import Document, DocumentState
from sessions_app.database import in_database

_DECIDED = (DocumentState.FILED, DocumentState.REVIEW)
_NOT_ORIGINAL = (DocumentState.DUPLICATE, DocumentState.FAILED, DocumentState.REFUSED)


async def find_duplicates(batch: Batch, _services: Services) -> Batch:
    """End each document as a duplicate that has the bytes of an earlier one of the same client."""
    return await in_database(_find, batch)


def _find(batch: Batch) -> Batch:
    digests = {item.document.sha256 for item in batch.open_items if item.document.duplicate_of_id is None}
    digests.discard("")  # of bytes that were lost
    same = Document.of(batch.claim.user_id).filter(client_id=batch.claim.client_id, sha256__in=digests)
    originals: dict[str, Document] = {}
    decided: dict[str, Document] = {}
    same = same.exclude(state__in=_NOT_ORIGINAL).exclude(id__in=on_hold(batch.claim.user_id))
    for document in same.order_by("id").only("id", "sha256", "name", "state"):
        originals.setdefault(document.sha256, document)
        if document.state in _DECIDED:
            decided.setdefault(document.sha256, document)

    def linked(item: Item) -> Item:
        original = originals.get(item.document.sha256)
        if original is None or original.pk >= item.document.pk:
            # Later ones are decided before it only while it is on hold.
            is_new = item.document.decided_at is None
            original = decided.get(item.document.sha256) if is_new else None
        if original is None:
            return item
        reason = join_reasons([DUPLICATE, f"{original.name}."])
        return item.ended(DocumentState.DUPLICATE, reason, duplicate_of_id=original.pk)

    return batch.each(linked)
