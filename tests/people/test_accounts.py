"""The profile of the signed-in person, which comes with them."""

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from coaching.models import Profile, TimezoneSource
from coaching.people.accounts import TIMEZONE_COOKIE, load_profile
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db


def statements_of(client: Client, address: str) -> list[str]:
    client.get(address)
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    return [row["sql"] or "" for row in captured]


def reading_profiles(statements: Sequence[str]) -> list[str]:
    return [sql for sql in statements if f'"{Profile._meta.db_table}"' in sql]


def read_settings(client: Client) -> str:
    return client.get("/settings/").content.decode()


@pytest.mark.parametrize(
    ("page", "most"), [("home", 18), ("library", 13), ("library_actions", 10), ("session", 5)]
)
def test_a_page_reads_the_profile_with_its_person_and_not_again(
    client: Client, user: User, page: str, most: int
) -> None:
    client.force_login(user)
    session = open_conversation(user)
    asked = statements_of(client, reverse(page, args=[session.pk] if page == "session" else []))
    assert len(reading_profiles(asked)) == 1
    assert len(asked) <= most


def test_somebody_without_a_profile_gets_one_with_the_first_page(client: Client, user: User) -> None:
    client.force_login(user)
    client.cookies[TIMEZONE_COOKIE] = "Europe/Berlin"
    assert client.get("/").status_code == 200
    profile = Profile.of(user.pk).get()
    assert (profile.timezone, profile.timezone_source) == ("Europe/Berlin", TimezoneSource.BROWSER)
    assert len(reading_profiles(statements_of(client, "/"))) == 1


def test_a_page_that_follows_a_change_shows_it(client: Client, user: User) -> None:
    Profile.unscoped.create(user=user, name="Ada")
    client.force_login(user)
    assert 'value="Ada"' in read_settings(client)
    Profile.of(user.pk).update(name="Grace")
    assert 'value="Grace"' in read_settings(client)


def test_a_request_that_changes_the_profile_reads_it_anew(rf: RequestFactory, user: User) -> None:
    Profile.unscoped.create(user=user, name="Ada")
    for send, name in ((rf.post, "Grace"), (rf.get, "Ada")):
        request = send("/")
        request.user = User.objects.select_related("profile").get(pk=user.pk)
        assert load_profile(request).name == "Ada"
        Profile.of(user.pk).update(name="Grace")
        assert load_profile(request).name == name
        Profile.of(user.pk).update(name="Ada")
