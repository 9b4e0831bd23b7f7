"""Knowledge entries and action items: proposals, standing yeses, reconciling, limits, owners."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library import places
from coaching.library.actions import (
    NewAction,
    accept_action,
    accept_actions_of_document,
    create_action,
    dismiss_action,
    edit_action,
)
from coaching.library.auto_approval import set_standing_yes, standing_yeses
from coaching.library.entries import NewEntry, accept_entry, create_entry, dismiss_entry, edit_entry
from coaching.library.rows.clients import clients_of, counts_of
from coaching.library.rows.documents import possible_duplicates
from coaching.library.rows.proposals import actions_of, entries_of
from coaching.models import (
    ActionItem,
    ActionPriority,
    ActionState,
    Client,
    Document,
    EntryState,
    EntryType,
    KnowledgeEntry,
    MadeBy,
    Project,
)
from sessions_app.errors import Refused
from tests.library.rows import make_client, make_document, make_project

pytestmark = pytest.mark.django_db


def propose(user: User, document: Document, title: str = "Call", **values: Any) -> ActionItem:
    new = NewAction(
        client_id=document.client_id, title=title, document_id=document.id, origin_key="1", **values
    )
    return create_action(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE, is_proposed=True)


def propose_entry(user: User, document: Document, content: str) -> KnowledgeEntry:
    new = NewEntry(
        client_id=document.client_id,
        title="Summary",
        content=content,
        entry_type=EntryType.DOCUMENT_SUMMARY,
        document_id=document.id,
        origin_key="summary",
    )
    return create_entry(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE, is_proposed=True)


def test_reading_again_changes_a_proposal_and_leaves_what_the_user_decided(user: User) -> None:
    document = make_document(make_client(user))
    first = propose(user, document)
    again = propose(user, document, "Call the bank")
    assert (again.id, again.title, again.state) == (first.id, "Call the bank", ActionState.PROPOSED)
    accept_action(user_id=user.pk, action_id=first.id)
    assert propose(user, document, "Other").title == "Call the bank"
    dismiss_action(user_id=user.pk, action_id=first.id)
    assert propose(user, document, "Other").state == ActionState.DISMISSED
    with pytest.raises(Refused, match="dismissed"):
        accept_action(user_id=user.pk, action_id=first.id)
    entry = propose_entry(user, document, "One")
    assert propose_entry(user, document, "Two").content == "Two"
    accept_entry(user_id=user.pk, entry_id=entry.id)
    assert propose_entry(user, document, "Three").content == "Two"
    assert (ActionItem.of(user.pk).count(), KnowledgeEntry.of(user.pk).count()) == (1, 1)


def test_a_standing_yes_accepts_its_own_kind_alone(user: User) -> None:
    document = make_document(make_client(user))
    set_standing_yes(user_id=user.pk, kind="document_summary", is_given=True)
    set_standing_yes(user_id=user.pk, kind="document_summary", is_given=True)
    assert propose_entry(user, document, "One").state == EntryState.ACCEPTED
    assert propose(user, document).state == ActionState.PROPOSED
    set_standing_yes(user_id=user.pk, kind="document_summary", is_given=False)
    assert standing_yeses(user.pk) == frozenset()
    with pytest.raises(Refused):
        set_standing_yes(user_id=user.pk, kind="everything", is_given=True)


def test_the_proposals_of_a_document_are_accepted_together(user: User) -> None:
    document, other = make_document(make_client(user)), make_document(make_client(user), "other.pdf")
    item, elsewhere = propose(user, document), propose(user, other)
    assert accept_actions_of_document(user_id=user.pk, document_id=document.id) == 1
    item.refresh_from_db()
    elsewhere.refresh_from_db()
    assert (item.state, elsewhere.state) == (ActionState.OPEN, ActionState.PROPOSED)


def test_there_is_a_most(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MAX_ROWS", 1)
    client = make_client(user)
    for _ in range(2):
        entry = NewEntry(client_id=client.id, title="Note", content="Words")
        action = NewAction(client_id=client.id, title="Call")
        if KnowledgeEntry.of(user.pk).exists():
            with pytest.raises(Refused, match="knowledge entries"):
                create_entry(user_id=user.pk, new=entry, made_by=MadeBy.USER)
            with pytest.raises(Refused, match="action items"):
                create_action(user_id=user.pk, new=action, made_by=MadeBy.USER)
        else:
            create_entry(user_id=user.pk, new=entry, made_by=MadeBy.USER)
            create_action(user_id=user.pk, new=action, made_by=MadeBy.USER)


@pytest.mark.parametrize(
    ("title", "content"), [(" ", "x"), ("x" * 201, "x"), ("x", " "), ("x", "x" * 20_001)]
)
def test_bad_words_are_refused(user: User, title: str, content: str) -> None:
    client = make_client(user)
    with pytest.raises(Refused):
        create_entry(
            user_id=user.pk,
            new=NewEntry(client_id=client.id, title=title, content=content),
            made_by=MadeBy.USER,
        )
    assert not KnowledgeEntry.of(user.pk).exists()


def test_anothers_client_project_document_or_row_looks_missing(user: User, other_user: User) -> None:
    client, theirs = make_client(user), make_client(other_user, "Anna")
    project, document = make_project(theirs), make_document(theirs)
    places_of_another: list[tuple[Any, dict[str, Any]]] = [
        (Client, {"client_id": theirs.id}),
        (Project, {"client_id": client.id, "project_id": project.id}),
        (Document, {"client_id": client.id, "document_id": document.id}),
    ]
    for missing, values in places_of_another:
        entry_there = NewEntry(title="Note", content="Words", **values)
        with pytest.raises(missing.DoesNotExist):
            create_action(user_id=user.pk, new=NewAction(title="Call", **values), made_by=MadeBy.CHAT)
        with pytest.raises(missing.DoesNotExist):
            create_entry(user_id=user.pk, new=entry_there, made_by=MadeBy.CHAT)
    item = propose(other_user, document)
    entry = propose_entry(other_user, document, "One")
    with pytest.raises(ActionItem.DoesNotExist):
        accept_action(user_id=user.pk, action_id=item.id)
    with pytest.raises(ActionItem.DoesNotExist):
        edit_action(
            user_id=user.pk,
            action_id=item.id,
            title="Mine",
            description="",
            due_date=None,
            priority=ActionPriority.LOW,
        )
    with pytest.raises(KnowledgeEntry.DoesNotExist):
        dismiss_entry(user_id=user.pk, entry_id=entry.id)
    with pytest.raises(KnowledgeEntry.DoesNotExist):
        edit_entry(user_id=user.pk, entry_id=entry.id, title="Mine", content="x", entry_type=EntryType.NOTE)


def test_a_document_of_another_client_gives_no_proposal(user: User) -> None:
    document = make_document(make_client(user, "Anna"))
    new = NewAction(client_id=make_client(user, "Ben").id, title="Call", document_id=document.id)
    with pytest.raises(Refused, match="another client"):
        create_action(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE, is_proposed=True)


def test_lists_and_counts(user: User, other_user: User) -> None:
    anna = make_client(user, "Anna Berg", notes="Sells a house in Leeds")
    make_client(other_user, "Anna Other")
    own = make_client(user)
    document = make_document(anna, "Lease 2024.pdf")
    make_document(anna, "Lease 2024 (1).pdf")
    make_document(own, "Lease 2024.pdf")
    propose(user, document)
    propose_entry(user, document, "One")
    assert list(clients_of(user_id=user.pk)) == [own, anna]
    assert list(clients_of(user_id=user.pk, query="leeds anna")) == [anna]
    counts = counts_of(user_id=user.pk, client_id=anna.id)
    assert (counts.documents, counts.proposals, counts.knowledge) == (2, 2, 0)
    assert actions_of(user_id=user.pk, client_id=own.id).count() == 0
    assert entries_of(user_id=user.pk, client_id=anna.id).count() == 1
    found = possible_duplicates(user_id=user.pk, file_name="Lease 2024 (2).pdf", client_id=anna.id)
    assert {one.name for one in found} == {"Lease 2024.pdf", "Lease 2024 (1).pdf"}
    assert possible_duplicates(user_id=other_user.pk, file_name="Lease 2024.pdf") == []
