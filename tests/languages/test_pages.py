"""Pages are in the person's language, otherwise in the browser's; operators' pages are in English."""

import json
import re
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.translation import get_language, override
from pytest_django import Settings

from coaching.models import LifeDomain, Profile
from coaching.people.languages import browser_language
from coaching.transcript.names import shown_name
from tests.languages.conftest import speaks, translated

HTML = re.compile(r'<html lang="([\w-]+)" dir="(ltr|rtl)">')


def page_language(response: HttpResponseBase) -> str:
    """Return the language that a page's markup and headers name."""
    assert isinstance(response, HttpResponse)
    found = HTML.search(response.content.decode())
    assert found is not None
    assert found[2] == "ltr"
    assert response["Content-Language"] == found[1]
    assert "Accept-Language" in response["Vary"]
    return found[1]


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr,es-MX;q=0.8", "es"),
        ("en-GB", "en"),
        ("fr", "en"),
        ("*", "en"),
        ("", "en"),
        ("de;q=nonsense,\x00", "en"),
    ],
)
def test_the_first_language_that_a_browser_accepts_and_sage_has_counts(accepted: str, language: str) -> None:
    assert browser_language(accepted) == language


@pytest.mark.django_db
def test_a_page_for_nobody_is_in_the_browsers_language_and_leaves_no_language_behind(client: Client) -> None:
    before = get_language()
    response = client.get("/accounts/login/", headers={"Accept-Language": "de"})
    assert page_language(response) == "de"
    assert translated("Password", "de") in response.content.decode()
    assert get_language() == before
    assert page_language(client.get("/accounts/login/")) == "en"


@pytest.mark.parametrize(("chosen", "language"), [("de", "de"), ("", "es"), ("xx", "es")])
def test_a_persons_own_language_counts_more_than_the_browsers(
    client: Client, user: User, chosen: str, language: str
) -> None:
    client.force_login(speaks(user, chosen))
    assert page_language(client.get("/settings/", headers={"Accept-Language": "es"})) == language


def test_the_language_costs_no_query(client: Client, user: User, german: User) -> None:
    client.force_login(german)
    client.get("/safety/")
    with CaptureQueriesContext(connection) as asked:
        assert page_language(client.get("/settings/delete/")) == "de"
    people = [query["sql"] for query in asked if "auth_user" in query["sql"]]
    assert len(people) == 1
    assert len(asked) == 2, "the browser's session and its user"


def test_a_person_chooses_a_language_by_its_own_name_and_goes_on_in_it(client: Client, user: User) -> None:
    client.force_login(user)
    page = client.get("/settings/").content.decode()
    assert re.findall(r'<option value="(\w*)"[^>]*>([^<]+)</option>', page.partition('name="language"')[2])[
        :4
    ] == [
        ("", "As in your browser"),
        ("de", "Deutsch"),
        ("en", "English"),
        ("es", "Español"),
    ]
    posted = {"name": "Ada", "timezone": "Europe/Berlin", "checkin_weekday": "2", "language": "de"}
    page = client.post("/settings/", posted, follow=True).content.decode()
    assert translated("Settings saved.", "de") in page
    assert '<option value="de" selected>Deutsch</option>' in page
    page = client.post("/settings/", posted | {"language": ""}, follow=True).content.decode()
    assert "Settings saved." in page
    refused = client.post("/settings/", posted | {"language": "fr"})
    assert refused.status_code == HTTPStatus.BAD_REQUEST
    assert Profile.of(user.pk).get().language == ""


@pytest.mark.django_db
def test_whoever_signs_up_keeps_the_language_of_the_form(client: Client, settings: Settings) -> None:
    settings.SAGE_SIGNUP = "open"
    form = {
        "name": "Ada",
        "email": "ada@sage.test",
        "password1": "correct-horse-battery-staple",
        "password2": "correct-horse-battery-staple",
    }
    response = client.post("/accounts/signup/", form, headers={"Accept-Language": "de"})
    assert response.status_code == HTTPStatus.FOUND, response.content
    assert Profile.unscoped.get().language == "de"


def test_operators_pages_are_in_english(client: Client, german: User) -> None:
    german.is_staff = german.is_superuser = True
    german.save()
    client.force_login(german)
    response = client.get("/admin/", headers={"Accept-Language": "de"})
    assert response["Content-Language"] == "en"
    assert "People today" in response.content.decode()


def test_an_error_page_is_in_the_persons_language(client: Client, german: User) -> None:
    client.force_login(german)
    response = client.get("/nowhere/")
    assert response.status_code == HTTPStatus.NOT_FOUND
    assert page_language(response) == "de"


def test_the_service_worker_stores_the_offline_page_of_its_own_language(
    client: Client, user: User, german: User
) -> None:
    client.force_login(german)
    worker = client.get("/service-worker.js").content.decode()
    shell = json.loads(worker.partition("self.shell = ")[2].partition(";\n")[0])
    assert shell["notification"]["text"] == translated("You have a reminder.", "de")
    speaks(user, "es")  # between the worker and what it stores
    response = client.get(shell["offline"])
    assert '<html lang="de"' in response.content.decode()
    assert (response["Content-Language"], response["Cache-Control"]) == ("de", "public, no-cache")
    anew = client.get("/service-worker.js").content.decode()
    assert json.loads(anew.partition("self.shell = ")[2].partition(";\n")[0])["version"] != shell["version"]
    assert 'lang="es"' in client.get("/offline/?language=xx").content.decode()


def test_pages_of_the_life_map_have_the_names_of_its_parts_in_each_language() -> None:
    for domain in LifeDomain:
        for language in ("en", "de", "es"):
            with override(language):
                assert shown_name(f"life-map/{domain.value}.md") == str(domain.label)
        translated(domain.name.capitalize(), "de")
