"""Folders for conversations: made, renamed, deleted, and what moves into them."""

import json
from functools import partial
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.test import Client

from sessions_app.errors import Refused
from sessions_app.models import Session, SessionFolder
from sessions_app.organising import delete_session, restore_session
from sessions_app.session_folders import (
    MAX_CHARACTERS,
    MAX_FOLDERS,
    delete_folder,
    list_folders,
    make_folder,
    move_session,
    rename_folder,
)
from tests.meanwhile import after_waiting

pytestmark = pytest.mark.django_db(transaction=True)

HTMX = {"HX-Request": "true"}


def talk(user: User, title: str) -> Session:
    return Session.of(user.pk).create(title=title, last_message_number=1)


def move(
    client: Client, session: Session, headers: dict[str, str] | None = None, **fields: object
) -> HttpResponse:
    response: object = client.post(f"/chat/{session.id}/folder/", fields, headers=headers or {})
    assert isinstance(response, HttpResponse)
    return response


def folder_of(session: Session) -> str | None:
    session.refresh_from_db()
    return session.folder.name if session.folder else None


def test_a_folder_is_made_shown_renamed_and_deleted(signed_in: Client, user: User) -> None:
    inside, outside = talk(user, "inside"), talk(user, "outside")
    response = signed_in.post("/chat/folders/", {"name": "  Work <b> \n and more "}, follow=True)
    address = response.redirect_chain[0][0]
    assert "Work &lt;b&gt; and more" in response.content.decode()
    folder = SessionFolder.of(user.pk).get()
    assert address == f"/chat/folders/{folder.pk}/"
    assert move(signed_in, inside, folder=folder.pk)["Location"] == address
    page = signed_in.get(address).content.decode()
    assert ">inside<" in page
    assert ">outside<" not in page
    everything = signed_in.get("/chat/").content.decode()
    assert f'href="{address}"' in everything
    assert ">inside<" in everything
    assert f'href="{address}"' in signed_in.get("/chat/sidebar/", headers=HTMX).content.decode()
    signed_in.post(address, {"name": "Job"})
    assert folder_of(inside) == "Job"
    page = signed_in.post(address, {"do": "delete"}, follow=True).content.decode()
    assert "Folder deleted." in page
    assert ">inside<" in page
    assert folder_of(inside) is None
    assert folder_of(outside) is None
    assert signed_in.get(address).status_code == HTTPStatus.NOT_FOUND


def test_a_conversation_moves_from_its_menu(signed_in: Client, user: User) -> None:
    session = talk(user, "mine")
    response = move(signed_in, session, HTMX, name="Work", then="")
    assert response.status_code == HTTPStatus.NO_CONTENT
    assert json.loads(response["HX-Trigger"]) == {"said": "Moved to the folder “Work”."}
    assert folder_of(session) == "Work"
    menu = signed_in.get(f"/chat/{session.id}/menu/").content.decode()
    assert f'<option value="{session.folder_id}" selected>Work</option>' in menu
    response = move(signed_in, session, HTMX, folder="", then="sidebar")
    assert response["HX-Retarget"] == "#sidebar-list"
    assert folder_of(session) is None
    # A new name that is one already is that folder.
    move(signed_in, session, name="wORK")
    assert folder_of(session) == "Work"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (" ", "Enter a name."),
        ("x" * (MAX_CHARACTERS + 1), "up to 60 characters. This one has 61."),
        ("a\x00b", "Sage couldn’t read that."),
    ],
)
def test_a_name_that_cannot_be_one_makes_no_folder_and_stays_in_its_field(
    signed_in: Client, user: User, name: str, said: str
) -> None:
    talk(user, "mine")
    response = signed_in.post("/chat/folders/", {"name": name})
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = response.content.decode()
    assert said in page
    assert f'value="{name}"' in page or not name.isprintable() or not name.strip()
    assert not SessionFolder.unscoped.exists()


