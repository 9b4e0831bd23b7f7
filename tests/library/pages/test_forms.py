"""The library's forms for clients, projects, knowledge and next steps: what each changes, and refusals."""

from datetime import date
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from coaching.library.clients import own_client
from coaching.library.pages import knowledge
from coaching.library.scopes import set_scope
from coaching.models import (
    ActionItem,
    AutoApproval,
    Client,
    ClientType,
    Document,
    DocumentState,
    KnowledgeEntry,
    LibraryEffect,
    Project,
    SessionScope,
)
from coaching.people.attempts import AttemptLimit
from sessions_app.models import Session

pytestmark = pytest.mark.django_db


def fill(client: Client, project: Project | None = None) -> None:
    """Store one row of each kind."""
    place: dict[str, Any] = {"user_id": client.user_id, "client": client, "project": project}
    Document.unscoped.create(
        **place, name="a.txt", size=1, storage_key=f"key of {client} {project}", state=DocumentState.REVIEW
    )
    KnowledgeEntry.unscoped.create(**place, title="The roof leaks", content="Since May.")
    ActionItem.unscoped.create(**place, title="Call the roofer")


def moved_to(response: Any, address: str) -> None:
    """Check the redirect after a form."""
    assert response.status_code in (HTTPStatus.FOUND, HTTPStatus.SEE_OTHER), response.content.decode()
    assert response["Location"] == address


def refused_with(response: Any, sentence: str) -> None:
    """Check that the page came back with a sentence."""
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert sentence in response.content.decode().replace("&#x27;", "'")


# --- clients and projects ---------------------------------------------------------------------------------


def test_a_client_is_added_and_a_second_of_that_name_is_not(signed_in: Browser, user: User) -> None:
    form = {"name": " Mill  Ltd ", "client_type": "company", "notes": "Since 2019."}
    response = signed_in.post("/library/", form)
    made = Client.of(user.pk).get(client_type=ClientType.COMPANY)
    assert (made.name, made.status, made.notes) == ("Mill Ltd", "active", "Since 2019.")
    moved_to(response, f"/library/clients/{made.pk}/")
    refused_with(
        signed_in.post("/library/", form | {"name": "MILL ltd"}), "There’s already a client with that name."
    )
    refused_with(signed_in.post("/library/", form | {"client_type": "self"}), "Select a valid choice")
    assert Client.of(user.pk).count() == 2, "and the client that is the person"
    signed_in.post("/library/", form | {"name": "Perhaps Ltd", "status": "prospect"})
    assert Client.of(user.pk).get(name="Perhaps Ltd").status == "prospect"
    refused_with(
        signed_in.post("/library/", form | {"name": "Old Ltd", "status": "archived"}), "Select a valid choice"
    )


def test_a_client_is_renamed(signed_in: Browser, mill: Client) -> None:
    address = f"/library/clients/{mill.pk}/"
    form = {"name": "Mill & Sons", "client_type": "household", "notes": "Moved."}
    moved_to(signed_in.post(address, form), address)
    mill.refresh_from_db()
    assert (mill.name, mill.client_type, mill.notes) == ("Mill & Sons", "household", "Moved.")
    refused_with(signed_in.post(address, form | {"name": ""}), "This field is required.")
    for status in ("prospect", "active"):
        moved_to(signed_in.post(address, form | {"status": status}), address)
        mill.refresh_from_db()
        assert mill.status == status
    own = own_client(mill.user_id)
    refused_with(
        signed_in.post(f"/library/clients/{own.pk}/", {"name": "mill & sons"}),
        "There’s already a client with that name.",
    )


def test_a_client_is_archived_and_restored_but_not_the_one_that_is_the_person(
    signed_in: Browser, mill: Client
) -> None:
    address = f"/library/clients/{mill.pk}/"
    for what, status in (("archive", "archived"), ("restore", "active")):
        moved_to(signed_in.post(address, {"do": what}), address)
        mill.refresh_from_db()
        assert (mill.status, mill.name, mill.client_type) == (status, "Mill Ltd", "company")
    own = own_client(mill.user_id)
    response = signed_in.post(f"/library/clients/{own.pk}/", {"do": "archive"})
    refused_with(response, "Your own part of the library can’t be archived.")
    own.refresh_from_db()
    assert own.status == "active"


