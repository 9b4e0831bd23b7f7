"""Two tabs with the same client or project: each save changes what its author changed, and nothing else."""

from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from coaching.library.clients import create_client, create_project, own_client
from coaching.models import Client, ClientType, Project
from tests.browsers import page_of
from tests.form_fields import form_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def mill(user: User) -> Client:
    return create_client(user_id=user.pk, name="Mill Ltd", client_type=ClientType.COMPANY, notes="Grain.")


@pytest.fixture(params=["client", "project"])
def row(request: pytest.FixtureRequest, mill: Client) -> Client | Project:
    """A client, and a project."""
    if request.param == "client":
        return mill
    return create_project(user_id=mill.user_id, client_id=mill.pk, name="Purchase", notes="Of the yard.")


def address_of(row: Client | Project) -> str:
    return f"/library/{'clients' if isinstance(row, Client) else 'projects'}/{row.pk}/"


def test_two_forms_that_change_different_fields_of_a_client_or_project_keep_both(
    signed_in: Browser, row: Client | Project
) -> None:
    shown = form_with(page_of(signed_in, address_of(row)), "initial-name")
    signed_in.post(address_of(row), shown | {"notes": "Rye."})
    signed_in.post(address_of(row), {"do": "archive"})
    answer = signed_in.post(address_of(row), shown | {"name": "Mill & Sons"})
    assert answer.status_code == HTTPStatus.SEE_OTHER
    row.refresh_from_db()
    assert (row.name, row.notes, row.status) == ("Mill & Sons", "Rye.", "archived")


def test_where_both_changed_the_same_field_of_a_client_or_project_both_are_shown(
    signed_in: Browser, row: Client | Project
) -> None:
    shown = form_with(page_of(signed_in, address_of(row)), "initial-name")
    signed_in.post(address_of(row), shown | {"notes": "Theirs.", "name": "Theirs & Sons"})
    stale = signed_in.post(address_of(row), shown | {"notes": "Mine."})
    page = stale.content.decode()
    assert stale.status_code == HTTPStatus.CONFLICT
    assert ("Nothing is saved yet" in page, 'dir="auto">Theirs.<' in page) == (True, True)
    row.refresh_from_db()
    assert row.notes == "Theirs."
    again = form_with(page, "initial-name")
    assert (again["name"], again["notes"]) == (["Theirs & Sons"], ["Mine."])
    assert signed_in.post(address_of(row), again).status_code == HTTPStatus.SEE_OTHER
    row.refresh_from_db()
    assert (row.name, row.notes) == ("Theirs & Sons", "Mine.")


def test_a_form_of_a_client_or_project_that_arrives_twice_is_no_conflict(
    signed_in: Browser, row: Client | Project
) -> None:
    shown = form_with(page_of(signed_in, address_of(row)), "initial-name")
    for _again in range(2):
        answer = signed_in.post(address_of(row), shown | {"name": "Mill  & Sons", "notes": " One\r\ntwo "})
        assert answer.status_code == HTTPStatus.SEE_OTHER
    row.refresh_from_db()
    assert (row.name, row.notes.splitlines()) == ("Mill & Sons", ["One", "two"])


def test_the_own_client_is_only_renamed_by_another_name(signed_in: Browser, user: User) -> None:
    own = own_client(user.pk)
    german = {"Accept-Language": "de"}
    shown = form_with(signed_in.get(address_of(own), headers=german).content.decode(), "initial-name")
    assert shown["name"] == ["Ich"]
    signed_in.post(address_of(own), shown | {"notes": "Mine."}, headers=german)
    own.refresh_from_db()
    assert (own.name, own.notes) == ("Me", "Mine.")
    answer = signed_in.post(address_of(own), shown | {"notes": "Mine.", "name": "Ada"}, headers=german)
    assert answer.status_code == HTTPStatus.SEE_OTHER
    own.refresh_from_db()
    assert own.name == "Ada"


@pytest.mark.parametrize("is_archived_first", [True, False])
def test_a_client_archived_in_one_tab_and_made_a_prospect_in_another_is_a_prospect_once_restored(
    signed_in: Browser, mill: Client, is_archived_first: bool
) -> None:
    address = address_of(mill)
    saves = [form_with(page_of(signed_in, address), "initial-name") | {"status": "prospect"}]
    saves.insert(0 if is_archived_first else 1, {"do": "archive"})
    for sent in saves:
        assert signed_in.post(address, sent).status_code == HTTPStatus.SEE_OTHER
    mill.refresh_from_db()
    assert mill.status == "archived"
    assert form_with(page_of(signed_in, address), "initial-name")["status"] == ["prospect"]
    for do in ("archive", "restore", "restore"):  # each twice, by two tabs
        signed_in.post(address, {"do": do})
    mill.refresh_from_db()
    assert mill.status == "prospect"


def test_an_archived_client_gets_the_status_that_its_form_says_when_it_is_restored(
    signed_in: Browser, mill: Client
) -> None:
    address = address_of(mill)
    signed_in.post(address, {"do": "archive"})
    page = page_of(signed_in, address)
    assert "Status after restoring" in page
    signed_in.post(address, form_with(page, "initial-name") | {"status": "prospect"})
    signed_in.post(address, {"do": "restore"})
    mill.refresh_from_db()
    assert mill.status == "prospect"


def test_a_conflict_about_the_name_of_an_archived_client_keeps_the_chosen_status(
    signed_in: Browser, mill: Client
) -> None:
    address = address_of(mill)
    shown = form_with(page_of(signed_in, address), "initial-name")
    signed_in.post(address, shown | {"name": "Theirs"})
    signed_in.post(address, {"do": "archive"})
    stale = signed_in.post(address, shown | {"name": "Mine", "status": "prospect"})
    again = form_with(stale.content.decode(), "initial-name")
    assert (stale.status_code, again["name"], again["status"]) == (
        HTTPStatus.CONFLICT,
        ["Mine"],
        ["prospect"],
    )
