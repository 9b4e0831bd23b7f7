"""A conversation's log has each change of the state of a document that came in it, whoever changed it."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import own_client
from coaching.library.documents.filing import read_again
from coaching.library.documents.intake import destination_of, refuse
from coaching.library.documents.reviews import accept_review
from coaching.library.effects import undo
from coaching.library.pipeline.batch import Batch, Ending, Item
from coaching.library.pipeline.claims import claim_chosen, put_back
from coaching.library.pipeline.settling import settle
from coaching.models import Document, DocumentSource, DocumentState
from sessions_app.models import Session, SessionEvent
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db


def store(user: User, session: Session | None, **values: Any) -> Document:
    return Document.of(user.pk).create(
        name="a.pdf", size=1, storage_key=uuid4().hex, client=own_client(user.pk), session=session, **values
    )


def moved(session: Session) -> Sequence[Mapping[str, Any]]:
    events = SessionEvent.within(session).order_by("seq")
    return [event.payload for event in events if event.kind == "file_moved"]


def test_each_step_of_its_reading_is_in_the_log(user: User) -> None:
    session = open_conversation(user)
    document = store(user, session)
    told = {"document_id": document.pk}
    claim = claim_chosen(user_id=user.pk, reader="document:1", document_ids=[document.pk])
    assert claim is not None
    assert moved(session) == [told]
    put_back(claim, reason="Later.")
    assert moved(session) == [told] * 2
    claim = claim_chosen(user_id=user.pk, reader="document:1", document_ids=[document.pk])
    assert claim is not None
    review = Ending(state=DocumentState.REVIEW, reason="Two types are close.")
    settle(Batch(claim=claim, items=[Item(document=document, ending=review)]))
    assert moved(session) == [told] * 4
    read_again(user_id=user.pk, document_id=document.pk)
    assert moved(session) == [told] * 5


def test_a_decision_and_its_undoing_are_in_the_log(user: User) -> None:
    session = open_conversation(user)
    document = store(user, session, state=DocumentState.REVIEW, file_type="lease", folder="Leases")
    effect = accept_review(user_id=user.pk, document_id=document.pk)
    assert effect is not None
    undo(user_id=user.pk, effect_id=effect.pk)
    assert moved(session) == [{"document_id": document.pk}] * 2


def test_a_document_that_comes_is_in_the_log(user: User) -> None:
    session = open_conversation(user)
    place = destination_of(user_id=user.pk, source=DocumentSource.CHAT, session_id=session.id)
    document = refuse(user_id=user.pk, name="a.pdf", size=1, destination=place, reason="Too large.")
    assert moved(session) == [{"document_id": document.pk}]


def test_a_document_of_no_conversation_and_one_that_stays_as_it_is_are_in_no_log(user: User) -> None:
    session = open_conversation(user)
    document = store(user, session, state=DocumentState.FILED, folder="Leases")
    other = store(user, None)
    assert claim_chosen(user_id=user.pk, reader="lane:1", document_ids=[document.pk, other.pk])
    assert not SessionEvent.unscoped.exists()
