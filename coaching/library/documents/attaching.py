"""Attaches documents to a message: they then belong to its conversation."""

import uuid
from collections.abc import Sequence

from django.utils.translation import gettext_noop

from coaching.library.documents.locks import update_documents
from coaching.library.rows.attached import MAX_ATTACHED
from coaching.models import Document
from sessions_app.errors import Refused

TOO_MANY = gettext_noop("You can attach up to %(most)s documents to a message. Send the others separately.")

UNREADABLE = gettext_noop("Sage couldn’t read which documents are attached. Attach them again.")

MISSING = gettext_noop("That document is no longer in your library. Remove it and send your message again.")


def attach(*, user_id: int, session_id: uuid.UUID, given: object) -> Sequence[Document]:
    """Return the documents with the given ids in their order, now of this session too. Raises `Refused`.

    Another user's looks missing.
    """
    ids = _ids_of(given)
    if not ids:
        return ()
    rows = Document.of(user_id).filter(id__in=ids).select_related("text", "image").defer("image__data")
    found = rows.in_bulk()
    if found.keys() != set(ids):
        raise Refused(MISSING)
    others = Document.of(user_id).filter(id__in=ids).exclude(session_id=session_id)
    update_documents(others, session_id=session_id)
    return [found[document_id] for document_id in ids]


def _ids_of(given: object) -> Sequence[int]:
    if given is None:
        return ()
    if not isinstance(given, list | tuple) or any(type(each) is not int for each in given):
        raise Refused(UNREADABLE)
    ids = list(dict.fromkeys(given))
    if not all(0 < each < 2**63 for each in ids):
        raise Refused(UNREADABLE)
    if len(ids) > MAX_ATTACHED:
        raise Refused(TOO_MANY, most=MAX_ATTACHED)
    return ids
