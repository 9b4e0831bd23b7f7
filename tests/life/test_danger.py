"""Danger in captures and in answers to Sage's questions: a card on the page that follows, stored nowhere."""

import re
import threading
from http import HTTPStatus
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from coaching.files.frontmatter import parse_file
from coaching.life.captures import MAX_CAPTURE_CHARACTERS, keep_capture
from coaching.models import Capture, CardCount, FileType, Profile, ReflectionPrompt, UserFileVersion
from coaching.safety.danger import find_danger
from tests.browsers import browser_of, page_of
from tests.life.conftest import NOON, KeepFile

# Answers to questions are kept in another thread.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("at_noon")]

PART = {"HX-Request": "true"}
DANGER = "I want to die."
CARD = 'id="safety-capture"'
OUT_OF_BAND = 'hx-swap-oob="innerHTML:#safety-now"'


def counted() -> list[tuple[str, int]]:
    return list(CardCount.objects.values_list("level", "shown"))


def lines_in(page: str) -> list[str]:
    return re.findall(r'href="tel:([^"]+)"', page)


@pytest.mark.parametrize(("then", "address"), [("home", "/"), ("", "/capture/")])
def test_a_capture_with_danger_brings_the_card_once_and_is_kept_as_it_is(
    person: User, browser: Client, then: str, address: str
) -> None:
    response = browser.post("/capture/", {"text": DANGER, "id": "one", "then": then}, follow=True)
    assert response.redirect_chain == [(f"{address}#captures", HTTPStatus.SEE_OTHER)]
    page = response.content.decode()
    assert page.count(CARD) == page.count('id="safety-now"') == 1
    assert OUT_OF_BAND not in page
    assert "Saved to your captures." in page
    assert "call <strong" in page
    assert lines_in(page)[:3] == ["112", "110", "08001110111"], "of Germany"
    assert counted() == [("immediate", 1)]
    version = UserFileVersion.unscoped.get(file=Capture.unscoped.get(user=person).file)
    assert version.content == "---\ntype: capture\ndate: 2026-11-18\n---\n\nI want to die.\n"
    assert CARD not in page_of(browser, address)
    assert "safety" not in browser.session


@pytest.mark.parametrize("then", ["home", ""])
def test_a_part_of_a_page_brings_the_card_along(person: User, browser: Client, then: str) -> None:
    form = {"text": DANGER, "id": "one", "then": then}
    part = browser.post("/capture/", form, headers=PART).content.decode()
    assert part.startswith('<div class="captures-list"')
    assert part.count(OUT_OF_BAND) == part.count(CARD) == 1
    assert part.index(OUT_OF_BAND) < part.index(CARD)
    assert counted() == [("immediate", 1)]
    for address in ("/", "/capture/", "/files/"):
        assert CARD not in page_of(browser, address)


@pytest.mark.parametrize("headers", [{}, PART])
def test_the_same_capture_sent_twice_is_counted_once(
    person: User, browser: Client, headers: dict[str, str]
) -> None:
    for _ in range(3):
        form = {"text": DANGER, "id": "same"}
        answer = browser.post("/capture/", form, headers=headers, follow=not headers)
        assert CARD in answer.content.decode()
    assert Capture.unscoped.count() == 1
    assert counted() == [("immediate", 1)]


def test_words_of_danger_under_the_id_of_others_are_stored_and_counted(person: User, browser: Client) -> None:
    for text in ("Buy bread.", f"Buy bread. {DANGER}", f"Buy bread. {DANGER}"):
        answer = browser.post("/capture/", {"text": text, "id": "same"}, follow=True)
        assert (CARD in answer.content.decode()) is (DANGER in text)
    assert Capture.unscoped.count() == 2
    assert counted() == [("immediate", 1)]


def test_the_same_capture_sent_at_once_is_counted_once(person: User) -> None:
    def send() -> None:
        zone = ZoneInfo("Europe/Berlin")
        danger = find_danger(DANGER)
        keep_capture(user_id=person.pk, text=DANGER, client_id="same", now=NOON, timezone=zone, danger=danger)
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Capture.unscoped.count() == 1
    assert counted() == [("immediate", 1)]


