"""A person's corrections of document types, which later calls of the same person get as examples."""

from collections.abc import Sequence

from coaching.models import Document, DocumentCorrection, DocumentText

MAX_CORRECTIONS = 50
EXCERPT_CHARACTERS = 500


def remember_correction(document: Document, *, from_type: str) -> None:
    """Remember what the user has just said that a document is, and forget the oldest over the limit.

    An example holds words of its document, so one that is never sent to the model gives none, and of one that
    is on hold only its name is kept.
    """
    if document.is_withheld:
        return
    texts = DocumentText.within(document).filter(document__is_on_hold=False)
    text = texts.values_list("text", flat=True).first() or ""
    corrections = DocumentCorrection.of(document.user_id)
    corrections.create(
        client_id=document.client_id,
        document=document,
        name=document.name,
        excerpt=" ".join(text[: 4 * EXCERPT_CHARACTERS].split())[:EXCERPT_CHARACTERS],
        from_type=from_type,
        to_type=document.file_type,
        to_folder=document.folder,
    )
    kept = corrections.order_by("-created_at", "-id").values_list("id", flat=True)[:MAX_CORRECTIONS]
    corrections.exclude(id__in=list(kept)).delete()


def read_corrections(*, user_id: int, client_id: int, limit: int = 5) -> Sequence[DocumentCorrection]:
    """Return the newest corrections of a client's documents: another client's never enter a call.

    Those of documents that have been withheld since are left out.
    """
    rows = DocumentCorrection.of(user_id).filter(client_id=client_id)
    return list(rows.exclude(document__is_withheld=True)[:limit])
