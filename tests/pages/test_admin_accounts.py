"""Accounts in the admin: who may change users gets neither into others' accounts nor to more rights."""

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from coaching.admin.accounts import ANOTHERS_ADDRESS, ANOTHERS_NAME
from tests.browsers import browser_of
from tests.conftest import MakeUser

pytestmark = pytest.mark.django_db

RIGHTS = ("view", "add", "change", "delete")
NAMES = ("user", "group", "emailaddress", "authenticator")
PASSWORD = "correct horse battery staple"


def client_of(user: User) -> Client:
    return browser_of(user)


@pytest.fixture
def staff(make_user: MakeUser) -> User:
    member = make_user("staff", is_staff=True)
    member.user_permissions.set(
        Permission.objects.filter(codename__in=[f"{right}_{name}" for right in RIGHTS for name in NAMES])
    )
    return member


@pytest.fixture
def chief(make_user: MakeUser) -> User:
    return make_user("chief", is_staff=True, is_superuser=True)


def account_form(user: User, **changed: object) -> dict[str, object]:
    return {
        "username": user.username,
        "first_name": "",
        "last_name": "",
        "is_active": "on",
        "date_joined_0": "2026-11-01",
        "date_joined_1": "08:00:00",
        **changed,
    }


def test_staff_give_no_rights(staff: User) -> None:
    address = f"/admin/auth/user/{staff.id}/change/"
    words = Permission.objects.get(codename="read_message_text")
    given = account_form(
        staff, is_superuser="on", is_staff="on", user_permissions=[words.id], first_name="Kim"
    )
    assert client_of(staff).post(address, given).status_code == 302
    staff = User.objects.get(id=staff.id)
    assert staff.first_name == "Kim"
    assert not staff.is_superuser
    assert not staff.has_perm("sessions_app.read_message_text")
    assert staff.has_perm("auth.change_user")


def test_staff_set_nobody_s_password_and_address(staff: User, make_user: MakeUser) -> None:
    person = make_user("person")
    client = client_of(staff)
    page = client.get(f"/admin/auth/user/{person.id}/change/")
    assert page.status_code == 200
    assert "password" not in page.content.decode().partition("<form")[2]
    given = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    assert client.post(f"/admin/auth/user/{person.id}/password/", given).status_code == 403
    other = account_form(person, email="staff@example.org")
    assert client.post(f"/admin/auth/user/{person.id}/change/", other).status_code == 302
    person = User.objects.get(id=person.id)
    assert not person.check_password(PASSWORD)
    assert person.email == "person@example.org"


def test_staff_confirm_and_remove_addresses_but_add_none(staff: User, make_user: MakeUser) -> None:
    person = make_user("person")
    row = EmailAddress.objects.create(user=person, email="person@example.org")
    client = client_of(staff)
    new = {"user": person.id, "email": "staff@example.org", "verified": "on"}
    assert client.post("/admin/account/emailaddress/add/", new).status_code == 403
    assert client.post(f"/admin/account/emailaddress/{row.id}/change/", new).status_code == 302
    row.refresh_from_db()
    assert (row.email, row.user, row.verified) == ("person@example.org", person, True)
    assert client.post(f"/admin/account/emailaddress/{row.id}/delete/", {"post": "yes"}).status_code == 302
    assert not EmailAddress.objects.filter(id=row.id).exists()


