"""What a session's opening says about danger in an answer of the one before it."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import override

from coaching.models import Profile
from coaching.safety.card import metadata_of
from sessions_app.models import MessageRole, Session, ToolCallRecord, Turn, TurnStatus
from tests.context.test_pipeline import NOW, built, texts
from tests.messages import append_message

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("words", "is_withdrawn", "is_said"),
    [("I want to die.", False, True), ("I want to die.", True, False), ("A walk.", False, False)],
)
def test_danger_in_the_answer_to_a_question_is_said_in_the_next_session(
    person: User, words: str, is_withdrawn: bool, is_said: bool
) -> None:
    last = Session.unscoped.create(user=person)
    ended = {"status": TurnStatus.COMPLETED, "ended_at": timezone.now()}
    first = Turn.unscoped.create(session=last, **ended)
    append_message(session=last, turn=first, role=MessageRole.USER, content="Hello")
    turn = Turn.unscoped.create(session=last, is_withdrawn=is_withdrawn, **ended)
    ToolCallRecord.unscoped.create(
        turn=turn, round_number=1, position=0, tool_use_id="toolu_1", name="show_options", state="answered",
        value=words, finished_at=NOW - timedelta(hours=10), metadata=metadata_of(words),
    )  # fmt: skip
    with override("de"):  # the person's language; the model's is English
        sent = "\n".join(texts(built(person)))
    assert "Last session: conversation" in sent
    assert ("Tuesday 2026-11-17: danger to themselves that may be acute" in sent) is is_said


@pytest.mark.parametrize(("language", "line"), [("de", "Language: German"), ("en", ""), ("", "")])
def test_an_opening_names_the_account_s_language_unless_it_is_english(
    person: User, language: str, line: str
) -> None:
    Profile.unscoped.update_or_create(user=person, defaults={"language": language})
    sent = "\n".join(texts(built(person)))
    assert ("Language:" in sent) is bool(line)
    assert line in sent
