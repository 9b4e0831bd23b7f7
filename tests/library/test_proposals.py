"""Knowledge entries and next steps: proposals, auto-approval, one row a yes, reconciling, owners."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library import places
from coaching.library.auto_approval import auto_approvals, set_auto_approval
from coaching.library.decisions import accept, accept_shown, dismiss, edit
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.effects import undo
from coaching.library.proposals import propose
from coaching.library.rows.clients import counts_of, list_clients
from coaching.library.rows.documents import possible_duplicates
from coaching.library.rows.proposals import entries_of, next_steps_of
from coaching.models import (
    ActionItem,
    ActionState,
    Client,
    Document,
    EntryState,
    EntryType,
    KnowledgeEntry,
    LibraryEffect,
    MadeBy,
    Project,
)
from sessions_app.errors import Refused
from tests.library.rows import make_client, make_document, make_project

pytestmark = pytest.mark.django_db


def propose_action(user: User, document: Document, title: str = "Call", **values: Any) -> ActionItem:
    new = NewAction(
        client_id=document.client_id, title=title, document_id=document.id, origin_key="1", **values
    )
    return propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)


def propose_entry(user: User, document: Document, content: str) -> KnowledgeEntry:
    new = NewEntry(
        client_id=document.client_id,
        title="Summary",
        content=content,
        entry_type=EntryType.DOCUMENT_SUMMARY,
        document_id=document.id,
        origin_key="summary",
    )
    return propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)


def test_reading_again_changes_a_proposal_and_leaves_what_the_user_decided(user: User) -> None:
    document = make_document(make_client(user))
    first = propose_action(user, document)
    again = propose_action(user, document, "Call the bank")
    assert (again.id, again.title, again.state) == (first.id, "Call the bank", ActionState.PROPOSED)
    accept(user_id=user.pk, model=ActionItem, row_id=first.id)
    assert propose_action(user, document, "Other").title == "Call the bank"
    accepted = LibraryEffect.of(user.pk).filter(action_item=first).first()
    assert accepted is not None
    undo(user_id=user.pk, effect_id=accepted.pk)
    dismiss(user_id=user.pk, model=ActionItem, row_id=first.id)
    assert propose_action(user, document, "Other").state == ActionState.DISMISSED
    with pytest.raises(Refused, match="dismissed"):
        accept(user_id=user.pk, model=ActionItem, row_id=first.id)
    entry = propose_entry(user, document, "One")
    assert propose_entry(user, document, "Two").content == "Two"
    accept(user_id=user.pk, model=KnowledgeEntry, row_id=entry.id)
    assert propose_entry(user, document, "Three").content == "Two"
    assert (ActionItem.of(user.pk).count(), KnowledgeEntry.of(user.pk).count()) == (1, 1)


def test_auto_approval_accepts_its_own_kind_alone(user: User) -> None:
    document = make_document(make_client(user))
    set_auto_approval(user_id=user.pk, kind="document_summary", is_given=True)
    set_auto_approval(user_id=user.pk, kind="document_summary", is_given=True)
    assert propose_entry(user, document, "One").state == EntryState.ACCEPTED
    assert propose_action(user, document).state == ActionState.PROPOSED
    set_auto_approval(user_id=user.pk, kind="document_summary", is_given=False)
    assert auto_approvals(user.pk) == frozenset()
    with pytest.raises(Refused):
        set_auto_approval(user_id=user.pk, kind="everything", is_given=True)


def test_the_proposals_that_were_shown_are_accepted_together(user: User) -> None:
    document, other = make_document(make_client(user)), make_document(make_client(user), "other.pdf")
    entry, item = propose_entry(user, document, "One"), propose_action(user, document)
    elsewhere = propose_action(user, other)
    seen_at = max(entry.updated_at, item.updated_at)
    shown: dict[str, Any] = {
        "user_id": user.pk, "document_id": document.id, "entry_ids": [entry.id],
        "action_ids": [item.id, elsewhere.id], "seen_at": seen_at,
    }  # fmt: skip
    later = NewAction(client_id=document.client_id, title="Later", document_id=document.id)
    came_after = propose(user_id=user.pk, new=later, made_by=MadeBy.PIPELINE)
    propose_entry(user, document, "Two")  # changes what was shown
    assert accept_shown(**shown) == 1
    assert accept_shown(**shown) == 0, "they were accepted before"
    rows: list[tuple[KnowledgeEntry | ActionItem, str]] = [
        (item, "open"),
        (elsewhere, "proposed"),
        (came_after, "proposed"),
        (entry, "proposed"),
    ]
    for row, state in rows:
        row.refresh_from_db()
        assert row.state == state
    shown["seen_at"] = entry.updated_at
    assert accept_shown(**shown) == 1
    with pytest.raises(Document.DoesNotExist):
        accept_shown(**shown | {"document_id": 10**9})


def yes_to(user: User, new: NewEntry | NewAction) -> KnowledgeEntry | ActionItem:
    """Write as a card does after the user's yes."""
    how: dict[str, Any] = {
        "user_id": user.pk,
        "made_by": MadeBy.CHAT,
        "is_accepted": True,
        "tool_use_id": "t",
    }
    return propose(new=new, **how)


