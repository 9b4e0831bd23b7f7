"""Reflection prompts: shown one at a time, answered where Sage reads it, or skipped."""

import re
from datetime import timedelta
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import override

from coaching.files.frontmatter import parse_file
from coaching.life.prompts import (
    accessible_prompt,
    mark_answered,
    message_about,
)
from coaching.models import Capture, FileType, Profile, ReflectionPrompt, UserFileVersion
from sessions_app.limits import MAX_RUNNING_TURNS_PER_USER
from sessions_app.models import Session
from sessions_app.text import check_message_text
from tests.life.conftest import NOON, KeepFile
from tests.stored_turns import open_conversation, open_turn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("at_noon")]


@pytest.fixture
def prompt(person: User, keep_file: KeepFile) -> ReflectionPrompt:
    """An open question."""
    file = keep_file(
        person, FileType.REFLECTION_PROMPT, "What would *rest* be\nif it were no reward?", name="rest"
    )
    return ReflectionPrompt.unscoped.get(file=file)


def test_home_asks_one_question_at_a_time_the_newest_first(
    person: User, browser: Client, keep_file: KeepFile, prompt: ReflectionPrompt
) -> None:
    page = browser.get("/").content.decode()
    assert "<em>rest</em>" in page
    keep_file(person, FileType.REFLECTION_PROMPT, "And what is enough?", name="enough")
    newer = ReflectionPrompt.unscoped.get(text="And what is enough?")
    ReflectionPrompt.unscoped.filter(pk=newer.pk).update(created_at=NOON + timedelta(minutes=1))
    page = browser.get("/").content.decode()
    assert "And what is enough?" in page
    assert "<em>rest</em>" not in page
    assert "2 wait" in page
    assert browser.post(f"/reflections/{newer.pk}/", {"do": "put_away"})["Location"] == "/"
    page = browser.get("/").content.decode()
    assert "Skipped. You’ll find the question in Files." in page
    assert "<em>rest</em>" in page
    assert browser.get("/files/" + newer.file.path).status_code == HTTPStatus.OK


def test_an_answer_is_kept_below_its_question_in_a_capture(
    person: User, browser: Client, prompt: ReflectionPrompt
) -> None:
    address = f"/reflections/{prompt.pk}/"
    for _ in range(2):
        response = browser.post(address, {"do": "write", "text": "A walk without an aim.", "id": "one"})
        assert response["Location"] == "/"
    capture = Capture.unscoped.get()
    version = UserFileVersion.unscoped.get(file=capture.file)
    body = parse_file(version.content)[1].strip()
    assert body == "> What would *rest* be\n> if it were no reward?\n\nA walk without an aim."
    prompt.refresh_from_db()
    assert prompt.answered_at == NOON
    assert UserFileVersion.unscoped.filter(file=prompt.file).count() == 1
    assert "A question for you" not in browser.get("/").content.decode()


def test_an_answer_that_is_written_on_and_sent_again_is_kept_too(
    person: User, browser: Client, prompt: ReflectionPrompt
) -> None:
    for text in ("A walk.", "A walk without an aim.", "A walk without an aim."):
        form = {"do": "write", "text": text, "id": "one"}
        assert browser.post(f"/reflections/{prompt.pk}/", form)["Location"] == "/"
    first, second = UserFileVersion.unscoped.filter(file__file_type=FileType.CAPTURE).order_by("id")
    assert first.content.endswith("\n\nA walk.\n")
    assert second.content.endswith("if it were no reward?\n\nA walk without an aim.\n")


@pytest.mark.parametrize("form", [{"do": "write", "text": " "}, {"do": "dance", "text": "Kept words"}, {}])
def test_what_cant_be_taken_is_said_and_stays(
    browser: Client, prompt: ReflectionPrompt, form: dict[str, str]
) -> None:
    response = browser.post(f"/reflections/{prompt.pk}/", form)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = response.content.decode()
    assert form.get("text", "").strip() in page
    assert 'class="notice"' in page
    prompt.refresh_from_db()
    assert prompt.answered_at is None


