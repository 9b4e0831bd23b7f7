"""Locks of documents and of what goes with them, in the order of docs/decisions/library-lock-order.md.

PostgreSQL checks foreign keys at the end of a transaction and then locks the rows that others refer to. A
transaction that adds such references therefore locks these rows at its beginning, or it would take them last.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from coaching.files.quota import lock_usage
from coaching.library.moves import moving
from coaching.library.rows.documents import with_attachments
from coaching.models import ActionItem, Client, Document, DocumentCall, KnowledgeEntry, Project


def lock_documents(user_id: int, document_ids: Collection[int], *, to_refer: bool = False) -> set[int]:
    """Lock documents until the transaction ends; return the ids of those that are still there.

    With `to_refer` others may still refer to them, too.
    """
    rows = Document.of(user_id).select_for_update(no_key=to_refer).filter(id__in=set(document_ids))
    return set(rows.order_by("id").values_list("id", flat=True))


def lock_with_attachments(user_id: int, document_id: int) -> set[int]:
    """Lock a document and everything attached to it, at any depth; return their ids."""
    while True:
        with transaction.atomic():
            found = with_attachments(user_id=user_id, document_id=document_id)
            lock_documents(user_id, found)
            # One that came until they were locked: its lock would be out of order.
            is_complete = with_attachments(user_id=user_id, document_id=document_id) <= found
            transaction.set_rollback(not is_complete)  # of the savepoint, which releases the locks
        if is_complete:
            return found


def locked_document(user_id: int, document_id: int) -> Document:
    """Return the user's document, locked until the transaction ends. Raises `Document.DoesNotExist`."""
    return Document.of(user_id).select_for_update().get(id=document_id)


def lock_for_deletion(user_id: int, chosen: Q, *, place: Client | Project | None = None) -> Collection[int]:
    """Lock documents that will be deleted and what changes with them; return the ids of these documents.

    That is: those that refer to them, the user's usage, the calls about them, perhaps their place, and the
    entries and next steps that were made from them or are there.
    """
    while True:
        with transaction.atomic():
            gone = set(Document.of(user_id).filter(chosen).values_list("id", flat=True))
            concerned = chosen | Q(id__in=gone) | Q(duplicate_of__in=gone) | Q(similar_to__in=gone)
            concerned |= Q(part_of__in=gone)
            held = lock_documents(
                user_id, Document.of(user_id).filter(concerned).values_list("id", flat=True)
            )
            lock_usage(user_id)
            lock_calls(user_id, gone, client=place if isinstance(place, Client) else None)
            if place is not None:
                type(place).of(user_id).select_for_update().filter(id=place.pk).first()
            _lock_made(user_id, gone, place)
            # One that came or began to refer to them until they were locked: its lock would be out of order.
            is_complete = not Document.of(user_id).filter(concerned).exclude(id__in=held).exists()
            transaction.set_rollback(not is_complete)  # of the savepoint, which releases the locks
        if is_complete:
            return gone & held


def lock_calls(
    user_id: int, document_ids: Collection[int], *, client: Client | None = None
) -> Mapping[int, DocumentCall]:
    """Return the calls about any of the documents, and perhaps all of a client, locked."""
    ids = set(document_ids)
    about = DocumentCall.of(user_id).exclude(documents=[]).order_by().values_list("id", "documents")
    if len(ids) == 1:
        about = about.filter(documents__contains=list(ids))
    concerned = Q(id__in=[pk for pk, documents in about if not ids.isdisjoint(documents)]) | Q(client=client)
    rows = DocumentCall.of(user_id).select_for_update().filter(concerned)
    return {call.pk: call for call in rows.only("id", "documents").order_by("id")}


def _lock_made(user_id: int, document_ids: Collection[int], place: Client | Project | None) -> None:
    """Lock entries and next steps: with them their effects are deleted, and before them."""
    made = Q(document__in=document_ids)
    if place is not None:
        made |= Q(client=place) if isinstance(place, Client) else Q(project=place)
    for model in (KnowledgeEntry, ActionItem):
        list(model.of(user_id).select_for_update().filter(made).order_by("id").values_list("id"))


def update_documents(rows: QuerySet[Document], **values: Any) -> int:
    """Change the documents of a query, locked in the order of their ids; return how many there were."""
    with moving(rows):
        ids = list(rows.select_for_update(no_key=True).order_by("id").values_list("id", flat=True))
        return rows.filter(id__in=ids).update(**values)