def drafts(document: Document, **values: Any) -> tuple[NewEntry, NewAction]:
    """Return an entry and a next step as the pipeline's tools propose them, without an `origin_key`."""
    place = {"client_id": document.client_id, "document_id": document.id, **values}
    return NewEntry(title="The rent", content="It is 1,200.", **place), NewAction(title="The rent", **place)


def test_a_yes_to_what_waits_leaves_one_row_that_remembers_its_source(user: User) -> None:
    document = make_document(make_client(user, "Anna"))
    for new in drafts(document, quote="The rent is EUR 1,200.", page=3):
        waiting = propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
        asked = replace(new, title="the  RENT", document_id=None, quote="", page=None)
        accepted = yes_to(user, asked)
        assert (accepted.pk, type(accepted).of(user.pk).count()) == (waiting.pk, 1)
        waiting.refresh_from_db()
        assert waiting.state in (EntryState.ACCEPTED, ActionState.OPEN)
        assert (waiting.title, waiting.document_id) == ("the RENT", document.id)
        assert (waiting.quote, waiting.page) == ("The rent is EUR 1,200.", 3)
        effect = LibraryEffect.of(user.pk).get(tool_use_id="t", undone_at=None)
        undo(user_id=user.pk, effect_id=effect.id)
        waiting.refresh_from_db()
        assert (waiting.state, waiting.title) == ("proposed", "The rent")


def test_a_yes_is_about_nothing_that_comes_from_elsewhere(user: User, other_user: User) -> None:
    anna, ben = make_client(user, "Anna"), make_client(user, "Ben")
    lease, offer = make_document(anna, "lease.pdf"), make_document(anna, "offer.pdf")
    secret = make_document(anna, "secret.pdf", is_withheld=True)
    for document in (lease, make_document(ben), make_document(make_client(other_user, "Anna")), secret):
        for new in drafts(document):
            propose(user_id=document.user_id, new=new, made_by=MadeBy.PIPELINE)
    for new in drafts(offer):
        row = yes_to(user, new)
        rows = type(row).of(user.pk)
        assert (rows.count(), rows.filter(state="proposed").count()) == (4, 3)
        about = yes_to(user, replace(new, document_id=None))
        assert (about.document_id, rows.count()) == (lease.id, 4)


def test_what_one_writes_oneself_replaces_no_suggestion_that_says_something_else(user: User) -> None:
    entry, item = drafts(make_document(make_client(user, "Anna")))
    for new in (entry, replace(item, description="Ask for a month.")):
        waiting = propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
        own = replace(new, document_id=None)
        other = own.edited({"content" if isinstance(own, NewEntry) else "description": "My words."})
        how: dict[str, Any] = {"user_id": user.pk, "made_by": MadeBy.USER, "is_accepted": True}
        assert propose(new=other, **how).pk != waiting.pk
        assert propose(new=own, **how).pk == waiting.pk


def test_reading_again_changes_a_proposal_where_there_is_no_more_room(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "MAX_ROWS", 1)
    document = make_document(make_client(user))
    assert propose_action(user, document).pk == propose_action(user, document, "Call the bank").pk


