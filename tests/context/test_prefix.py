"""Repeated content is sent byte for byte, measured by the practice model's cache."""

import json
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.events import TurnDone
from coaching.practice.script import Reply, Text, ToolUse
from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, Session
from tests.context.conftest import Talk, put_file, text_blocks

pytestmark = pytest.mark.django_db(transaction=True)

MORNING = "2026-11-18T08:00:00+00:00"
WORDS = "I keep thinking about the new job, the long way there, and the evenings with the children. " * 3


def save(name: str, text: str = "# Page\n\nWhat was said. " * 20) -> ToolUse:
    return ToolUse("save_file", {"file_type": "domain", "file_name": name, "content": text})


def bare(value: Any) -> Any:
    """Return a request's part without its cache markers."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if key != "cache_control"}
    return [bare(item) for item in value] if isinstance(value, list) else value


def units(body: dict[str, Any]) -> list[str]:
    """Return a request as the sequence of its prefix's blocks, as sent."""
    parts = [*(["tool", tool] for tool in body["tools"]), *(["system", block] for block in body["system"])]
    parts += [[m["role"], block] for m in body["messages"] for block in m["content"]]
    return [json.dumps(bare(part)) for part in parts]


def shared(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Return how many blocks two requests have in common from their start."""
    pairs = zip(units(before), units(after), strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), len(units(before)))


def until_last_words(body: dict[str, Any]) -> int:
    """Return how many blocks there are up to the newest words of the user."""
    texts = [json.dumps(bare(["user", {"type": "text", "text": text}])) for text in text_blocks(body)]
    sent = units(body)
    return len(sent) - sent[::-1].index(texts[-1])


def firsts_of_turns(talk: Talk, ends: list[int]) -> list[dict[str, Any]]:
    """Return each turn's first request; `ends` counts the requests after each turn."""
    return [talk.bodies[start] for start in [0, *ends[:-1]]]


async def walk(talk: Talk, turns: int, *, minutes: int = 2) -> list[int]:
    """Talk for some turns, with files saved, an arc entered and completed, and time passing."""
    replies: dict[int, list[Reply | str]] = {
        3: [Reply.of(Text("I'll keep that."), save("career"), save("health")), "Kept."],
        6: [Reply.of(ToolUse("enter_structured_arc", {"arc": "open_day"})), "What matters today?"],
        8: [
            Reply.of(
                ToolUse(
                    "save_file",
                    {
                        "file_type": "day-plan", "content": "Slowly.",
                        "attributes": {"intention": "Slowly", "priorities": ["Rest"]},
                    },
                )
            ),
            Reply.of(ToolUse("complete_session", {"type": "arc"})),
            "A good day to you.",
        ],
        12: [Reply.of(*[ToolUse("read_file", {"path": "life-map/career.md"})] * 12), "I've looked."],
    }  # fmt: skip
    ends: list[int] = []
    with time_machine.travel(MORNING, tick=True) as clock:
        for number in range(turns):
            talk.practice.script(replies.get(number, [f"I hear you, number {number}. " + WORDS]))
            done: TurnDone = await talk.say(f"Message {number}. {WORDS}")
            assert done.status == "completed", talk.practice.requests[-1].error
            ends.append(len(talk.bodies))
            await talk.remember()
            clock.shift(timedelta(minutes=minutes))
    return ends


async def seed_life(person: User) -> None:
    for path, body in (
        ("sage/context.md", "Ada is a nurse. " * 30),
        ("life-map/_overview.md", "Work is heavy, home is light. " * 30),
        ("life-plan/current.md", "A day job by summer. " * 30),
        ("daily-logs/2026-11-16.md", "A slow day. " * 20),
        ("daily-logs/2026-11-17.md", "A fast day. " * 20),
    ):
        await in_database(put_file, person, path, body)


@pytest.mark.slow
async def test_over_twenty_turns_with_an_arc_nine_tenths_are_read_from_the_cache(
    talk: Talk, person: User
) -> None:
    await seed_life(person)
    ends = await walk(talk, 20)
    sent, read = 0, 0
    for request in talk.practice.requests[ends[0] :]:
        usage = request.usage
        read += usage["cache_read_input_tokens"]
        sent += (
            usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"] + usage["input_tokens"]
        )
    assert read / sent >= 0.9, f"{read / sent:.1%}"

    # The same conversation has every exception: changes come after the previous turn's message, unless the
    # window moved.
    firsts = firsts_of_turns(talk, ends)
    moved = [
        number
        for number, (before, after) in enumerate(pairwise(firsts), start=1)
        if shared(before, after) < until_last_words(before)
    ]
    session = await in_database(Session.unscoped.get)
    edges = {message.number for message in await in_database(list, session.messages.all())}
    assert json.loads(session.opening)["edge"] in edges
    assert moved == [17], "the edge moves once, by twenty messages, with the 35th"
    frame = len(talk.bodies[0]["tools"]) + 1
    assert all(shared(talk.bodies[0], body) >= frame for body in talk.bodies[: ends[16]])


async def test_within_a_part_requests_only_grow(talk: Talk, person: User) -> None:
    talk.practice.script([Reply.of(save("career")), Reply.of(save("health")), "Done."])
    await talk.say("Write it down")
    for before, after in pairwise(talk.bodies):
        assert shared(before, after) == len(units(before))


async def test_a_long_result_is_sent_as_the_same_excerpt_ever_after_and_can_be_read_on(
    talk: Talk, person: User
) -> None:
    lines = "".join(f"Line {number} of many.\n" for number in range(1_000))
    await in_database(put_file, person, "sage/context.md", lines)
    talk.practice.script(
        [
            Reply.of(ToolUse("read_file", {"path": "sage/context.md"}, id="toolu_long")),
            "Read.",
            "Two.",
            Reply.of(ToolUse("read_result", {"tool_use_id": "toolu_long", "offset": 8_000}, id="toolu_rest")),
            "Found.",
            "Four.",
        ]
    )
    for text in ("Read it", "And?", "What stands in the middle?", "Thanks"):
        await talk.say(text)
    results = [
        {
            block["tool_use_id"]: block["content"]
            for message in body["messages"]
            for block in message["content"]
            if block["type"] == "tool_result"
        }
        for body in talk.bodies
    ]
    assert "Line 500 of many." in results[1]["toolu_long"]
    excerpts = {found["toolu_long"] for found in results[2:]}
    assert len(excerpts) == 1
    assert "Line 500 of many." not in excerpts.pop()
    assert "Line 500 of many." in results[4]["toolu_rest"]
    assert results[5]["toolu_rest"] == results[4]["toolu_rest"], "a passage is never sent as an excerpt"
    for before, after in pairwise(talk.bodies[2:]):
        assert shared(before, after) >= until_last_words(before)


async def test_with_a_small_context_a_long_result_can_be_read_on_in_its_own_turn(
    talk: Talk, person: User, settings: Settings
) -> None:
    settings.SAGE_CONTEXT_TOKENS = 20_000
    lines = "".join(f"Line {number} of many.\n" for number in range(1_000))
    await in_database(put_file, person, "sage/context.md", lines)
    talk.practice.script(
        [
            Reply.of(ToolUse("read_file", {"path": "sage/context.md"}, id="toolu_long")),
            Reply.of(ToolUse("read_result", {"tool_use_id": "toolu_long", "offset": 8_000}, id="toolu_rest")),
            "Found.",
        ]
    )
    done = await talk.say("Read it")
    assert done.text == "Found."
    first, rest = (body["messages"][-1]["content"][0]["content"] for body in talk.bodies[1:])
    assert first.startswith("[excerpt of the result of read_file toolu_long: ")
    assert "Line 500 of many." not in first
    assert rest.startswith('<passage from="8000"')
    assert "Line 500 of many." in rest


async def test_what_changed_is_said_once_in_the_newest_message_and_sent_again_exactly_so(
    talk: Talk, person: User
) -> None:
    await seed_life(person)
    with time_machine.travel(MORNING, tick=True) as clock:
        talk.practice.script(["One.", "Two.", "Three.", "Four."])
        await talk.say("Hello")
        await in_database(put_file, person, "sage/context.md", "Ada has a new job.")
        await talk.say("News")
        await talk.say("And more")
        clock.shift(timedelta(minutes=31))
        await talk.say("Later")
    texts = [text_blocks(body) for body in talk.bodies]
    assert "Ada is a nurse" in texts[0][0]
    assert [text for text in texts[1] if "new job" in text] == [texts[1][-2]]
    assert texts[1][-2].startswith("<sage_context ")
    assert texts[2][: len(texts[1])] == texts[1]
    assert len(texts[2]) == len(texts[1]) + 1, "nothing is said twice"
    assert texts[3][-2].startswith("<session_context>")
    assert "08:31" in texts[3][-2]
    stored = await in_database(lambda: Message.unscoped.get(number=3).metadata["context"])
    assert stored == texts[1][-2]


async def test_a_section_that_is_no_more_is_said_to_be_gone(talk: Talk, person: User) -> None:
    file = await in_database(put_file, person, "life-plan/weekly.md", "Three calm evenings.")
    talk.practice.script(["One.", "Two.", "Three."])
    await talk.say("Hello")
    await in_database(file.delete)
    await talk.say("And now?")
    await talk.say("Still?")
    assert text_blocks(talk.bodies[1])[-2] == "<weekly_plan>\n[there is none any more]\n</weekly_plan>"
    assert len(text_blocks(talk.bodies[2])) == len(text_blocks(talk.bodies[1])) + 1


async def test_an_edited_message_changes_nothing_before_it(talk: Talk, person: User) -> None:
    await seed_life(person)
    talk.practice.script(["One.", "Two.", "Other."])
    await talk.say("Hello")
    await talk.say("About my health")
    await talk.edit("About my work")
    before, after = talk.bodies[1], talk.bodies[2]
    assert shared(before, after) == until_last_words(before) - 1
    assert shared(talk.bodies[0], after) == until_last_words(talk.bodies[0])


async def test_cache_markers_are_where_the_cache_expects_them(talk: Talk, person: User) -> None:
    await seed_life(person)
    talk.practice.script(["One.", "Two."])
    await talk.say("Hello")
    await talk.say("More")
    body = talk.bodies[1]
    marked = [
        (message["role"], number, block["cache_control"].get("ttl", "5m"))
        for number, message in enumerate(body["messages"])
        for block in message["content"]
        if "cache_control" in block
    ]
    assert body["system"][-1]["cache_control"]["ttl"] == "1h"
    assert marked == [("user", 0, "1h"), ("user", 2, "5m")]
    assert body["cache_control"] == {"type": "ephemeral"}


async def test_a_moved_edge_rebuilds_the_opening_with_what_holds_then(talk: Talk, person: User) -> None:
    await seed_life(person)

    def fill() -> None:
        for number in range(1, 35):
            turn = talk.session.turns.create(status="completed", ended_at="2026-11-18T08:00Z")
            role = MessageRole.USER if number % 2 else MessageRole.ASSISTANT
            talk.session.messages.create(turn=turn, number=number, role=role, content=f"Word {number}")
        talk.session.last_message_number = 34
        talk.session.save()

    talk.practice.script(["One.", "Two."])
    await in_database(fill)
    await talk.say("Hello")
    await in_database(put_file, person, "sage/context.md", "Ada has a new job.")
    await talk.say("Again")
    first, second = (text_blocks(body) for body in talk.bodies)
    assert first[2] == "Word 21"
    assert "Ada is a nurse" in first[0]
    assert first[1].startswith("<brief>\n[The brief isn't up to date: messages 1 to 20 are neither")
    assert second[0] == first[0], "an opening stays while the edge does"
    assert "new job" in second[-2]
