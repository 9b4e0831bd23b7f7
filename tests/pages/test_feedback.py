"""Feedback on an answer: given, changed, deleted, and what operators see of it."""

import json
import re
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus

import pytest
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, connection, transaction
from django.http import HttpResponse
from django.test import Client

from coaching.models import AnswerFeedback
from coaching.turns.feedback import delete_feedback, rate_answer, write_feedback
from sessions_app.models import Session, Turn
from sessions_app.organising import delete_session
from tests.conftest import MakeUser
from tests.meanwhile import after_waiting
from tests.pages.conftest import Exchange
from tests.pages.test_admin import staff_with

pytestmark = pytest.mark.django_db(transaction=True)

HTMX = {"HX-Request": "true"}
NOTE = "It **named** my sister wrongly"
ANSWER = "How is Hannah today?"
READ_TEXT = "read_message_text"
LIST = "/admin/coaching/answerfeedback/"


@pytest.fixture
def turn(exchange: Exchange) -> Turn:
    return exchange("My sister visits", ANSWER)


def send(client: Client, turn: Turn, *, is_part: bool = False, **fields: str) -> HttpResponse:
    headers = HTMX if is_part else {}
    response: object = client.post(address_of(turn), fields, headers=headers)
    assert isinstance(response, HttpResponse)
    return response


def address_of(turn: Turn) -> str:
    return f"/chat/{turn.session_id}/answers/{turn.pk}/feedback/"


def pressed(client: Client, session: Session) -> list[str]:
    """Return the states of the two buttons below an answer."""
    page = client.get(f"/chat/{session.id}/").content.decode()
    return re.findall(r'name="rating" value="[a-z]+" aria-pressed="([a-z]+)"', page)


def test_a_thumb_is_stored_at_once_and_a_note_can_follow(
    signed_in: Client, session: Session, turn: Turn, user: User
) -> None:
    assert pressed(signed_in, session) == ["false", "false"]
    response = send(signed_in, turn, rating="down")
    assert (response.status_code, response["Location"]) == (HTTPStatus.SEE_OTHER, address_of(turn))
    assert pressed(signed_in, session) == ["false", "true"]
    response = send(signed_in, turn, rating="down", do="save", note=f" {NOTE} ")
    assert response["Location"] == f"/chat/{session.id}/#turn-{turn.pk}"
    feedback = AnswerFeedback.of(user.pk).get()
    assert (feedback.rating, feedback.note) == ("down", NOTE)
    assert (feedback.is_shared, feedback.is_answer_shared) == (False, False)
    form = signed_in.get(address_of(turn)).content.decode()
    assert NOTE in form
    assert "checked" not in form.split('name="share"')[1].split(">")[0]
    send(signed_in, turn, rating="up")
    assert AnswerFeedback.of(user.pk).get().note == NOTE
    send(signed_in, turn, do="delete")
    assert not AnswerFeedback.unscoped.exists()
    assert pressed(signed_in, session) == ["false", "false"]


def test_the_script_gets_the_form_and_then_a_sentence(signed_in: Client, turn: Turn) -> None:
    part = send(signed_in, turn, is_part=True, rating="up").content.decode()
    assert part.startswith('<div class="feedback-panel">')
    response = send(signed_in, turn, is_part=True, rating="up", do="save", note="", share="on")
    assert response.status_code == HTTPStatus.NO_CONTENT
    assert json.loads(response["HX-Trigger"]) == {"said": "Your feedback is saved. Thank you."}


def test_words_of_danger_in_a_note_are_answered_with_help_lines(signed_in: Client, turn: Turn) -> None:
    for is_part in (False, True):
        page = send(signed_in, turn, is_part=is_part, rating="down", do="save", note="I want to kill myself")
        assert page.content.decode().count('id="safety-capture"') == 1
    assert AnswerFeedback.unscoped.get().note == "I want to kill myself"


def test_a_thumb_pressed_meanwhile_brings_back_no_consent_and_no_note(turn: Turn) -> None:
    shared = partial(write_feedback, turn, rating="up", note=NOTE, is_shared=True, is_answer_shared=True)
    press = partial(rate_answer, turn, rating="down")
    shared()
    withdraw = partial(write_feedback, turn, rating="up", note="", is_shared=False, is_answer_shared=False)
    after_waiting(withdraw, press)
    feedback = AnswerFeedback.unscoped.get()
    assert (feedback.rating, feedback.note) == ("down", "")
    assert (feedback.is_shared, feedback.is_answer_shared) == (False, False)
    shared()
    after_waiting(partial(delete_feedback, turn), press)
    feedback = AnswerFeedback.unscoped.get()
    assert (feedback.rating, feedback.note, feedback.is_shared) == ("down", "", False)


def test_two_first_presses_at_once_store_one_rating(turn: Turn) -> None:
    after_waiting(partial(rate_answer, turn, rating="up"), partial(rate_answer, turn, rating="down"))
    assert AnswerFeedback.unscoped.get().rating == "down"


