"""Records of model calls, which hold texts of documents and what was said of them."""

from collections.abc import Collection

from coaching.models import UNFINISHED_STATES, CallState, Document, DocumentCall


def forget_calls(*, user_id: int, document_id: int | None = None) -> None:
    """Delete the user's calls of which no document is left; perhaps only those about one document.

    What they cost stays. A call that is under way stores nothing more.
    """
    calls = DocumentCall.of(user_id).exclude(documents=[])
    if document_id is not None:
        calls = calls.filter(documents__contains=[document_id])
    about = dict(calls.order_by().values_list("id", "documents"))
    ids = {each for documents in about.values() for each in documents}
    left = set(Document.of(user_id).filter(id__in=ids).values_list("id", flat=True))
    gone = {pk for pk, documents in about.items() if left.isdisjoint(documents)}
    DocumentCall.of(user_id).filter(id__in=gone).delete()
    _clear_used(user_id=user_id, call_ids=about.keys() - gone)


def use_answers(*, user_id: int, call_ids: Collection[int], document_ids: Collection[int]) -> None:
    """Note that the answers of these calls were used for these documents. In a transaction.

    The answer for the other documents of a call was paid for, too, so it stays until it is used for them;
    after that neither it nor what was sent is kept.
    """
    for call in DocumentCall.of(user_id).select_for_update().filter(id__in=call_ids).order_by("id"):
        call.used = sorted({*call.used, *document_ids}.intersection(call.documents))
        call.save(update_fields=["used"])
    _clear_used(user_id=user_id, call_ids=call_ids)


def _clear_used(*, user_id: int, call_ids: Collection[int]) -> None:
    answered = DocumentCall.of(user_id).filter(id__in=call_ids, state=CallState.ANSWERED).exclude(request="")
    for pk, documents, used in answered.order_by().values_list("id", "documents", "used"):
        left = Document.of(user_id).filter(id__in=set(documents) - set(used), state__in=UNFINISHED_STATES)
        if not left.exists():
            DocumentCall.of(user_id).filter(id=pk).update(request="", rounds="", answer="")
