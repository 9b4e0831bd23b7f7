"""Records of model calls, which hold texts of documents and what was said of them."""

from collections.abc import Collection

from coaching.library.documents.locks import lock_calls
from coaching.models import UNFINISHED_STATES, Document, DocumentCall, DocumentCallState


def forget_calls(*, user_id: int, document_ids: Collection[int]) -> None:
    """Delete the calls about documents that are gone, unless another of their documents is left.

    What they cost stays. A call that is under way stores nothing more.
    """
    calls = lock_calls(user_id, document_ids)
    ids = {each for call in calls.values() for each in call.documents}
    left = set(Document.of(user_id).filter(id__in=ids).values_list("id", flat=True))
    gone = {pk for pk, call in calls.items() if left.isdisjoint(call.documents)}
    DocumentCall.of(user_id).filter(id__in=gone).delete()
    _clear_used(user_id=user_id, call_ids=calls.keys() - gone)


def use_answers(*, user_id: int, call_ids: Collection[int], document_ids: Collection[int]) -> None:
    """Note that the answers of these calls were used for these documents, which are locked. In a transaction.

    The answer for the other documents of a call was paid for, too, so it stays until it is used for them;
    after that neither it nor what was sent is kept.
    """
    for call in DocumentCall.of(user_id).select_for_update().filter(id__in=call_ids).order_by("id"):
        call.used = sorted({*call.used, *document_ids}.intersection(call.documents))
        call.save(update_fields=["used"])
    _clear_used(user_id=user_id, call_ids=call_ids)


def clear_requests(*, user_id: int, keys: str) -> None:
    """Forget what was sent in answered calls whose keys begin so; their answers stay, paid once."""
    answered = DocumentCall.of(user_id).filter(key__startswith=keys, state=DocumentCallState.ANSWERED)
    answered.update(request="", rounds="")


def fail_unreadable(*, user_id: int, key: str, sentence: str) -> None:
    """Note that a call's answer couldn't be read, so that it is asked again when its person wants it."""
    answered = DocumentCall.of(user_id).filter(key=key, state=DocumentCallState.ANSWERED)
    answered.update(state=DocumentCallState.FAILED, error=sentence, request="", rounds="", answer="")


def forget_failed(*, user_id: int, keys: str) -> None:
    """Delete the failed calls whose keys begin so: they are made again, and what was answered isn't."""
    DocumentCall.of(user_id).filter(key__startswith=keys, state=DocumentCallState.FAILED).delete()


def _clear_used(*, user_id: int, call_ids: Collection[int]) -> None:
    answered = (
        DocumentCall.of(user_id).filter(id__in=call_ids, state=DocumentCallState.ANSWERED).exclude(request="")
    )
    for pk, documents, used in answered.order_by().values_list("id", "documents", "used"):
        left = Document.of(user_id).filter(id__in=set(documents) - set(used), state__in=UNFINISHED_STATES)
        if not left.exists():
            DocumentCall.of(user_id).filter(id=pk).update(request="", rounds="", answer="")


def answered_keys(document: Document, prefix: str) -> Collection[str]:
    """Return the keys of answered calls about a document that begin so. Sync ORM code."""
    calls = DocumentCall.of(document.user_id).filter(key__startswith=prefix, state=DocumentCallState.ANSWERED)
    return set(calls.values_list("key", flat=True))