def test_a_client_is_deleted_with_what_the_page_lists(
    signed_in: Browser, mill: Client, purchase: Project, session: Session
) -> None:
    fill(mill)
    fill(mill, purchase)
    own = own_client(mill.user_id)
    fill(own)
    set_scope(session, client_id=None, project_id=purchase.pk)
    address = f"/library/clients/{mill.pk}/delete/"
    page = signed_in.get(address).content.decode()
    for line in ("1 project", "2 documents", "2 knowledge entries", "2 next steps"):
        assert f"<li>{line}</li>" in page
    assert "1 conversation about this client will be kept." in page
    moved_to(signed_in.post(address), "/library/")
    for model in (Document, KnowledgeEntry, ActionItem):
        assert [row.client_id for row in model.of(mill.user_id)] == [own.pk]
    assert not Project.of(mill.user_id).exists()
    assert not SessionScope.of(mill.user_id).exists()
    assert Session.of(mill.user_id).get() == session
    response = signed_in.post(f"/library/clients/{own.pk}/delete/")
    refused_with(response, "Your own part of the library can’t be deleted, only its documents.")
    assert Client.of(mill.user_id).get() == own


def test_a_project_is_added_renamed_archived_and_restored(signed_in: Browser, mill: Client) -> None:
    of_client = f"/library/clients/{mill.pk}/"
    response = signed_in.post(of_client, {"do": "project", "name": "Purchase", "notes": "Of the yard."})
    made = Project.of(mill.user_id).get()
    address = f"/library/projects/{made.pk}/"
    moved_to(response, address)
    assert (made.client_id, made.name, made.notes) == (mill.pk, "Purchase", "Of the yard.")
    moved_to(signed_in.post(address, {"name": "Sale", "notes": ""}), address)
    for what, status in (("archive", "archived"), ("restore", "active")):
        moved_to(signed_in.post(address, {"do": what}), address)
        made.refresh_from_db()
        assert (made.name, made.notes, made.status) == ("Sale", "", status)
    refused_with(
        signed_in.post(of_client, {"do": "project", "name": "SALE"}),
        "Mill Ltd already has a project with that name.",
    )
    refused_with(signed_in.post(address, {"name": "x" * 121}), "at most 120 characters")
    assert Project.of(mill.user_id).count() == 1


def test_a_project_is_deleted_with_what_the_page_lists(
    signed_in: Browser, mill: Client, purchase: Project
) -> None:
    fill(mill)
    fill(mill, purchase)
    address = f"/library/projects/{purchase.pk}/delete/"
    page = signed_in.get(address).content.decode()
    for line in ("1 document", "1 knowledge entry", "1 next step"):
        assert f"<li>{line}</li>" in page
    moved_to(signed_in.post(address), f"/library/clients/{mill.pk}/")
    assert not Project.of(mill.user_id).exists()
    for model in (Document, KnowledgeEntry, ActionItem):
        assert [row.project_id for row in model.of(mill.user_id)] == [None]


# --- knowledge --------------------------------------------------------------------------------------------


def test_a_note_is_added_changed_and_deleted(
    signed_in: Browser, mill: Client, other_user: User, user: User
) -> None:
    form = {"client": mill.pk, "title": "The roof", "content": " It leaks. "}
    moved_to(signed_in.post("/library/knowledge/", form), "/library/knowledge/")
    made = KnowledgeEntry.of(user.pk).get()
    assert (made.client_id, made.title, made.content, made.state) == (
        mill.pk, "The roof", "It leaks.", "accepted",
    )  # fmt: skip
    address = f"/library/knowledge/{made.pk}/"
    moved_to(signed_in.post(address, {"title": "The new roof", "content": "It is tight."}), address)
    made.refresh_from_db()
    assert (made.title, made.content, made.client_id) == ("The new roof", "It is tight.", mill.pk)
    kinds = LibraryEffect.of(user.pk).filter(entry=made).values_list("kind", "made_by")
    assert set(kinds) == {("knowledge_created", "user"), ("knowledge_changed", "user")}
    refused_with(signed_in.post(address, {"title": "", "content": "x"}), "This field is required.")
    refused_with(
        signed_in.post("/library/knowledge/", form | {"content": "x" * 20_001}), "at most 20000 characters"
    )
    theirs = own_client(other_user.pk)
    foreign = signed_in.post("/library/knowledge/", form | {"client": theirs.pk})
    assert foreign.status_code == HTTPStatus.NOT_FOUND
    moved_to(signed_in.post(address, {"do": "delete"}), "/library/knowledge/")
    assert not KnowledgeEntry.unscoped.exists()