def test_a_line_break_of_a_note_counts_as_one_character(signed_in: Client, turn: Turn) -> None:
    note = "x" * 499 + "\r\n" + "y" * 500
    assert send(signed_in, turn, rating="up", do="save", note=note).status_code == HTTPStatus.SEE_OTHER
    assert AnswerFeedback.unscoped.get().note == note.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"rating": "up", "do": "save", "note": "x" * 1001}, "up to 1,000 characters. This one has 1,001."),
        ({"rating": "sideways"}, "Sage couldn’t read that."),
        ({"do": "save", "note": "no rating"}, "Sage couldn’t read that."),
        ({"rating": "up", "do": "save", "note": "a\x00b"}, "Sage couldn’t read that."),
    ],
)
def test_what_cannot_be_stored_is_refused_and_stays_in_the_form(
    signed_in: Client, turn: Turn, fields: dict[str, str], said: str
) -> None:
    response = send(signed_in, turn, is_part=False, **fields)
    page = response.content.decode()
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert said in page
    assert fields.get("note", "").partition("\x00")[2] or fields.get("note", "") in page
    assert not AnswerFeedback.unscoped.exists()


def test_only_answers_of_sage_that_are_finished_can_be_rated(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    imported = exchange("Elsewhere", "Said elsewhere.", metadata={"round_ends": [15]})
    Turn.unscoped.filter(pk=imported.pk).update(metadata={"is_imported": True})
    unanswered = exchange("Hello?", None)
    for turn in (imported, unanswered):
        assert send(signed_in, turn, rating="up").status_code == HTTPStatus.NOT_FOUND
    assert pressed(signed_in, session) == []


def test_operators_see_only_what_is_shared_and_never_whose_it_is(
    signed_in: Client, turn: Turn, make_user: MakeUser, user: User
) -> None:
    operator = staff_with(make_user, "view_answerfeedback", READ_TEXT)

    def seen() -> tuple[str, str]:
        """Return the list, and the words of the one feedback where there is one."""
        feedback = AnswerFeedback.unscoped.get()
        words = operator.get(f"{LIST}{feedback.pk}/words/")
        return operator.get(LIST).content.decode(), words.content.decode() if words.status_code == 200 else ""

    send(signed_in, turn, rating="down", do="save", note=NOTE, share_answer="on")
    page, words = seen()
    assert "0 answer feedback" in page
    assert words == ""
    send(signed_in, turn, rating="down", do="save", note=NOTE, share="on")
    page, words = seen()
    assert "1 answer feedback" in page
    assert NOTE in words
    assert ANSWER not in words
    send(signed_in, turn, rating="down", do="save", note=NOTE, share="on", share_answer="on")
    page, words = seen()
    assert ANSWER in words
    for text in (page, words):
        assert user.email not in text
        assert str(turn.pk) not in text
    assert NOTE not in page
    Turn.unscoped.filter(pk=turn.pk).update(is_withdrawn=True)
    page, words = seen()
    assert "0 answer feedback" in page
    assert words == ""
    Turn.unscoped.filter(pk=turn.pk).update(is_withdrawn=False)
    assert NOTE in seen()[1]
    delete_session(user_id=user.pk, session_id=turn.session_id)
    assert seen()[1] == ""
    User.objects.get(username="staff").user_permissions.remove(Permission.objects.get(codename=READ_TEXT))
    address = f"{LIST}{AnswerFeedback.unscoped.get().pk}/words/"
    assert operator.get(address).status_code == HTTPStatus.FORBIDDEN


def test_operators_see_the_day_of_a_feedback_and_no_time(turn: Turn, make_user: MakeUser) -> None:
    at = datetime(2026, 11, 21, 12, 34, 56, tzinfo=UTC)
    feedback = AnswerFeedback.unscoped.create(turn=turn, rating="up", is_shared=True, updated_at=at)
    operator = staff_with(make_user, "view_answerfeedback", READ_TEXT)
    for address in (LIST, f"{LIST}{feedback.pk}/change/", f"{LIST}{feedback.pk}/words/"):
        page = operator.get(address).content.decode()
        assert ":34" not in page
        assert "2026" in page or address.endswith("/words/")
    assert operator.get(f"{LIST}?updated_at__gte=2026-11-21+12:00").status_code == HTTPStatus.BAD_REQUEST


def test_an_old_answer_that_is_shared_shows_none_of_the_files_that_it_wrote(
    exchange: Exchange, make_user: MakeUser
) -> None:
    old = 'Here it is.\n\n[FILE_UPDATE type="domain" name="Career"]\n# My secret\n[/FILE_UPDATE]\n'
    turn = exchange("Write it down", old, metadata={})
    feedback = write_feedback(turn, rating="up", note="", is_shared=True, is_answer_shared=True)
    operator = staff_with(make_user, "view_answerfeedback", READ_TEXT)
    words = operator.get(f"{LIST}{feedback.pk}/words/").content.decode()
    assert "Here it is." in words
    assert "My secret" not in words


def test_the_database_keeps_answers_from_being_shared_alone_and_removes_feedback_with_its_turn(
    turn: Turn,
) -> None:
    AnswerFeedback.unscoped.create(turn=turn, rating="up")
    with pytest.raises(IntegrityError, match="answer_feedback_shared_whole"), transaction.atomic():
        AnswerFeedback.unscoped.update(is_answer_shared=True)
    with connection.cursor() as cursor:  # as processes of the version before, which don't know the table
        cursor.execute("DELETE FROM sessions_app_message WHERE turn_id = %s", [turn.pk])
        cursor.execute("DELETE FROM sessions_app_turn WHERE id = %s", [turn.pk])
    assert not AnswerFeedback.unscoped.exists()
