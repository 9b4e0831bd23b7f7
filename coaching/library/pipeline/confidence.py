"""How sure a classification has to be before a document is filed by itself."""

from coaching.library.documents.reasons import doubts_type
from coaching.library.pipeline.batch import Item, Verdict
from coaching.models import Document

SURE = 0.8
"""From this confidence on a document is filed by itself."""
CLOSE = 0.2
"""Two types whose confidences are no further apart are close."""


def is_close(verdict: Verdict) -> bool:
    """Whether another type is about as likely."""
    return verdict.confidence - verdict.next_confidence <= CLOSE


def is_unsure(verdict: Verdict) -> bool:
    """Whether a second reading is worth its price."""
    return verdict.confidence < SURE or is_close(verdict)


def is_unsupported(verdict: Verdict) -> bool:
    """Whether the document bears out none of the facts that were noted about it."""
    return bool(verdict.dropped_facts) and not verdict.key_facts


def needs_second_reading(item: Item) -> bool:
    """Whether a document may not be filed on a first reading alone, however sure it is."""
    if item.verdict is None:
        return False
    return is_unsure(item.verdict) or is_unsupported(item.verdict) or item.is_unlikely


def is_sure_suggestion(document: Document) -> bool:
    """Whether a document's review has other reasons than a doubt about the type that was suggested."""
    if not document.file_type or not document.folder or document.confidence is None:
        return False
    others = [other.get("confidence", 0.0) for other in document.alternatives]
    is_clear = document.confidence - max(others, default=0.0) > CLOSE
    return document.confidence >= SURE and is_clear and not doubts_type(document.reason)