def test_another_date_does_not_come_from_the_words_of_the_text(user: User) -> None:
    document = make_document(make_client(user))
    item = propose_action(user, document, due_date=date(2027, 3, 31), due_words="the end of March")
    changes: dict[str, Any] = {"user_id": user.pk, "model": ActionItem, "row_id": item.pk}
    for changed, words in (({"title": "Phone"}, item.due_words), ({"due_date": date(2027, 4, 1)}, "")):
        edit(**changes, changes=changed)
        item.refresh_from_db()
        assert item.due_words == words


def test_there_is_a_most(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MAX_ROWS", 1)
    client = make_client(user)
    for _ in range(2):
        entry = NewEntry(client_id=client.id, title="Note", content="Words")
        action = NewAction(client_id=client.id, title="Call")
        if KnowledgeEntry.of(user.pk).exists():
            with pytest.raises(Refused, match="knowledge entries"):
                propose(user_id=user.pk, new=entry, made_by=MadeBy.USER)
            with pytest.raises(Refused, match="next steps"):
                propose(user_id=user.pk, new=action, made_by=MadeBy.USER)
        else:
            propose(user_id=user.pk, new=entry, made_by=MadeBy.USER)
            propose(user_id=user.pk, new=action, made_by=MadeBy.USER)


@pytest.mark.parametrize(
    ("title", "content"), [(" ", "x"), ("x" * 201, "x"), ("x", " "), ("x", "x" * 20_001)]
)
def test_bad_words_are_refused(user: User, title: str, content: str) -> None:
    client = make_client(user)
    with pytest.raises(Refused):
        propose(
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
            propose(user_id=user.pk, new=NewAction(title="Call", **values), made_by=MadeBy.CHAT)
        with pytest.raises(missing.DoesNotExist):
            propose(user_id=user.pk, new=entry_there, made_by=MadeBy.CHAT)
    item = propose_action(other_user, document)
    entry = propose_entry(other_user, document, "One")
    with pytest.raises(ActionItem.DoesNotExist):
        accept(user_id=user.pk, model=ActionItem, row_id=item.id)
    with pytest.raises(ActionItem.DoesNotExist):
        edit(user_id=user.pk, model=ActionItem, row_id=item.id, changes={"title": "Mine"})
    with pytest.raises(KnowledgeEntry.DoesNotExist):
        dismiss(user_id=user.pk, model=KnowledgeEntry, row_id=entry.id)
    with pytest.raises(KnowledgeEntry.DoesNotExist):
        edit(user_id=user.pk, model=KnowledgeEntry, row_id=entry.id, changes={"title": "Mine"})


def test_a_document_of_another_client_gives_no_proposal(user: User) -> None:
    document = make_document(make_client(user, "Anna"))
    new = NewAction(client_id=make_client(user, "Ben").id, title="Call", document_id=document.id)
    with pytest.raises(Refused, match="another client"):
        propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)


def test_lists_and_counts(user: User, other_user: User) -> None:
    anna = make_client(user, "Anna Berg", notes="Sells a house in Leeds")
    make_client(other_user, "Anna Other")
    own = make_client(user)
    document = make_document(anna, "Lease 2024.pdf")
    make_document(anna, "Lease 2024 (1).pdf")
    make_document(own, "Lease 2024.pdf")
    propose_action(user, document)
    propose_entry(user, document, "One")
    assert list(list_clients(user.pk)) == [own, anna]
    assert list(list_clients(user.pk, query="leeds anna")) == [anna]
    counts = counts_of(user_id=user.pk, client_id=anna.id)
    assert (counts.documents, counts.proposals, counts.knowledge) == (2, 2, 0)
    assert next_steps_of(user_id=user.pk, client_id=own.id).count() == 0
    assert entries_of(user_id=user.pk, client_id=anna.id).count() == 1
    found = possible_duplicates(user_id=user.pk, file_name="Lease 2024 (2).pdf", client_id=anna.id)
    assert {one.name for one in found} == {"Lease 2024.pdf", "Lease 2024 (1).pdf"}
    assert possible_duplicates(user_id=other_user.pk, file_name="Lease 2024.pdf") == []
