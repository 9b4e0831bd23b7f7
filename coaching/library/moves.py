"""Changes of documents' states, which open conversations are told of."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from coaching.models import Document
from sessions_app.models import Session
from sessions_app.session_events import DocumentStateChanged, append


@contextmanager
def moving(documents: QuerySet[Document]) -> Iterator[None]:
    """Run the block in a transaction; documents whose state it changes are noted in their sessions' logs.

    The sessions are locked first, as everywhere, before any document is.
    """
    with transaction.atomic():
        said = documents.exclude(session=None).order_by("id")
        rows = list(said.values_list("id", "session"))
        if not rows:
            yield
            return
        theirs = Session.unscoped.filter(id__in={session_id for _, session_id in rows}).defer("opening")
        sessions = {session.id: session for session in theirs.order_by("id").select_for_update(no_key=True)}
        own = Document.unscoped.filter(id__in=[document_id for document_id, _ in rows])
        before = _states(own)
        yield
        now = _states(own)
        for session_id, session in sessions.items():
            of_session = [document_id for document_id, its in rows if its == session_id]
            moved = [each for each in of_session if each in now and now[each] != before.get(each)]
            if moved:
                append(session, *[DocumentStateChanged(document_id=each) for each in moved])


@contextmanager
def adding(session_id: UUID | None) -> Iterator[list[Document]]:
    """Run the block in a transaction; the documents that it puts into the list are new in this session."""
    with transaction.atomic():
        added: list[Document] = []
        session = None
        if session_id is not None:
            session = Session.unscoped.select_for_update(no_key=True).defer("opening").get(id=session_id)
        yield added
        if session is not None:
            append(session, *[DocumentStateChanged(document_id=document.pk) for document in added])


def _states(documents: QuerySet[Document]) -> Mapping[int, str]:
    return dict(documents.order_by().values_list("id", "state"))