def test_staff_neither_shut_out_nor_delete_a_superuser(staff: User, chief: User) -> None:
    client = client_of(staff)
    shut_out = account_form(chief)
    del shut_out["is_active"]
    assert client.post(f"/admin/auth/user/{chief.id}/change/", shut_out).status_code == 403
    assert client.post(f"/admin/auth/user/{chief.id}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [chief.id], "post": "yes"}
    client.post("/admin/auth/user/", chosen)
    assert User.objects.get(id=chief.id).is_active


def test_staff_leave_a_superusers_addresses_and_second_factor(staff: User, chief: User) -> None:
    row = EmailAddress.objects.create(user=chief, email=chief.email, primary=True, verified=True)
    factor = Authenticator.objects.create(user=chief, type=Authenticator.Type.TOTP, data={})
    client = client_of(staff)
    assert client.post(f"/admin/account/emailaddress/{row.id}/change/", {}).status_code == 403
    for page, kept in (("account/emailaddress", row), ("mfa/authenticator", factor)):
        assert client.post(f"/admin/{page}/{kept.pk}/delete/", {"post": "yes"}).status_code == 403
        chosen = {"action": "delete_selected", "_selected_action": [kept.pk], "post": "yes"}
        client.post(f"/admin/{page}/", chosen)
        kept.refresh_from_db()
    assert client_of(chief).post(
        f"/admin/mfa/authenticator/{factor.pk}/delete/", {"post": "yes"}
    ).status_code == 302  # fmt: skip


def test_staff_give_no_account_a_name_that_stands_for_another_at_sign_in(staff: User, chief: User) -> None:
    client = client_of(staff)
    renamed = account_form(staff, username=chief.email.upper())
    assert ANOTHERS_NAME in client.post(f"/admin/auth/user/{staff.id}/change/", renamed).content.decode()
    new = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    added = client.post("/admin/auth/user/add/", {**new, "username": chief.email})
    assert ANOTHERS_NAME in added.content.decode()
    assert set(User.objects.values_list("username", flat=True)) == {"staff", "chief"}
    assert client.post("/admin/auth/user/add/", {**new, "username": "new"}).status_code == 302
    itself = account_form(staff, username=staff.email)
    assert client.post(f"/admin/auth/user/{staff.id}/change/", itself).status_code == 302


def test_staff_confirm_no_address_that_another_account_has(staff: User, make_user: MakeUser) -> None:
    person = make_user("person")
    row = EmailAddress.objects.create(user=staff, email=person.email)
    client = client_of(staff)
    page = client.post(f"/admin/account/emailaddress/{row.id}/change/", {"verified": "on", "primary": "on"})
    assert ANOTHERS_ADDRESS in page.content.decode()
    chosen = {"action": "make_verified", "_selected_action": [row.id]}
    assert (
        ANOTHERS_ADDRESS in client.post("/admin/account/emailaddress/", chosen, follow=True).content.decode()
    )
    row.refresh_from_db()
    assert (row.verified, row.primary) == (False, False)
    person.delete()
    client.post("/admin/account/emailaddress/", chosen)
    row.refresh_from_db()
    assert row.verified


def test_staff_who_only_see_addresses_confirm_none(make_user: MakeUser) -> None:
    looking = make_user("looking", is_staff=True)
    looking.user_permissions.add(Permission.objects.get(codename="view_emailaddress"))
    row = EmailAddress.objects.create(user=make_user("person"), email="person@example.org")
    chosen = {"action": "make_verified", "_selected_action": [row.id]}
    assert client_of(looking).post("/admin/account/emailaddress/", chosen).status_code in {200, 302}
    row.refresh_from_db()
    assert not row.verified


def test_staff_make_no_second_address_the_main_one(staff: User, make_user: MakeUser) -> None:
    person = make_user("person")
    EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)
    row = EmailAddress.objects.create(user=person, email="other@example.org")
    address = f"/admin/account/emailaddress/{row.id}/change/"
    assert client_of(staff).post(address, {"primary": "on", "verified": "on"}).status_code == 302
    row.refresh_from_db()
    assert (row.verified, row.primary) == (True, False)


def test_staff_shut_out_somebody_else(staff: User, make_user: MakeUser) -> None:
    person = make_user("person")
    shut_out = account_form(person)
    del shut_out["is_active"]
    assert client_of(staff).post(f"/admin/auth/user/{person.id}/change/", shut_out).status_code == 302
    assert not User.objects.get(id=person.id).is_active


def test_staff_change_no_group(staff: User) -> None:
    group = Group.objects.create(name="helpers")
    staff.groups.add(group)
    client = client_of(staff)
    words = Permission.objects.get(codename="read_message_text")
    given = {"name": "helpers", "permissions": [words.id]}
    assert client.post(f"/admin/auth/group/{group.id}/change/", given).status_code == 403
    assert client.post("/admin/auth/group/add/", {**given, "name": "others"}).status_code == 403
    assert client.post(f"/admin/auth/group/{group.id}/delete/", {"post": "yes"}).status_code == 403
    assert not group.permissions.exists()


def test_a_superuser_sets_passwords_addresses_and_rights(chief: User, make_user: MakeUser) -> None:
    person = make_user("person")
    client = client_of(chief)
    words = Permission.objects.get(codename="read_message_text")
    given = account_form(person, email="new@example.org", is_staff="on", user_permissions=[words.id])
    assert client.post(f"/admin/auth/user/{person.id}/change/", given).status_code == 302
    new = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    assert client.post(f"/admin/auth/user/{person.id}/password/", new).status_code == 302
    person = User.objects.get(id=person.id)
    assert person.check_password(PASSWORD)
    assert (person.email, person.is_staff) == ("new@example.org", True)
    assert person.has_perm("sessions_app.read_message_text")
    assert client.post("/admin/auth/group/add/", {"name": "helpers"}).status_code == 302
