"""No request of a job, and no stored call, carries the tags of old blocks to the model."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User

from coaching.context.history import stored_message
from coaching.engine.messages import build_api_messages
from coaching.jobs.briefs import build_brief_request
from coaching.jobs.summaries import build_summary_request
from coaching.jobs.titles import build_title_request, cleaned_title
from coaching.safety.second_look import build_question
from coaching.tools import CHAT_TOOLS
from coaching.transcript.answers import NO_ANSWERS, Said, said_in
from coaching.turns.second_looks import read_words
from sessions_app.models import BriefCorrection, CorrectionKind, Message, MessageRole
from tests.legacy_text.replies import RAW_TAG
from tests.recall.history import talk

WORDS = (
    'Before [FILE_UPDATE type="overview"]\nthe body\n[/FILE_UPDATE] [session_complete] after [ENTER_MODE: x'
)
TEXTS = (f"I said: {WORDS}", f"Sage said: {WORDS}")


def said() -> Sequence[Said]:
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    messages = [
        Message(number=number, role=role, content=text, created_at=datetime(2025, 3, 1, tzinfo=UTC))
        for number, (role, text) in enumerate(zip(roles, TEXTS, strict=True), start=1)
    ]
    return said_in(messages, NO_ANSWERS)


def check_words(sent: str) -> None:
    assert not RAW_TAG.search(sent)
    for words in ("I said: Before", "Sage said: Before", "the body", "after"):
        assert words in sent


def test_titles_summaries_and_briefs_read_words_without_tags() -> None:
    struck = BriefCorrection(kind=CorrectionKind.STRIKE, line=f"Old: {WORDS}")
    check_words(json.dumps(build_title_request(said()).messages))
    check_words(json.dumps(build_summary_request(said()).messages))
    brief = build_brief_request(said(), old=WORDS, corrections=[struck], zone=ZoneInfo("Europe/Lisbon"))
    check_words(json.dumps(brief.messages))


def test_a_title_has_no_tag() -> None:
    assert cleaned_title("[SESSION_COMPLETE] The garden") == "The garden"


@pytest.mark.django_db
def test_a_second_look_reads_words_without_tags(user: User) -> None:
    session = talk(user, f"Earlier: {WORDS}", "Yes.", f"Newest: {WORDS}")
    newest = session.messages.get(number=3)
    looked = read_words(newest.turn_id)
    assert looked is not None
    question = build_question(looked.words, looked.earlier)
    assert not RAW_TAG.search(question)
    assert "Earlier: Before" in question
    assert "Newest: Before" in question


def test_a_stored_call_brings_no_tag_back() -> None:
    values: dict[str, Any] = {"prompt": WORDS, "options": [{"label": f"One {WORDS}"}, {"label": "Two"}]}
    call = {
        "id": "t",
        "name": "show_options",
        "input": values,
        "result": WORDS,
        "is_error": False,
        "round": 1,
    }
    answer = Message(
        role=MessageRole.ASSISTANT, content="Hm.", metadata={"tool_calls": [call], "round_ends": [3]}
    )
    sent = json.dumps(build_api_messages([stored_message(answer)], CHAT_TOOLS.saved_fields))
    assert not RAW_TAG.search(sent)
    assert sent.count("Before") == 3
