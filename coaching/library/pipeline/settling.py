"""Stores how the documents of a batch ended, all of them at once, and what follows for others."""

from dataclasses import replace

from django.db.models import F
from django.utils import timezone

from coaching.job_queue.documents import enqueue_document
from coaching.library.documents.calls import use_answers
from coaching.library.documents.filing import file_document, put_to_review
from coaching.library.documents.locks import lock_documents
from coaching.library.extractors.content_types import IMAGES
from coaching.library.moves import moving
from coaching.library.pipeline.batch import Batch, Ending, Image, Item, Twin
from coaching.library.pipeline.claims import Claim, keep
from coaching.library.pipeline.pages import says_enough
from coaching.models import UNFINISHED_STATES, Document, DocumentImage, DocumentState


def settle(batch: Batch) -> Batch:
    """Store the endings that the documents have got; return what is left to do.

    A document that was deleted or taken over meanwhile is left alone, and one whose original was deleted goes
    on. Sync ORM code.
    """
    ended = {item.document.pk: item.ending for item in batch.items if item.ending}
    if not ended:
        return batch
    with moving(batch.claim.rows().filter(id__in=ended)):
        _lock_with_others(batch.claim.user_id, ended)
        rows = batch.claim.rows().filter(id__in=ended).order_by("id")
        for document in rows:
            _end(document, ended[document.pk])
        left = [replace(item, ending=None) for item in batch.items if item.document.pk not in ended]
        if batch.call_ids:
            use_answers(user_id=batch.claim.user_id, call_ids=batch.call_ids, document_ids=list(ended))
        claim = keep(batch.claim, [item.document.pk for item in left])
        return replace(batch, claim=claim, items=tuple(left))


def _lock_with_others(user_id: int, ended: dict[int, Ending]) -> None:
    """Lock documents and those that they are linked to; take back endings whose other document is gone."""
    others = {
        pk: ending.values.get("duplicate_of_id") or ending.values.get("similar_to_id")
        for pk, ending in ended.items()
    }
    held = lock_documents(user_id, {*ended, *filter(None, others.values())})
    for pk in [pk for pk, other in others.items() if other and other not in held]:
        if ended[pk].is_duplicate:
            del ended[pk]
        else:
            ended[pk] = replace(ended[pk], values={})


def begin(claim: Claim) -> Batch:
    """Read the documents of a claim. Sync ORM code."""
    documents = claim.rows().select_related("text", "similar_to").order_by("id")
    return Batch(claim=claim, items=tuple(_item(document) for document in documents))


def _item(document: Document) -> Item:
    text = getattr(document, "text", None) if document.read_at else None
    if text is None:
        return Item(document=document)
    twin = None
    if document.similar_to_id is not None:
        twin = Twin(
            document_id=document.similar_to_id,
            name=document.similar_to.name if document.similar_to else "",
            similarity=document.similarity or 0.0,
        )
    return Item(
        document=document,
        text=text.text,
        pages_read=tuple(text.pages_read),
        hints=dict(text.hints),
        reading_note=document.reading_note,
        image=_image_of(document, text.text),
        twin=twin,
    )


def _image_of(document: Document, text: str) -> Image | None:
    """Return the picture that a document is, if its text doesn't say enough about it."""
    if document.content_type not in IMAGES or says_enough(text):
        return None
    found = DocumentImage.of(document.user_id).filter(document_id=document.pk).first()
    return Image(data=bytes(found.data), media_type=found.media_type) if found else None


def _end(document: Document, ending: Ending) -> None:
    user_id, document_id = document.user_id, document.pk
    if ending.state == DocumentState.FILED and ending.decision is not None:
        file_document(user_id=user_id, document_id=document_id, decision=ending.decision)
    elif ending.state == DocumentState.REVIEW:
        put_to_review(
            user_id=user_id, document_id=document_id, reason=ending.reason, decision=ending.decision
        )
    elif ending.state == DocumentState.UNREAD and not document.is_on_hold:  # its person let Sage read it
        Document.of(user_id).filter(id=document_id).update(state=DocumentState.QUEUED)
    else:
        Document.of(user_id).filter(id=document_id).update(state=ending.state, reason=ending.reason[:500])
        if ending.state == DocumentState.QUEUED and document.is_unheard:
            enqueue_document(document)
    now = timezone.now()
    is_decided = ending.state not in (*UNFINISHED_STATES, DocumentState.UNREAD)
    decided = {"decided_at": now} if is_decided else {}
    Document.of(user_id).filter(id=document_id).update(
        claim="",
        claimed_at=None,
        attempts=F("attempts") + int(ending.is_attempt),
        updated_at=now,
        **decided,
        **ending.values,
    )
