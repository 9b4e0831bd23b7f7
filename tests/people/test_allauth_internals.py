"""What Sage relies on in allauth's internal modules, and that one module of ours uses them."""

import ast
import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from allauth.account import app_settings
from allauth.core.exceptions import ReauthenticationRequired
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.test import Client, RequestFactory

from coaching.people.allauth_internals import (
    address_of,
    count_registration,
    count_use,
    needs_confirmation,
    new_totp_secret,
    require_confirmation,
)
from tests.architecture.parsing import parse
from tests.browsers import sign_in_confirmed

WRAPPED = "coaching/people/allauth_internals.py"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def post(address: str = "192.0.2.1") -> HttpRequest:
    return RequestFactory().post("/", REMOTE_ADDR=address)


def request_of(client: Client, user: User) -> HttpRequest:
    request = post()
    request.user, request.session = user, client.session
    return request


def test_nothing_else_imports_what_allauth_may_change() -> None:
    assert set(importing_internals()) == {WRAPPED}


def test_uses_are_counted_by_action_and_key_until_one_is_too_many() -> None:
    uses = [count_use(post(), "tests", key="a person", rate="2/h/key") for _ in range(3)]
    assert [use is not None for use in uses] == [True, True, False]
    assert count_use(post(), "tests", key="somebody else", rate="2/h/key")
    assert count_use(post(), "others", key="a person", rate="2/h/key")


def test_of_several_rates_the_strictest_counts_and_a_time_later_there_is_room_again() -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        assert count_use(post(), "rates", key="one", rate="1/5m/key,2/d/key")
        assert count_use(post(), "rates", key="one", rate="1/5m/key,2/d/key") is None
        clock.shift(timedelta(minutes=6))
        assert count_use(post(), "rates", key="one", rate="1/5m/key,2/d/key")
        clock.shift(timedelta(minutes=6))
        assert count_use(post(), "rates", key="one", rate="1/5m/key,2/d/key") is None


def test_a_use_that_is_taken_back_leaves_room() -> None:
    use = count_use(post(), "taken_back", key="one", rate="1/h/key")
    assert use is not None
    use.rollback()
    assert count_use(post(), "taken_back", key="one", rate="1/h/key")


def test_reading_a_page_counts_nothing() -> None:
    request = RequestFactory().get("/")
    assert all(count_use(request, "reading", key="one", rate="1/h/key") for _ in range(3))


def test_registrations_are_counted_by_address() -> None:
    counted = [count_registration(post("192.0.2.77")) for _ in range(100)]
    assert counted[0]
    assert not counted[-1]
    assert count_registration(post("192.0.2.78"))


def test_an_address_is_counted_as_it_is_and_of_ipv6_as_its_network() -> None:
    assert address_of(post("192.0.2.1")) == "192.0.2.1"
    assert address_of(post("2001:db8:1:2::3")) == address_of(post("2001:db8:1:2:ffff::4"))
    assert address_of(post("2001:db8:1:2::3")) != address_of(post("2001:db8:1:3::3"))


@pytest.mark.django_db
def test_a_person_confirms_who_they_are_once_in_a_while(user: User) -> None:
    client = Client()
    with time_machine.travel(NOON, tick=False) as clock:
        client.force_login(user)
        assert needs_confirmation(request_of(client, user))
        with pytest.raises(ReauthenticationRequired):
            require_confirmation(request_of(client, user))
        sign_in_confirmed(client, user)
        assert not needs_confirmation(request_of(client, user))
        require_confirmation(request_of(client, user))
        clock.shift(app_settings.REAUTHENTICATION_TIMEOUT + 1)
        assert needs_confirmation(request_of(client, user))


def test_somebody_who_isnt_signed_in_has_to_say_who_they_are() -> None:
    request = post()
    request.user = AnonymousUser()
    assert needs_confirmation(request)


def test_a_secret_is_new_each_time_and_has_160_bits() -> None:
    first, second = new_totp_secret(), new_totp_secret()
    assert first != second
    assert len(base64.b32decode(first)) == 20


def importing_internals() -> Iterator[str]:
    for folder in ("coaching", "sage", "sessions_app"):
        for file in Path(folder).rglob("*.py"):
            for node in ast.walk(parse(file)):
                named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                if isinstance(node, ast.ImportFrom):
                    named += [f"{node.module}.{each.name}" for each in node.names]
                if isinstance(node, ast.Import):
                    named = [each.name for each in node.names]
                if any(name.startswith("allauth.") and "internal" in name.split(".") for name in named):
                    yield str(file)
