"""How sure a classification has to be before a document is filed by itself."""

from coaching.library.pipeline.batch import Verdict

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