@pytest.mark.parametrize(
    "text", ["No, I don't want to die.", "This deadline is killing me.", "Call mum", "calm " * 1_000]
)
def test_a_calm_capture_brings_no_card(person: User, browser: Client, text: str) -> None:
    assert CARD not in browser.post("/capture/", {"text": text}, follow=True).content.decode()
    assert CARD not in browser.post("/capture/", {"text": text}, headers=PART).content.decode()
    assert Capture.unscoped.count() == 2
    assert counted() == []


def test_nobody_else_sees_the_card(person: User, other_user: User, browser: Client) -> None:
    other, second = browser_of(other_user), browser_of(person)
    browser.post("/capture/", {"text": DANGER, "then": "home"})
    for address in ("/", "/capture/"):
        assert CARD not in page_of(other, address)
        assert CARD not in page_of(second, address), "another device"
    assert CARD not in other.post("/capture/", {"text": "Call mum"}, headers=PART).content.decode()
    assert CARD in page_of(browser, "/")


def test_the_lines_are_those_of_the_country_that_was_chosen(person: User, browser: Client) -> None:
    Profile.unscoped.filter(user=person).update(country="NZ")
    page = browser.post("/capture/", {"text": DANGER}, follow=True).content.decode()
    assert "1737" in lines_in(page)
    assert "08001110111" not in lines_in(page)


def test_danger_at_the_end_of_a_long_capture_is_seen(person: User, browser: Client) -> None:
    text = "A walk, then tea. " * 800 + DANGER
    assert CARD in browser.post("/capture/", {"text": text}, follow=True).content.decode()
    assert counted() == [("immediate", 1)]


@pytest.mark.parametrize(
    "form", [{"text": DANGER + "x" * MAX_CAPTURE_CHARACTERS}, {"text": DANGER, "then": "elsewhere"}]
)
def test_a_refused_capture_brings_the_card_too(person: User, browser: Client, form: dict[str, str]) -> None:
    page = browser.post("/capture/", form)
    assert page.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert page.content.decode().count(CARD) == 1
    part = browser.post("/capture/", form, headers=PART)
    assert part.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert part.content.decode().count(CARD) == 1
    assert not Capture.unscoped.exists()
    assert counted() == [("immediate", 2)], "each was shown"
    assert CARD not in page_of(browser, "/capture/")


# --- Answers to Sage's questions -------------------------------------------------------------------------


@pytest.fixture
def prompt(person: User, keep_file: KeepFile) -> ReflectionPrompt:
    """An open question that quotes words of danger."""
    question = "You once wrote: I want to die. What helped?"
    file = keep_file(person, FileType.REFLECTION_PROMPT, question, name="helped")
    return ReflectionPrompt.unscoped.get(file=file)


def test_a_saved_answer_with_danger_brings_the_card_to_home_and_is_counted_once(
    person: User, browser: Client, prompt: ReflectionPrompt
) -> None:
    form = {"do": "write", "text": "Nothing. I want to die.", "id": "one"}
    for _ in range(2):
        answer = browser.post(f"/reflections/{prompt.pk}/", form, follow=True)
        assert answer.redirect_chain == [("/#captures", HTTPStatus.SEE_OTHER)]
        page = answer.content.decode()
        assert page.count(CARD) == 1
        assert "08001110111" in lines_in(page)
    assert CARD not in page_of(browser, "/")
    assert counted() == [("immediate", 1)]
    version = UserFileVersion.unscoped.get(file=Capture.unscoped.get().file)
    assert parse_file(version.content)[1].endswith("What helped?\n\nNothing. I want to die.\n")


def test_only_the_answer_is_looked_at_and_not_the_question(
    person: User, browser: Client, prompt: ReflectionPrompt
) -> None:
    form = {"do": "write", "text": "Walking, and my sister.", "id": "one"}
    answer = browser.post(f"/reflections/{prompt.pk}/", form, follow=True)
    assert answer.redirect_chain == [("/", HTTPStatus.SEE_OTHER)]
    assert CARD not in answer.content.decode()
    assert counted() == []


@pytest.mark.parametrize("do", ["write", "talk", "dance"])
def test_a_refused_answer_brings_the_card_too(
    person: User, browser: Client, prompt: ReflectionPrompt, do: str
) -> None:
    ReflectionPrompt.unscoped.update(answered_at=NOON)
    answer = browser.post(f"/reflections/{prompt.pk}/", {"do": do, "text": DANGER, "id": "late"})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = answer.content.decode()
    assert page.count(CARD) == page.count('id="safety-now"') == 1
    assert DANGER in page
    assert counted() == [("immediate", 1)]
