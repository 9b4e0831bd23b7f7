"""A turn part's limits, as a socket client sees them."""

import pytest

from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.live_sage import LiveSage, open_socket, text_of

pytestmark = pytest.mark.django_db(transaction=True)

READ = ToolUse("read_file", {"path": "life-map/career.md"})
ASK = ToolUse("show_options", {"prompt": "Which?", "options": [{"label": "This"}, {"label": "That"}]})


def save(number: int) -> ToolUse:
    return ToolUse("save_file", {"file_type": "capture", "content": f"Thought {number}."})


def results_of(practice: PracticeServer, request: int) -> list[dict[str, object]]:
    last = practice.requests[request].body["messages"][-1]
    return [block for block in last["content"] if block["type"] == "tool_result"]


async def test_fifteen_calls_run_in_a_part_and_the_sixteenth_is_refused(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(*[save(number) for number in range(16)]), "Fifteen are saved."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="Save them all")
        frames = await client.until("done")
    results = results_of(practice, 1)
    assert [bool(result.get("is_error")) for result in results] == [False] * 15 + [True]
    assert "used up its tool calls" in str(results[-1]["content"])
    assert sum("toolCall" in frame for frame in frames) == 15
    assert practice.requests[1].body["tool_choice"] == {"type": "none"}


async def test_the_fifth_round_is_asked_for_words_and_ends_the_turn_in_words(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([*[Reply.of(save(number)) for number in range(4)], "That is all I could do for now."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="Go on and on")
        frames = await client.until("done")
    assert len(practice.requests) == 5
    choices = [request.body.get("tool_choice") for request in practice.requests]
    assert choices == [None, None, None, None, {"type": "none"}]
    assert text_of(frames) == "That is all I could do for now."
    assert frames[-1]["done"]["stopReason"] == "end_turn"


async def test_two_rounds_in_a_row_in_which_every_call_failed_end_the_turn_with_a_sentence(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(READ), Reply.of(READ, READ), "Never asked for."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="Read what isn't there")
        frames = await client.until("done")
    assert len(practice.requests) == 2
    assert [frame["error"] for frame in frames if "error" in frame] == [
        "I couldn’t get that done: what I tried kept failing. Try again, or put it differently."
    ]


async def test_an_answer_starts_a_fresh_part(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    first = [Reply.of(*[save(number) for number in range(14)]), Reply.of(Text("One thing first."), ASK)]
    more = Reply.of(*[save(number) for number in range(14, 29)])
    second: list[Reply | str] = [more, "All of them are saved."]
    practice.script([*first, *second])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="Save, ask, save")
        asked = await client.until("done")
        tool_use_id = next(frame["showOptions"]["toolUseId"] for frame in asked if "showOptions" in frame)
        await client.send(type="answer", toolUseId=tool_use_id, value="This")
        frames = await client.until("done")
    assert sum("toolCall" in frame for frame in frames) == 15
    assert not any(result.get("is_error") for result in results_of(practice, 3))
    assert frames[-1]["done"]["stopReason"] == "end_turn"