def test_there_are_only_so_many_folders_and_each_name_is_one(user: User) -> None:
    for number in range(MAX_FOLDERS):
        make_folder(user_id=user.pk, name=f"folder {number}")
    with pytest.raises(Refused, match="up to 100 folders"):
        make_folder(user_id=user.pk, name="one more")
    names = [folder.name for folder in list_folders(user_id=user.pk)]
    assert names == sorted(names)
    first = make_folder(user_id=user.pk, name="FOLDER 0")
    assert first.name == "folder 0"
    with pytest.raises(Refused, match="already have a folder"):
        rename_folder(user_id=user.pk, folder_id=first.pk, name="Folder 1")
    assert rename_folder(user_id=user.pk, folder_id=first.pk, name="FOLDER 0").name == "FOLDER 0"


def test_the_menus_of_a_folders_page_stay_in_the_folder(signed_in: Client, user: User) -> None:
    session = talk(user, "mine")
    move(signed_in, session, name="Work")
    session.refresh_from_db()
    address = f"/chat/folders/{session.folder_id}/"
    assert (
        f'data-menu="/chat/{session.id}/menu/" data-then="folder"' in signed_in.get(address).content.decode()
    )
    menu = signed_in.get(f"/chat/{session.id}/menu/", {"then": "folder"}, headers=HTMX).content.decode()
    assert menu.count('name="then" value="folder"') == menu.count('name="then"') == 4
    assert f'hx-target="#conversation-{session.id}"' in menu
    fields = {"title": "Ours", "then": "folder"}
    row = signed_in.post(f"/chat/{session.id}/title/", fields, headers=HTMX).content.decode()
    assert "Ours" in row
    assert "Work" not in row
    assert 'data-then="folder"' in row
    for do in ("pin", "delete"):
        response = signed_in.post(f"/chat/{session.id}/organise/", {"do": do, "then": "folder"})
        assert response["Location"] == address


def test_a_move_that_is_refused_says_why_where_it_was_asked_for(signed_in: Client, user: User) -> None:
    session = talk(user, "mine")
    name = "x" * (MAX_CHARACTERS + 1)
    part = move(signed_in, session, HTMX, name=name)
    assert part.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "This one has 61." in part.content.decode()
    menu = move(signed_in, session, name=name)["Location"]
    assert menu == f"/chat/{session.id}/menu/"
    assert "This one has 61." in signed_in.get(menu).content.decode()
    assert folder_of(session) is None


def test_a_deleted_conversation_that_comes_back_is_in_no_deleted_folder(user: User) -> None:
    session, folder = talk(user, "mine"), make_folder(user_id=user.pk, name="Work")
    move_session(user_id=user.pk, session_id=session.id, folder_id=folder.pk)
    delete_session(user_id=user.pk, session_id=session.id)
    delete_folder(user_id=user.pk, folder_id=folder.pk)
    assert restore_session(user_id=user.pk, session_id=session.id).folder_id is None


def test_a_folder_that_another_tab_is_deleting_is_missing_to_everything_else(user: User) -> None:
    session, own = talk(user, "mine"), {"user_id": user.pk}

    def gone() -> dict[str, int]:
        return own | {"folder_id": make_folder(**own, name="Work").pk}

    for change in (
        partial(move_session, session_id=session.id),
        partial(rename_folder, name="Job"),
        delete_folder,
    ):
        folder = gone()
        with pytest.raises(SessionFolder.DoesNotExist):
            after_waiting(partial(delete_folder, **folder), partial(change, **folder))
    assert folder_of(session) is None


def test_a_folder_that_is_deleted_while_a_conversation_moves_into_it_lets_it_go(user: User) -> None:
    session, own = talk(user, "mine"), {"user_id": user.pk}
    folder = own | {"folder_id": make_folder(**own, name="Work").pk}
    moving = partial(move_session, session_id=session.id, **folder)
    after_waiting(moving, partial(delete_folder, **folder))
    assert folder_of(session) is None
    assert not SessionFolder.unscoped.exists()


def test_nothing_moves_into_anothers_folder(signed_in: Client, user: User, other_user: User) -> None:
    session = talk(user, "mine")
    theirs = make_folder(user_id=other_user.pk, name="Theirs")
    assert move(signed_in, session, folder=theirs.pk).status_code == HTTPStatus.NOT_FOUND
    with pytest.raises(IntegrityError, match="session_in_own_folder"), transaction.atomic():
        Session.of(user.pk).filter(id=session.id).update(folder=theirs)
    assert folder_of(session) is None
    make_folder(user_id=user.pk, name="Theirs")
    assert SessionFolder.unscoped.count() == 2
