"""Old replies show what they hold, in today's components and without a tag, wherever they are read."""

import re
import uuid
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

from coaching.legacy_text.blocks import strip_block_tags
from coaching.personal_data.transcript import write_transcript
from coaching.recall.passages import read_passages
from coaching.recall.search import search
from coaching.transcript.cards import NO_CARDS
from coaching.transcript.rows import CallRows, TurnRows
from coaching.transcript.turn_items import turn_item
from sessions_app.models import Message, MessageRole, Session, Turn, TurnStatus
from tests.legacy_text.replies import RAW_TAG
from tests.legacy_text.shown import words_of_page
from tests.pages.conftest import Exchange, KeepFile

LISBON = ZoneInfo("Europe/Lisbon")
OLD = (
    'Here it is.\n\n[FILE_UPDATE type="domain" name="Career / Work"]\n# Career\n\n'
    "Leading a *team*.\n[/FILE_UPDATE]\n[ENTER_MODE: open_day]\n"
    '[DAY_PLAN_DATA]\n{"intention": "Walk slowly", "priorities": ["Pack"]}\n[/DAY_PLAN_DATA]\n\n'
    "What now?\n\n```\n[FILE_UPDATE]\n```\n\n[SUGGESTED_REPLIES]\nRest\nWork\n[/SUGGESTED_REPLIES]\n"
    '[SESSION_COMPLETE]\n[FILE_UPDATE type="care'
)
PIECES = (
    '\n[FILE_UPDATE type="domain" name="Career / Work"]\n', '[file_update type="overview"] ',
    "[/FILE_UPDATE]", '[FILE_UPDATE name="a [b] c" type=capture', "[SUGGESTED_REPLIES]",
    "[/SUGGESTED_REPLIES]", "\nyes\nno\n", "[DAY_PLAN_DATA]", "[/DAY_PLAN_DATA]",
    '{"plan": "slowly", "more": ["one", "two"]}', "[ENTER_MODE: open_day]", "[ENTER_MODE: quick]",
    "[SESSION_COMPLETE]", "\n[ [/", " words", " and others ", "\n\n", "\n```\n", " ünï",
)  # fmt: skip


def old_turn(text: str) -> TurnRows:
    session = Session(id=uuid.uuid4())
    moment = datetime(2025, 3, 1, 9, tzinfo=UTC)
    turn = Turn(session=session, status=TurnStatus.COMPLETED, started_at=moment, ended_at=moment)
    answer = Message(
        session=session, turn=turn, number=2, role=MessageRole.ASSISTANT, content=text, created_at=moment
    )
    return TurnRows(
        turn=turn,
        answer=answer,
        shown=CallRows(calls=(), cards=NO_CARDS),
        spent=None,
        verdict=None,
        zone=LISBON,
    )


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
@example('[SUGGESTED_REPLIES]\nyes\nno\n\n```\n\n[FILE_UPDATE type="domain"]\n\n```\n[/SUGGESTED_REPLIES]')
def test_every_word_of_an_old_reply_is_on_the_page_and_no_tag(text: str) -> None:
    markup = render_to_string("coaching/components/turn.html", {"item": turn_item(old_turn(text))})
    shown = words_of_page(markup).lower()
    assert [word for word in re.findall(r"\w+", strip_block_tags(text).lower()) if word not in shown] == []
    assert not RAW_TAG.search(words_of_page(markup, with_code=False))


@pytest.mark.django_db
def test_an_old_reply_shows_its_files_answers_and_marks(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("[SESSION_COMPLETE] is what I typed", OLD, metadata={"imported_id": "m-1"})
    page = signed_in.get(f"/chat/{session.id}/").content.decode()
    assert "[SESSION_COMPLETE] is what I typed" in page, "one's own words stay"
    assert not RAW_TAG.search(words_of_page(page, with_code=False).replace("[SESSION_COMPLETE] is", ""))
    assert "[FILE_UPDATE]" in words_of_page(page), "code stays"
    written = re.findall(r'<details class="written">.*?</details>', page, re.DOTALL)
    assert [re.sub(r"\s+", " ", words_of_page(each).replace("\0", "")).strip() for each in written] == [
        "Day plans: Saturday, 21 November 2026 Intention: Walk slowly Priorities Pack",
        "Life map: Career Career Leading a team.",
    ]
    assert "/files/life-map/career.md" not in page, "the person has no such file"
    assert '<li class="pill"><span dir="auto">Rest</span></li>' in page
    assert 'data-mark="begin-open_day"' in page
    assert 'data-mark="end-session"' in page
    assert "is-pending" not in page


@pytest.mark.django_db
def test_a_file_that_is_still_there_is_linked(
    signed_in: Client, session: Session, exchange: Exchange, keep_file: KeepFile
) -> None:
    keep_file("life-map/career.md", "Text")
    exchange("Hello", OLD, metadata={})
    assert '<a href="/files/life-map/career.md">' in signed_in.get(f"/chat/{session.id}/").content.decode()


@pytest.mark.django_db
def test_an_answer_that_was_tapped_is_the_chosen_one(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("Hello", OLD, metadata={})
    exchange("Work", "Good.")
    page = signed_in.get(f"/chat/{session.id}/").content.decode()
    assert len(re.findall(r'class="pill is-chosen"', page)) == 1
    assert "in your own words" not in page


@pytest.mark.django_db
def test_a_reply_of_today_has_no_calls_in_its_text(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("Hello", OLD)
    page = signed_in.get(f"/chat/{session.id}/").content.decode()
    assert 'class="written"' not in page
    assert 'class="pill"' not in page
    assert "Leading a" in page
    assert not RAW_TAG.search(words_of_page(page, with_code=False))


@pytest.mark.django_db
def test_the_export_holds_what_the_page_shows(session: Session, exchange: Exchange) -> None:
    exchange("Hello", OLD, metadata={})
    text = "".join(write_transcript(session, zone=LISBON))
    assert not RAW_TAG.search(text.replace("```\n[FILE_UPDATE]\n```", ""))
    assert "**Saved to Life map: Career:**\n\n> # Career\n>\n> Leading a *team*.\n" in text
    assert "- [ ] Rest\n- [ ] Work\n" in text
    assert "*— This conversation was completed here. —*" in text


@pytest.mark.django_db
def test_a_search_finds_words_of_old_replies_and_shows_no_tag(
    signed_in: Client, user: User, exchange: Exchange
) -> None:
    exchange("Hello", f"The lighthouse. {OLD}", metadata={})
    hit, *_ = read_passages(search("lighthouse", user_id=user.pk, now=timezone.now()), user_id=user.pk)
    assert "lighthouse" in hit.text
    assert not RAW_TAG.search(hit.text.replace("```\n[FILE_UPDATE]\n```", ""))
    page = words_of_page(signed_in.get("/search/?q=lighthouse").content.decode())
    assert "lighthouse" in page
    assert RAW_TAG.findall(page) == ["[FILE_UPDATE"], "only the one in code"