def test_only_the_first_of_two_tabs_answers_and_the_others_words_stay_on_its_page(
    person: User, browser: Client, prompt: ReflectionPrompt
) -> None:
    mark_answered(user_id=person.pk, prompt_id=prompt.pk, now=NOON)
    for do in ("talk", "write"):
        form = {"do": do, "text": "My second thought", "id": f"second {do}"}
        response = browser.post(f"/reflections/{prompt.pk}/", form)
        assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        page = response.content.decode()
        assert "already answered or skipped" in page
        assert "My second thought" in page
    assert not Capture.unscoped.exists()


def test_an_answer_as_long_as_the_page_takes_fits_below_any_question(
    person: User, browser: Client, keep_file: KeepFile
) -> None:
    file = keep_file(person, FileType.REFLECTION_PROMPT, "a\n" * 900, name="long")
    prompt = ReflectionPrompt.unscoped.get(file=file)
    address = f"/reflections/{prompt.pk}/"
    page = browser.get(address).content.decode()
    most = re.search(r'id="prompt-text".*? data-most="([0-9]+)"', page)
    assert most is not None
    text = "\r\n".join(["x" * 99] * (int(most[1]) // 100)) + "y"
    shown = accessible_prompt(user_id=person.pk, prompt_id=prompt.pk, timezone=Profile.unscoped.get().zone)
    with override("de"):
        assert check_message_text(message_about(shown, text)).endswith("xy")
    assert browser.post(address, {"do": "write", "text": text, "id": "one"})["Location"] == "/"
    assert Capture.unscoped.exists()


def test_a_refused_message_about_a_question_leaves_no_conversation(
    person: User, browser: Client, prompt: ReflectionPrompt
) -> None:
    address = f"/reflections/{prompt.pk}/"
    long = browser.post(address, {"do": "talk", "text": "x" * 20_000, "id": "one"})
    assert long.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "Please shorten it" in long.content.decode()
    assert not Session.unscoped.exists()
    for _ in range(MAX_RUNNING_TURNS_PER_USER):
        session = open_conversation(person)
        open_turn(session, owner="elsewhere")
    early = browser.post(address, {"do": "talk", "text": "A walk.", "id": "two"})
    assert early.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert early["Retry-After"]
    assert "A walk." in early.content.decode()
    assert Session.unscoped.count() == MAX_RUNNING_TURNS_PER_USER
    prompt.refresh_from_db()
    assert prompt.answered_at is None


def test_a_question_that_sage_asks_anew_is_open_again(
    person: User, keep_file: KeepFile, browser: Client, prompt: ReflectionPrompt
) -> None:
    browser.post(f"/reflections/{prompt.pk}/", {"do": "put_away"})
    keep_file(person, FileType.REFLECTION_PROMPT, "What would rest be now?", name="rest")
    assert "What would rest be now?" in browser.get("/").content.decode()


def test_what_is_said_first_names_the_question(person: User, prompt: ReflectionPrompt) -> None:
    shown = accessible_prompt(user_id=person.pk, prompt_id=prompt.pk, timezone=Profile.unscoped.get().zone)
    assert message_about(shown, " A walk. ") == (
        "You left me a question: “What would *rest* be\nif it were no reward?”\n\nA walk."
    )
    assert message_about(shown, "").endswith("I’d like to talk about it.")
    prompt.text = "x" * 90_000
    prompt.save()
    long = accessible_prompt(user_id=person.pk, prompt_id=prompt.pk, timezone=Profile.unscoped.get().zone)
    assert len(message_about(long, "y")) < 1_100


def test_anothers_question_is_a_missing_one(
    other_user: User, person: User, browser: Client, keep_file: KeepFile
) -> None:
    Profile.unscoped.create(user=other_user)
    file = keep_file(other_user, FileType.REFLECTION_PROMPT, "Theirs?", name="theirs")
    theirs = ReflectionPrompt.unscoped.get(file=file)
    for form in ({"do": "put_away"}, {"do": "write", "text": "x"}, {"do": "talk", "text": "x"}):
        assert browser.post(f"/reflections/{theirs.pk}/", form).status_code == HTTPStatus.NOT_FOUND
    mark_answered(user_id=person.pk, prompt_id=theirs.pk, now=NOON)
    theirs.refresh_from_db()
    assert theirs.answered_at is None
    assert theirs.put_away_at is None
    assert browser.get(f"/reflections/{'9' * 30}/").status_code == HTTPStatus.NOT_FOUND
