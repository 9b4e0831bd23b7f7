"""The pages of documents as their person is shown them: kept for a week, and only so many of a person.

They are made from the document's file, so they count in no quota, and nobody but their person gets them.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from coaching.models import Document, DocumentPage, DocumentState
from sessions_app.errors import Refused

KEPT = timedelta(days=7)
PAGES_OF_A_PERSON = 200
BYTES_OF_A_PERSON = 40_000_000
HIDDEN_STATES = (DocumentState.FAILED, DocumentState.REFUSED)
"""Sage couldn't read them, so it doesn't show them either."""


class NoPicture(Refused):
    """A page that can't be drawn; the sentence says why."""


def shown_document(*, user_id: int, document_id: int) -> Document:
    """Return a document whose pages its person may see. Raises `Document.DoesNotExist` for any other."""
    return _shown(user_id).get(id=document_id)


def drawn_page(*, user_id: int, document_id: int, number: int, has_data: bool = True) -> DocumentPage | None:
    """Return a page if it was drawn already, perhaps without its image."""
    rows = DocumentPage.of(user_id) if has_data else DocumentPage.of(user_id).defer("data")
    return rows.filter(document=document_id, number=number).first()


@transaction.atomic
def keep_page(*, user_id: int, document_id: int, number: int, values: Mapping[str, Any]) -> DocumentPage:
    """Store a page. Raises `Document.DoesNotExist` if the document has been deleted or withheld meanwhile."""
    document = _shown(user_id).select_for_update(no_key=True, of=("self",)).get(id=document_id)
    page, _ = DocumentPage.of(user_id).update_or_create(document=document, number=number, defaults=values)
    return page


def forget_pages(user_id: int, document_ids: Collection[int]) -> None:
    """Delete the pages of documents, whose rows are locked."""
    DocumentPage.of(user_id).filter(document__in=document_ids).delete()


def trim_pages(user_id: int) -> None:
    """Delete the oldest pages of a person that are too many, or too large together."""
    left, too_many = BYTES_OF_A_PERSON, []
    rows = DocumentPage.of(user_id).order_by("-drawn_at", "-id").values_list("id", "size")
    for place, (page_id, size) in enumerate(rows):
        left -= size
        if place and (place >= PAGES_OF_A_PERSON or left < 0):  # the newest one is being shown
            too_many.append(page_id)
    _delete(DocumentPage.of(user_id).filter(id__in=too_many))


def expire_pages(*, now: datetime) -> int:
    """Delete pages that were drawn long ago, and those of withheld documents; return how many."""
    gone = Q(drawn_at__lt=now - KEPT) | Q(document__is_withheld=True)
    return _delete(DocumentPage.unscoped.filter(gone))


@transaction.atomic
def _delete(rows: QuerySet[DocumentPage]) -> int:
    """Delete pages that nobody else is deleting."""
    free = rows.select_for_update(skip_locked=True, of=("self",)).only("id")
    return rows.filter(id__in=[page.pk for page in free]).delete()[0]


def _shown(user_id: int) -> QuerySet[Document]:
    stored = Document.of(user_id).filter(is_withheld=False, storage_key__isnull=False)
    return stored.exclude(state__in=HIDDEN_STATES)
