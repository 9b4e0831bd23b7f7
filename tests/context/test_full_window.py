"""A request that exceeds the model's window is retried once with half of the messages."""

import json
from dataclasses import replace
from typing import Any

import pytest

from coaching.practice.faults.fault import Fault
from coaching.practice.script import Reply, Text, ToolUse
from coaching.turns.request import TurnRequest
from coaching.turns.resume import load_setup, shrink_turn
from coaching.turns.start import start_turn
from sessions_app.database import in_database
from sessions_app.errors import StaleFence
from sessions_app.models import TurnStatus
from sessions_app.turn_locks import TurnKey
from tests.context.conftest import NO_LIMIT, Talk, text_blocks

pytestmark = pytest.mark.django_db(transaction=True)

FULL = Fault(kind="context_window_exceeded")
WORDS = "I keep thinking about the new job and the long way there. "


def said(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"])


async def talked(talk: Talk) -> None:
    talk.practice.script([f"Answer {number}." for number in range(6)])
    for number in range(6):
        await talk.say(f"Message {number}. {WORDS * 20}")


async def test_a_full_window_is_halved_and_asked_again_and_stays_so(talk: Talk) -> None:
    await talked(talk)
    talk.practice.script(["It fits."])
    talk.practice.faults.push(FULL)
    done = await talk.say("And now?")
    assert (done.status, done.text) == (TurnStatus.COMPLETED, "It fits.")
    full, smaller = talk.bodies[-2:]
    assert all(f"Message {number}." in said(full) for number in range(6))
    assert "Message 0." not in said(smaller)
    assert "Message 5." in said(smaller)
    assert "And now?" in said(smaller)
    assert smaller["system"] == full["system"]
    talk.practice.script(["Still here."])
    await talk.say("Are you there?")
    assert "Message 0." not in said(talk.bodies[-1])
    assert talk.bodies[-1]["messages"][0] == smaller["messages"][0]


async def test_a_window_that_is_full_in_a_later_round_keeps_the_round_and_drops_its_thinking(
    talk: Talk,
) -> None:
    await talked(talk)
    save = ToolUse("save_file", {"file_type": "sage-context", "content": "A nurse."})
    talk.practice.script([Reply((Text("I write it down."), save)), "It is written."])
    talk.practice.faults.push(Fault(kind="context_window_exceeded", skip=1))
    done = await talk.say("Write down that I am a nurse.")
    assert done.status == TurnStatus.COMPLETED
    assert done.text.endswith("It is written.")
    smaller = talk.bodies[-1]["messages"]
    kinds = [block["type"] for message in smaller[-2:] for block in message["content"]]
    assert "Message 0." not in json.dumps(smaller)
    assert "thinking" not in kinds
    assert kinds[-2:] == ["tool_use", "tool_result"]


async def test_whoever_goes_on_with_a_shrunk_turn_sends_the_same_request(talk: Talk) -> None:
    await talked(talk)
    started = await in_database(
        start_turn,
        TurnRequest(
            kind="message",
            user_id=talk.session.user_id,
            session_id=talk.session.id,
            text="And now?",
            client_id=None,
        ),
        owner="test",
        rate_limit=NO_LIMIT,
    )
    key = TurnKey(turn_id=started.opened.turn.id, fence=started.opened.turn.fence)
    smaller = await in_database(shrink_turn, key)
    assert smaller is not None
    assert started.setup is not None
    assert len(smaller.messages) < len(started.setup.request.messages)
    assert (await in_database(load_setup, key)).request == smaller
    with pytest.raises(StaleFence):
        await in_database(shrink_turn, replace(key, fence=key.fence + 1))


async def test_a_first_message_that_is_too_much_by_itself_is_said_to_be(talk: Talk) -> None:
    talk.practice.script(["Too much."])
    talk.practice.faults.push(FULL)
    done = await talk.say("Hello")
    assert done.stop_reason == "model_context_window_exceeded"
    assert len(talk.bodies) == 1


async def test_one_long_message_shrinks_with_each_try_until_it_fits(talk: Talk) -> None:
    await talked(talk)
    talk.practice.script(["It fits."])
    talk.practice.faults.push(replace(FULL, times=3))
    long = WORDS * 340
    done = await talk.say(long)
    assert done.stop_reason == "model_context_window_exceeded"
    whole, half = (text_blocks(body)[-1] for body in talk.bodies[-2:])
    assert "Message 0." not in said(talk.bodies[-1])
    assert len(half) < len(whole) * 0.8, "the messages before it are too few to make up half"
    done = await talk.say(long)
    assert done.text == "It fits."
    again, smaller = talk.bodies[-2:]
    assert len(text_blocks(again)[-1]) == len(half)
    assert len(said(smaller)) < len(said(again)) * 0.7
