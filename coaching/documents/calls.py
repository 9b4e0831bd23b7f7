"""Records of model calls, which hold texts of documents and what was said of them."""

from coaching.models import Document, DocumentCall


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
    gone = [pk for pk, documents in about.items() if left.isdisjoint(documents)]
    DocumentCall.of(user_id).filter(id__in=gone).delete()
