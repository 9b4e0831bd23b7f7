"""Ends what came with an import and wasn't asked for.

Search finds its text, also for somebody who asks in a conversation; no job sends it to the model.
"""

from coaching.library.documents.reasons import ON_HOLD
from coaching.library.pipeline.batch import Batch, Services
from coaching.models import DocumentState


async def hold(batch: Batch, _services: Services) -> Batch:
    """Leave each document unread that its person hasn't let Sage read."""
    return batch.each(
        lambda item: item.ended(DocumentState.UNREAD, ON_HOLD) if item.document.is_on_hold else item
    )
