"""What operators see: rows without words, and words only with a permission and a trace."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from sessions_app.models import Message, Session
from tests.conftest import MakeUser
from tests.pages.conftest import Exchange, KeepFile

pytestmark = pytest.mark.django_db

SECRET = "what nobody else should read"


def staff_with(make_user: MakeUser, *codenames: str) -> Client:
    member = make_user("staff", is_staff=True)
    member.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(member)
    return client


def test_sessions_are_shown_without_words_and_can_t_be_changed(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    turn = exchange(SECRET, SECRET)
    client = staff_with(
        make_user, "view_session", "view_turn", "view_message", "change_session", "delete_session"
    )
    for address in (
        "/admin/sessions_app/session/",
        f"/admin/sessions_app/session/{session.id}/change/",
        "/admin/sessions_app/turn/",
        f"/admin/sessions_app/turn/{turn.id}/change/",
    ):
        page = client.get(address)
        assert page.status_code == 200
        assert SECRET not in page.content.decode()
    assert client.get(f"/admin/sessions_app/session/{session.id}/words/").status_code == 403
    assert (
        client.post(f"/admin/sessions_app/session/{session.id}/delete/", {"post": "yes"}).status_code == 403
    )
    assert Message.unscoped.count() == 2
    assert not LogEntry.objects.exists()


def test_words_are_shown_with_the_permission_and_the_look_is_logged(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    exchange(SECRET, "Answer")
    client = staff_with(make_user, "view_session", "read_message_text")
    page = client.get(f"/admin/sessions_app/session/{session.id}/words/")
    assert SECRET in page.content.decode()
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.user.username) == (str(session.id), "staff")
    assert SECRET not in entry.object_repr + entry.change_message


def test_files_are_shown_by_version_and_their_words_only_with_the_permission(
    make_user: MakeUser, keep_file: KeepFile, user: User
) -> None:
    file = keep_file("life-map/career.md", SECRET, SECRET + " again")
    client = staff_with(make_user, "view_userfile", "view_userfileversion")
    page = client.get(f"/admin/coaching/userfile/{file.pk}/change/").content.decode()
    assert f"{file.pk}-2" in page
    assert SECRET not in page
    assert client.get(f"/admin/coaching/userfile/{file.pk}/words/").status_code == 403
    reader = User.objects.get(username="staff")
    reader.user_permissions.add(Permission.objects.get(codename="read_message_text"))
    assert SECRET in client.get(f"/admin/coaching/userfile/{file.pk}/words/").content.decode()
    assert LogEntry.objects.count() == 1


def test_people_who_aren_t_staff_never_get_in(client: Client, user: User, session: Session) -> None:
    client.force_login(user)
    for address in ("/admin/", f"/admin/sessions_app/session/{session.id}/words/"):
        assert client.get(address).status_code == 302
