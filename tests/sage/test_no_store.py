"""No cache stores what a person may read."""

import re
import uuid
from collections.abc import Iterator

import pytest
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from sessions_app.models import Session
from tests.thoroughness import sample_of_day

pytestmark = pytest.mark.django_db(transaction=True)

VALUES = {
    "uuid": str(uuid.UUID(int=1)),
    "uuidstr": str(uuid.UUID(int=1)),
    "int": "1",
    "path": "life-map/career.md",
    "str": "2026-01-05",
}


def addresses(patterns: list[URLPattern | URLResolver], prefix: str = "/") -> Iterator[str]:
    """Return a URL for every route of the URL map, with fitting values."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern).removeprefix("^")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, route)
        elif "(?P" not in route:
            yield re.sub(r"<(?:(\w+):)?\w+>", lambda found: VALUES[found[1] or "str"], route).rstrip("$")


@pytest.mark.parametrize("is_staff", [True, False])
def test_every_answer_of_the_url_map_is_private_and_not_stored(user: User, is_staff: bool) -> None:
    user.is_staff = user.is_superuser = is_staff
    user.save()
    Session(id=VALUES["uuid"], user=user).save()
    asked = list(addresses(get_resolver().url_patterns))
    assert len(asked) > 60
    browser = Client(raise_request_exception=False)
    for address in sample_of_day(asked, of_each=3):
        if SESSION_KEY not in browser.session:  # the first, and after those that sign out
            browser.force_login(user)
        for response in (browser.get(address), browser.post(address)):
            told = response.get("Cache-Control", "")
            if (address, response.status_code) == ("/offline/", 200):
                continue  # the same for everybody: the service worker stores it
            assert {"private", "no-store"} <= set(told.split(", ")), (address, response.status_code, told)
            response.close()


def test_a_refused_form_and_a_page_that_is_missing_are_not_stored() -> None:
    for response in (Client(enforce_csrf_checks=True).post("/accounts/login/"), Client().get("/nowhere/")):
        assert {"private", "no-store"} <= set(response["Cache-Control"].split(", "))


def test_static_files_are_stored() -> None:
    response = Client().get(staticfiles_storage.url("dist/app.js"))
    assert response.status_code == 200
    assert "no-store" not in response["Cache-Control"]
