"""What was read from the pictures of a document's pages: stored as it comes, before the text is whole."""

from collections.abc import Mapping

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from coaching.library.documents.locks import lock_documents, update_documents
from coaching.library.pipeline.claims import Claim
from coaching.models import CallPurpose, Document, DocumentCall, DocumentCallState, DocumentText

PageTexts = Mapping[int, str | None]
"""By page number: empty for a page without text, None for one that couldn't be read."""


def read_page_texts(document: Document) -> dict[int, str | None]:
    """Return what is known of a document's pages. Sync ORM code."""
    stored = DocumentText.within(document).values_list("page_texts", flat=True).first() or {}
    return {int(number): words for number, words in stored.items()}


@transaction.atomic
def keep_page_texts(claim: Claim, document: Document, texts: PageTexts) -> bool:
    """Store what was read and renew the claim; False if another run has the document, or it is gone.

    The answers that it was taken from aren't kept. Sync ORM code.
    """
    now = timezone.now()
    update_documents(claim.rows(), claimed_at=now, updated_at=now)
    if not lock_documents(document.user_id, [document.pk], to_refer=True):
        return False
    if not claim.rows().filter(id=document.pk).exists():
        return False
    known = read_page_texts(document)
    DocumentText.unscoped.update_or_create(
        document_id=document.pk, defaults={"page_texts": known | dict(texts)}
    )
    page_calls(document).filter(state=DocumentCallState.ANSWERED).update(answer="")
    return True


def page_calls(document: Document) -> QuerySet[DocumentCall]:
    return DocumentCall.of(document.user_id).filter(purpose=CallPurpose.PAGES, documents=[document.pk])


def ended_calls(document: Document) -> int:
    """Return how many calls about a document's pages have failed, or were answered and used."""
    ended = Q(state=DocumentCallState.FAILED) | Q(state=DocumentCallState.ANSWERED, answer="")
    return page_calls(document).filter(ended).count()


def drop_call(document: Document, key: str) -> None:
    """Forget a call that the model's server didn't take: trying it again later counts anew. Sync ORM code."""
    page_calls(document).filter(key=key, state=DocumentCallState.OPEN).delete()
