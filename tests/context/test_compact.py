"""Conversations with a model whose context is small: all that is sent fits, with what matters most."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.context.budget import count_json_tokens
from coaching.context.sizes import COMPACT_STEP
from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.messages import canonical_json
from coaching.model_client.context_size import context_tokens_of
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.tools import COMPACT_TOOLS
from sessions_app.database import in_database
from sessions_app.models import SessionKind, TurnStatus
from sessions_app.session_services import open_session
from tests.context.conftest import Talk, put_file, text_blocks

pytestmark = pytest.mark.django_db(transaction=True)

CONTEXT = 8_192
MOST = CONTEXT + 50
"""The client estimates in another way."""
LONG = " ".join(f"On day {number} I thought about work and slept badly again." for number in range(300))
DANGER = "I can't go on. I want to kill myself tonight."


@pytest.fixture(autouse=True)
def small_context(settings: Settings) -> None:
    settings.SAGE_CONTEXT_TOKENS = CONTEXT


@pytest.fixture
async def client(practice: PracticeServer) -> AsyncIterator[AnthropicClient]:
    """The client as the product opens it."""
    async with AnthropicClient("practice", practice.url, context_of=context_tokens_of) as client:
        yield client


def tokens_of(body: dict[str, Any]) -> int:
    """Estimate a request and the longest reply to it."""
    prompt = [body["system"], body["tools"], body["messages"]]
    return count_json_tokens(canonical_json(prompt)) + int(body["max_tokens"])


def words_of(body: dict[str, Any]) -> str:
    return text_blocks(body)[-1]


async def test_three_thousand_words_are_answered_and_stored_whole(talk: Talk) -> None:
    assert len(LONG.split()) >= 3_000
    talk.practice.script(["I read it.", "Go on."])
    done = await talk.say(LONG)
    assert (done.status, done.text) == (TurnStatus.COMPLETED, "I read it.")
    assert (await talk.newest_message()).content == LONG
    body = talk.bodies[-1]
    assert tokens_of(body) <= MOST
    assert body["max_tokens"] >= 500
    assert words_of(body).startswith("On day 0 ")
    assert words_of(body).endswith("On day 299 I thought about work and slept badly again.")
    assert "characters of this message are left out here]" in words_of(body)
    assert len(words_of(body)) > len(LONG) / 3
    await talk.say("And now?")
    assert "On day 299 " in json.dumps(talk.bodies[-1]["messages"])
    assert tokens_of(talk.bodies[-1]) <= MOST


async def test_danger_in_the_middle_of_a_long_message_is_sent(talk: Talk) -> None:
    before, after = LONG[: len(LONG) // 2], LONG[len(LONG) // 2 :]
    talk.practice.script(["I read it.", "I am here."])
    await talk.say(f"{before}. {DANGER} {after}")
    assert "I want to kill myself tonight" in words_of(talk.bodies[-1])
    assert tokens_of(talk.bodies[-1]) <= MOST
    await talk.say("And now?")
    assert "I want to kill myself tonight" in json.dumps(talk.bodies[-1]["messages"])


async def test_a_long_conversation_keeps_to_a_window_of_seven_and_to_the_context(talk: Talk) -> None:
    talk.practice.script(["I see. " * 40] * 14)
    for number in range(14):
        await talk.say(f"Message {number}. " + "The week was long and work was loud. " * 12)
        assert tokens_of(talk.bodies[-1]) <= MOST
        await talk.remember()
    assert len(talk.bodies[-1]["messages"]) <= 7 + COMPACT_STEP
    assert "Message 10." in json.dumps(talk.bodies[-1]["messages"])


async def test_what_steadies_somebody_in_danger_arrives_whatever_else_is_there(
    talk: Talk, person: User
) -> None:
    for path in ("sage/context.md", "sage/patterns.md", "life-map/_overview.md", "life-plan/current.md"):
        await in_database(put_file, person, path, LONG)
    talk.practice.script(["I see. " * 40] * 5)
    for number in range(4):
        await talk.say(f"Message {number}. " + LONG[:6_000])
    await talk.say(f"{LONG[:6_000]} {DANGER}")
    said = json.dumps(talk.bodies[-1]["messages"])
    assert '<skill name=\\"crisis-support\\">' in said
    assert "<help_lines" in said
    assert "kill myself tonight" in said
    assert talk.bodies[-1]["max_tokens"] >= 256


async def test_a_message_that_is_too_long_by_itself_is_halved(talk: Talk) -> None:
    talk.practice.script(["It fits."])
    talk.practice.faults.push(Fault(kind="context_window_exceeded"))
    done = await talk.say(LONG)
    assert (done.status, done.text) == (TurnStatus.COMPLETED, "It fits.")
    whole, half = (words_of(body) for body in talk.bodies[-2:])
    assert 0.4 < len(half) / len(whole) < 0.6
    assert half.endswith("slept badly again.")


async def test_a_long_file_comes_back_in_part_and_leaves_room_for_an_answer(talk: Talk, person: User) -> None:
    await in_database(put_file, person, "life-map/career.md", LONG)
    read = ToolUse("read_file", {"path": "life-map/career.md"})
    talk.practice.script([Reply((Text("I look."), read)), "There it is."])
    done = await talk.say("What does my career page say?")
    assert done.text.endswith("There it is.")
    body = talk.bodies[-1]
    [result] = [block for block in body["messages"][-1]["content"] if block["type"] == "tool_result"]
    assert len(result["content"]) < CONTEXT // 2
    assert "excerpt of the result of read_file" in result["content"]
    assert tokens_of(body) <= MOST


async def test_each_message_tells_its_day_however_little_room_there_is(talk: Talk, person: User) -> None:
    for path in ("sage/context.md", "sage/patterns.md", "life-map/_overview.md", "life-plan/current.md"):
        await in_database(put_file, person, path, LONG)
    talk.practice.script(["I see."] * 6)
    with time_machine.travel("2026-11-18T09:00Z", tick=True) as clock:
        for number in range(6):
            await in_database(put_file, person, "life-plan/current.md", f"Change {number}. {LONG}")
            await talk.say("Hello")
            newest = talk.bodies[-1]["messages"][-1]["content"][-2]["text"]
            assert f", {9 + number:02}:0" in newest
            assert tokens_of(talk.bodies[-1]) <= MOST
            clock.shift(3_600)


async def test_a_tool_that_is_not_offered_does_not_run(talk: Talk) -> None:
    talk.practice.script([Reply.of(ToolUse("load_skill", {"name": "letting-go"})), "I can't."])
    done = await talk.say("Hello")
    assert done.text == "I can't."
    (result,) = talk.bodies[-1]["messages"][-1]["content"]
    assert result["is_error"]
    assert "There is no tool of that name" in result["content"]
    assert "read_file" in result["content"]
    assert "load_skill" not in result["content"]


async def test_a_check_in_gets_its_rating_without_the_tool_for_it(talk: Talk) -> None:
    session = await in_database(open_session, user_id=talk.session.user_id, kind=SessionKind.WEEKLY_CHECKIN)
    talk.session = session
    page = {"file_type": "domain", "file_name": "career", "content": "# Work\n\nLoud."}
    talk.practice.script(
        [
            Reply.of(ToolUse("complete_session", {"type": "arc"})),
            Reply.of(ToolUse("save_file", {**page, "attributes": {"updated_rating": 2}})),
            Reply.of(ToolUse("complete_session", {"type": "arc"})),
            "Done.",
        ]
    )
    await talk.say("A two, for work.")
    assert "the domain's `updated_rating`" in json.dumps(talk.bodies[0]["messages"])
    assert "show_pulse_check" not in json.dumps(talk.bodies)
    lacking, _, done = (body["messages"][-1]["content"][0]["content"] for body in talk.bodies[1:])
    assert "pulse (updated_rating of a domain)" in lacking
    assert "pulse" not in done


async def test_eight_tools_are_offered_and_no_arc(talk: Talk) -> None:
    talk.practice.script(["Good morning."])
    await talk.say("Good morning.")
    body = talk.bodies[-1]
    assert {tool["name"] for tool in body["tools"]} == set(COMPACT_TOOLS.names())
    assert len(body["tools"]) == 8
    assert "<offer" not in json.dumps(body["messages"])
    assert "## Arcs and Approaches" not in body["system"][0]["text"]