def test_proposed_knowledge_is_accepted_or_dismissed_once(signed_in: Browser, mill: Client) -> None:
    for what, state in (("accept", "accepted"), ("dismiss", "dismissed")):
        proposed = KnowledgeEntry.unscoped.create(
            user_id=mill.user_id, client=mill, title=what, content="x", state="proposed"
        )
        address = f"/library/knowledge/{proposed.pk}/"
        moved_to(signed_in.post(address, {"do": what}), "/library/knowledge/")
        proposed.refresh_from_db()
        assert proposed.state == state
    for given in ({"do": "accept"}, {"do": "save", "title": "Rent", "content": "x"}):
        refused_with(signed_in.post(address, given), "This was dismissed. Restore it first.")
    proposed.refresh_from_db()
    assert proposed.state == "dismissed"


def test_what_is_accepted_by_itself_is_what_is_ticked(signed_in: Browser, user: User) -> None:
    for ticked in ({"note", "action_item"}, {"note"}, set[str]()):
        form = {"do": "auto_approval", "kind": [*ticked, "nonsense"]}
        moved_to(signed_in.post("/library/knowledge/", form), "/library/knowledge/")
        assert set(AutoApproval.of(user.pk).values_list("kind", flat=True)) == ticked


# --- next steps -----------------------------------------------------------------------------------------


def test_a_next_step_is_added_changed_and_deleted(signed_in: Browser, mill: Client) -> None:
    form = {"client": mill.pk, "title": "Call the roofer", "priority": "high", "due_date": "2026-12-01"}
    moved_to(signed_in.post("/library/actions/", form), "/library/actions/")
    made = ActionItem.of(mill.user_id).get()
    assert (made.client_id, made.title, made.priority) == (mill.pk, "Call the roofer", "high")
    assert (made.due_date, made.state) == (date(2026, 12, 1), "open")
    address = f"/library/actions/{made.pk}/"
    changed = {"title": "Write to the roofer", "priority": "low", "due_date": "", "owner": "Ada"}
    moved_to(signed_in.post(address, changed), address)
    made.refresh_from_db()
    assert (made.title, made.priority, made.due_date, made.owner) == (changed["title"], "low", None, "Ada")
    refused_with(signed_in.post(address, changed | {"due_date": "soon"}), "Enter a valid date.")
    refused_with(signed_in.post("/library/actions/", form | {"title": ""}), "This field is required.")
    foreign = signed_in.post("/library/actions/", form | {"client": 999_999})
    assert foreign.status_code == HTTPStatus.NOT_FOUND
    moved_to(signed_in.post(address, {"do": "delete"}), "/library/actions/")
    assert not ActionItem.unscoped.exists()


def test_a_next_step_is_done_and_open_again_and_stays_dismissed(signed_in: Browser, mill: Client) -> None:
    item = ActionItem.unscoped.create(user_id=mill.user_id, client=mill, title="Call", state="proposed")
    address = f"/library/actions/{item.pk}/"
    steps = [
        ({"do": "accept"}, "open"), ({"done": "1"}, "done"), ({"done": "0"}, "open"),
    ]  # fmt: skip
    for form, state in steps:
        moved_to(signed_in.post(address, form), "/library/actions/")
        item.refresh_from_db()
        assert (item.state, item.done_at is not None) == (state, state == "done")
    ActionItem.unscoped.update(state="proposed")
    moved_to(signed_in.post(address, {"do": "dismiss"}), "/library/actions/")
    refused_with(signed_in.post(address, {"do": "accept"}), "This step was dismissed.")
    signed_in.post(address, {"done": "1"})
    item.refresh_from_db()
    assert item.state == "dismissed"


@pytest.mark.django_db(transaction=True)  # texts are rendered outside transactions
def test_the_knowledge_list_shows_words_and_no_marks_and_searches_are_limited(
    signed_in: Browser, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (
        "## Terms\n\n- **Rent**: 900 & <b>more</b>\n- [The lease](https://a.example/?b=1)\n\n" + "x " * 900
    )
    for state in ("accepted", "proposed"):
        KnowledgeEntry.of(user.pk).create(
            client=own_client(user.pk), title=f"Rent, {state}", content=content, state=state
        )
    html = signed_in.get("/library/knowledge/").content.decode()
    assert html.count("Terms Rent: 900 &amp; &lt;b&gt;more&lt;/b&gt; The lease x x") == 2
    assert "**Rent" not in html
    monkeypatch.setattr(knowledge, "searches", AttemptLimit(attempts=1, seconds=60))
    assert "Rent, accepted" in signed_in.get("/library/knowledge/?q=rent").content.decode()
    refused = signed_in.get("/library/knowledge/?q=rent")
    assert (refused.status_code, int(refused["Retry-After"]) > 0) == (HTTPStatus.TOO_MANY_REQUESTS, True)
    assert "too often" in refused.content.decode()
    assert signed_in.get("/library/knowledge/").status_code == HTTPStatus.OK
