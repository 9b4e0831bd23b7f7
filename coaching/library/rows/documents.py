"""Reads documents. Another user's look missing, and every list is bounded or lazy."""

import re
from collections.abc import Sequence

from django.db.models import Prefetch, QuerySet

from coaching.models import (
    ActionItem,
    ActionState,
    Document,
    DocumentState,
    DocumentText,
    EntryState,
    KnowledgeEntry,
)

MAX_MATCHES = 10

_NUMBERED_COPY = re.compile(
    r"(?<!\s)\s*(?:\((?:\d{1,3}|copy)\)|[-_ ](?:copy|kopie|final|v\d{1,3}|\d{1,2}))$", re.IGNORECASE
)


def documents_of(
    *,
    user_id: int,
    client_id: int | None = None,
    project_id: int | None = None,
    folder: str = "",
    state: DocumentState | None = None,
) -> QuerySet[Document]:
    """Return documents, the newest first, without their texts."""
    rows = Document.of(user_id).select_related("client", "project")
    rows = rows.filter(client_id=client_id) if client_id else rows
    rows = rows.filter(project_id=project_id) if project_id else rows
    rows = rows.filter(folder=folder) if folder else rows
    return rows.filter(state=state) if state else rows


def reviews_of(*, user_id: int) -> QuerySet[Document]:
    """Return the documents that wait for the user, the oldest first."""
    return documents_of(user_id=user_id, state=DocumentState.REVIEW).order_by("created_at", "id")


def reviews_with_proposals(*, user_id: int) -> QuerySet[Document]:
    """Return them with their twins and what was proposed from them, which a page shows."""
    entries = KnowledgeEntry.of(user_id).filter(state=EntryState.PROPOSED).order_by("id")
    actions = ActionItem.of(user_id).filter(state=ActionState.PROPOSED).order_by("id")
    return (
        reviews_of(user_id=user_id)
        .select_related("client", "project", "similar_to")
        .prefetch_related(
            Prefetch("knowledge", queryset=entries, to_attr="proposed_entries"),
            Prefetch("action_items", queryset=actions, to_attr="proposed_actions"),
        )
    )


def suggestions_of(*, user_id: int) -> QuerySet[Document]:
    """Return those of them for which there is a suggestion that can be accepted."""
    return reviews_of(user_id=user_id).exclude(file_type="").exclude(folder="")


def possible_duplicates(
    *, user_id: int, file_name: str, client_id: int | None = None, file_type: str = ""
) -> Sequence[Document]:
    """Return documents with this name, give or take a copy's number, the likeliest first.

    Of each, `duplicate_of` and `similar_to` say what was found by content.
    """
    stem, _, extension = file_name.strip().rpartition(".")
    stem = _NUMBERED_COPY.sub("", stem or extension)[:200]
    if not stem:
        return []
    rows = documents_of(user_id=user_id, client_id=client_id)
    rows = rows.filter(name__istartswith=stem, is_withheld=False)
    rows = rows.filter(file_type=file_type) if file_type else rows
    return list(rows.select_related("duplicate_of", "similar_to")[:MAX_MATCHES])


def attachments_of(*, user_id: int, document_id: int) -> QuerySet[Document]:
    """Return the documents that were attached to an email, in their order, also those that weren't taken."""
    return Document.of(user_id).filter(part_of=document_id).order_by("id")


def with_attachments(*, user_id: int, document_id: int) -> set[int]:
    """Return the ids of a document and of everything attached to it, at any depth."""
    found: set[int] = set()
    level = {document_id}
    while level:
        found |= level
        inside = Document.of(user_id).filter(part_of__in=level).values_list("id", flat=True)
        level = set(inside) - found
    return found


def with_texts(documents: Sequence[Document], *, user_id: int) -> set[int]:
    """Return the ids of those of the documents that have a text, without reading the texts."""
    texts = DocumentText.of(user_id).filter(document__in=[document.pk for document in documents])
    return set(texts.exclude(text="").values_list("document_id", flat=True))


def document_with_text(*, user_id: int, document_id: int) -> Document:
    """Return a document with its text, client and twins. Raises `Document.DoesNotExist`."""
    whole = Document.of(user_id).select_related(
        "client", "project", "text", "duplicate_of", "similar_to", "part_of"
    )
    return whole.get(id=document_id)
