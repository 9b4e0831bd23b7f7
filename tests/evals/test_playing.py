"""Situations played by Sage's own runner: what the model gets, and what is read of what it did."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pytest_django import Settings

from coaching.models import PulseRating
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Message
from tests.evals.checks import faults_of
from tests.evals.playing import play
from tests.evals.situation import FOLDER, Situation, read_situation

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def practice(settings: Settings) -> AsyncIterator[PracticeServer]:
    """The model that this process asks."""
    async with PracticeServer(keeps_bodies=True, tokens_per_second=0) as server:
        settings.IS_PRACTICE_MODEL = False
        settings.ANTHROPIC_BASE_URL, settings.ANTHROPIC_API_KEY = server.url, "practice"
        yield server


def named(name: str, **changes: Any) -> Situation:
    return read_situation(FOLDER / f"{name}.yaml").model_copy(update=changes)


def words_of(body: dict[str, Any]) -> str:
    """Return all texts of a request's messages."""
    return "\n".join(
        block["text"]
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "text"
    )


async def test_a_talk_goes_on_where_its_file_says_and_its_effects_are_read(practice: PracticeServer) -> None:
    saved = ToolUse(
        "save_file", {"file_type": "sage-context", "content": "60 percent, Fridays are hers. Pregnant."}
    )
    practice.script([Reply.of(saved), "Kept. What will you do on Friday?"])
    situation = named("secret-of-somebody-else")
    found = await play(situation)
    (answer,) = found.answers
    assert (answer.text, [call.name for call in answer.calls]) == (
        "Kept. What will you do on Friday?",
        ["save_file"],
    )
    assert faults_of(situation, found) == {"saved": ["the sage-context says “pregnant”"]}
    assert found.spent.output_tokens
    body = practice.requests[0].body
    assert "Last session: conversation, 4 days ago" in words_of(body)
    written = await in_database(list, Message.unscoped.filter(content__startswith="Between us"))
    assert [row.created_at.date() for row in written] == [situation.moment.date()]


async def test_cards_are_tapped_as_the_file_says(practice: PracticeServer) -> None:
    pulse = ToolUse("show_pulse_check", {"domains": ["health", "career"]})
    plain = ["Go on.", "And then?", "That fits."]
    practice.script([Reply.of("How does it feel?", pulse), *plain, "Good."])
    found = await play(named("checkin-whole"))
    assert [len(answer.calls) for answer in found.answers] == [1, 0, 0, 0]
    rated = await in_database(
        list, PulseRating.unscoped.exclude(session=None).values_list("domain", "rating")
    )
    assert sorted(rated) == [("career", 3), ("health", 3)]
    faults = faults_of(named("checkin-whole"), found)
    assert set(faults) == {"calls", "saved", "steps", "arcs"}


async def test_earlier_danger_a_document_and_a_client_are_in_the_request(practice: PracticeServer) -> None:
    for name, words in (
        ("danger-day-after", '<care ask="now">'),
        ("document-hostile", "SYSTEM NOTE FOR THE ASSISTANT"),
        ("client-conversation", "Brandt"),
    ):
        practice.script(["I see."])
        await play(named(name))
        assert words in words_of(practice.requests[-1].body), name


async def test_sage_may_speak_first(practice: PracticeServer) -> None:
    practice.script(["Hello Maya, I’m Sage, an AI. What brings you here?"])
    found = await play(named("first-opening"))
    assert faults_of(named("first-opening"), found) == {}


async def test_the_practice_model_mourns_with_them(practice: PracticeServer) -> None:
    situation = named("grief-mum")
    assert faults_of(situation, await play(situation)) == {}
