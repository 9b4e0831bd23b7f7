"""A document's text by page: stored under a claim, and compared with the texts that were there before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from heapq import nlargest
from operator import or_
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from coaching.library.documents.locks import lock_documents
from coaching.library.documents.on_hold import on_hold
from coaching.library.pipeline.batch import Twin
from coaching.library.pipeline.claims import Claim
from coaching.library.pipeline.normalised_text import Pairs, fingerprint, similarity, word_pairs
from coaching.models import Document, DocumentText
from sessions_app.database import lock_until_commit
from sessions_app.lock_spaces import LockSpace

NEAR = 0.9
MAX_COMPARED = 5
"""As many texts are compared word by word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What near-same texts are found by; takes a moment to compute, so not in a transaction."""

    pairs: Pairs
    numbers: Sequence[int]


def fingerprint_of(text: str) -> Fingerprint:
    pairs = word_pairs(text)
    return Fingerprint(pairs=pairs, numbers=fingerprint(pairs))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundText:
    """What is stored of a document's text; see `DocumentText`."""

    text: str
    fingerprint: Fingerprint
    pages_read: Sequence[int] = ()
    filled: str = ""
    hints: Mapping[str, Any] = field(default_factory=dict)


@transaction.atomic
def store_text(claim: Claim, document: Document, found: FoundText, **values: Any) -> Twin | None:
    """Store a text and `values` of its document's row; return the text before it that is almost the same.

    Does nothing if the claim has lost the document. Sync ORM code.
    """
    rows = claim.rows().filter(id=document.pk)
    # One after another, so that of two that come at the same time the later one sees the earlier.
    lock_until_commit(LockSpace.DOCUMENT_TWINS, claim.client_id % 2**31)
    twin = _twin(document, found)
    held = lock_documents(
        document.user_id, [document.pk, *([twin.document_id] if twin else [])], to_refer=True
    )
    twin = twin if twin and twin.document_id in held else None
    values |= {"similar_to_id": twin and twin.document_id, "similarity": twin and twin.similarity}
    if rows.update(**values, read_at=timezone.now()):
        DocumentText.unscoped.update_or_create(
            document_id=document.pk,
            defaults={
                "text": found.text,
                "pages_read": list(found.pages_read),
                "filled": found.filled,
                "hints": dict(found.hints),
                "fingerprint": list(found.fingerprint.numbers),
            },
        )
    return twin


def _twin(document: Document, found: FoundText) -> Twin | None:
    """Return the most similar of the texts whose fingerprints have most in common with this one's.

    Forms with other values are no twins, however much of their text is the same. What is on hold is compared
    only with what is on hold, too: whatever else came after it may be read long before it.
    """
    numbers = found.fingerprint.numbers
    others = DocumentText.of(document.user_id).filter(
        document__client_id=document.client_id, filled=found.filled
    )
    shares_one = reduce(or_, (Q(fingerprint__contains=[number]) for number in numbers), Q(pk=None))
    others = others.exclude(document_id=document.pk)
    if not document.is_on_hold:
        others = others.exclude(document__in=on_hold(document.user_id))
    near = others.filter(shares_one).values_list("pk", "fingerprint")
    in_common = ((len(set(other).intersection(numbers)), pk) for pk, other in near)
    likeliest = [pk for _, pk in nlargest(MAX_COMPARED, in_common)]
    texts = others.filter(pk__in=likeliest).values_list("pk", "document__name", "text")
    pairs = found.fingerprint.pairs
    compared = ((similarity(pairs, word_pairs(text)), pk, name) for pk, name, text in texts)
    best = max(compared, default=None)
    if best is None or best[0] < NEAR:
        return None
    return Twin(document_id=best[1], name=best[2], similarity=round(best[0], 3))
