"""The scripted coach: a newcomer's first conversation, and what it must never get wrong."""

import orjson
import pytest
from anthropic import AsyncAnthropic

from coaching.practice.coach.answer import answer
from coaching.practice.coach.wording import INTRODUCTION, OFFERS
from coaching.practice.script import Note, ToolUse
from coaching.tools import CHAT_TOOLS, TOOL_NAMES
from tests.practice.conftest import READ_FILE, SAVE_FILE, assistant, call, request_body, result, text, user
from tests.practice.talks import JOB, SLEEP, Talk, words_of


async def test_a_newcomers_first_conversation(client: AsyncAnthropic) -> None:
    talk = Talk(client)
    greeting = await talk.say("hi")
    assert INTRODUCTION in greeting
    assert "what matters to you most" in greeting

    second = await talk.say(JOB)
    assert "you've been feeling stuck in your job and you don't know if you should leave" in second
    assert INTRODUCTION not in second
    assert second.count("?") == 1

    third = await talk.say(SLEEP)
    assert any(offer in third for offer in OFFERS)

    done = await talk.say("yes please")
    assert [block["name"] for block in talk.calls] == ["save_file", "save_file"]
    assert [block["input"]["file_name"] for block in talk.calls] == ["career", "health"]
    assert talk.notes == ["Writing it down, one file each: career and health."]
    assert "your career page" in done
    assert "your health page" in done
    career = talk.files["life-map/career.md"]
    assert career.startswith("# Career\n")
    assert f"- “{JOB}”" in career
    assert "- “My boss never listens.”" in career
    assert not career.startswith("---")

    farewell = await talk.say("thanks, that's all for today. bye")
    assert "your career page and your health page" in farewell
    assert not talk.calls


async def test_it_never_says_the_same_twice_in_a_long_talk(client: AsyncAnthropic) -> None:
    talk = Talk(client)
    said = [
        await talk.say(words)
        for words in (
            "hello",
            "My sister and I don't talk any more, and it hurts.",
            "no",
            "She moved to Lisbon in spring, I miss our walks along the river.",
            "not sure",
            "I wrote her three letters but never posted one of them.",
            "maybe",
            "Our mother would want us to speak again before her birthday.",
        )
    ]
    questions = [part.strip() for reply in said for part in reply.split("\n\n") if part.endswith("?")]
    assert len(set(questions)) == len(questions)


async def test_asked_to_write_it_down_it_does_so_at_once(client: AsyncAnthropic) -> None:
    talk = Talk(client)
    await talk.say("I want to be a calmer person at home.")
    reply = await talk.say("Write that down please")
    assert [block["input"]["file_type"] for block in talk.calls] == ["sage-context"]
    assert "my notes about you" in reply


async def test_several_life_domains_become_one_call_each_in_one_round(client: AsyncAnthropic) -> None:
    talk = Talk(client)
    await talk.say(
        "My work is fine. I sleep too little. My partner and I talk every evening. The rent eats my savings. "
        "Please save all of that, one file each."
    )
    rounds = [m for m in talk.body["messages"] if m["role"] == "assistant"]
    assert [block["input"]["file_name"] for block in talk.calls] == [
        "career",
        "relationships",
        "health",
        "finances",
    ]
    assert len(rounds) == 2


async def test_a_failed_save_is_said_honestly_and_can_be_tried_again(client: AsyncAnthropic) -> None:
    talk = Talk(client)
    await talk.say(JOB)
    talk.failure = "The storage is not reachable."
    reply = await talk.say("write it down")
    assert "did not get saved" in reply
    assert talk.failure in reply
    assert "Done" not in reply
    assert "life-map" not in reply
    talk.failure = ""
    assert "your career page" in await talk.say("yes")


async def test_a_result_without_a_path_is_never_called_saved(client: AsyncAnthropic) -> None:
    body = request_body(
        messages=[
            user(JOB),
            assistant("Hm?"),
            user("save it"),
            assistant(call("t1")),
            user(result("t1", "ok")),
        ],
        tools=[SAVE_FILE],
    )
    assert "did not get saved" in words_of(answer(body))


async def test_of_many_saves_each_gets_its_own_word() -> None:
    saved = orjson.dumps({"success": True, "path": "life-map/health.md", "bytes": 9, "version": 3}).decode()
    body = request_body(
        messages=[
            user(SLEEP),
            assistant("Hm?"),
            user("save it"),
            assistant(call("t1"), call("t2")),
            user(result("t1", saved), result("t2", "Too long.", is_error=True)),
        ],
        tools=[SAVE_FILE],
    )
    reply = words_of(answer(body))
    assert "your health page, now in version 3" in reply
    assert "One more file did not get saved" in reply
    assert "Too long." in reply


async def test_a_no_to_the_offer_is_respected(client: AsyncAnthropic) -> None:
    talk = Talk(client)
    await talk.say(JOB)
    offered = await talk.say(SLEEP)
    assert any(offer in offered for offer in OFFERS)
    reply = await talk.say("no, rather not")
    assert not talk.calls
    assert not any(offer in reply for offer in OFFERS)
    next_reply = await talk.say("My manager said I could take a week off in December.")
    assert not any(offer in next_reply for offer in OFFERS)


async def test_only_tools_of_the_request_are_called(client: AsyncAnthropic) -> None:
    talk = Talk(client, READ_FILE)
    await talk.say(JOB)
    await talk.say(SLEEP)
    reply = await talk.say("write it down")
    assert not talk.calls
    assert "can't" in reply


async def test_only_types_of_the_tools_own_schema_are_written() -> None:
    tool = {
        "name": "save_file",
        "input_schema": {"type": "object", "properties": {"file_type": {"enum": ["capture"]}}},
    }
    body = request_body(JOB, "Hm?", "write it down", tools=[tool])
    assert [block.input["file_type"] for block in answer(body).calls] == ["capture"]


async def test_a_file_is_read_before_it_is_replaced_and_keeps_what_it_held(client: AsyncAnthropic) -> None:
    first = Talk(client, SAVE_FILE, READ_FILE)
    await first.say("My office is loud and I can't think there.")
    await first.say("write it down")
    assert [block["name"] for block in first.calls] == ["read_file", "save_file"]
    assert len(first.notes) == 2

    second = Talk(client, SAVE_FILE, READ_FILE)
    second.files = {"life-map/career.md": "---\ntype: domain\n---\n" + first.files["life-map/career.md"]}
    await second.say(JOB)
    await second.say("write it down")
    career = second.files["life-map/career.md"]
    assert career.index("My office is loud") < career.index("stuck in my job")
    assert career.count("# Career") == 1


async def test_another_hands_words_stay_in_the_file(client: AsyncAnthropic) -> None:
    talk = Talk(client, SAVE_FILE, READ_FILE)
    talk.files = {"life-map/career.md": "---\ntype: domain\n---\n# My work\n\nI like it.\n"}
    await talk.say(JOB)
    await talk.say("write it down")
    await talk.say("write it down")
    assert talk.files["life-map/career.md"].count("# My work\n\nI like it.") == 1


@pytest.mark.parametrize("question", ["who are you?", "Are you a real person?", "what can you do?", "help"])
async def test_it_says_what_it_is_when_asked(question: str) -> None:
    reply = words_of(answer(request_body("hi", "Hello.", question, tools=[SAVE_FILE])))
    assert "practice coach" in reply
    assert "script" in reply


async def test_another_language_is_met_with_honesty() -> None:
    assert "only English" in words_of(
        answer(request_body("Ich weiß gerade nicht mehr weiter, alles dreht sich"))
    )


async def test_sections_that_the_application_adds_are_not_the_users_words() -> None:
    added = '<opening date="2026-11-21">\nCareer: in crisis. Save it.\n</opening>'
    body = request_body(messages=[user(text(added), text("hi"))], tools=[SAVE_FILE])
    reply = answer(body)
    assert INTRODUCTION in words_of(reply)
    assert "crisis" not in words_of(reply)
    assert not reply.calls


async def test_the_same_request_always_gets_the_same_answer() -> None:
    body = request_body("hi", "Hello.", JOB, tools=[SAVE_FILE])
    assert answer(body) == answer(body)


async def test_between_calls_it_leaves_a_note() -> None:
    reply = answer(request_body(JOB, "Hm?", "save it", tools=[SAVE_FILE]))
    assert isinstance(reply.blocks[0], Note)
    assert isinstance(reply.blocks[1], ToolUse)


WISHES = (
    "Good morning",
    "Let's plan my day",
    "Let us close the day",
    "Shall we do the weekly check-in?",
    "Draw my life map",
    "Should I take the job or stay?",
    "Why do I always end up alone?",
    "Do you remember what I said about the cello?",
    "Remind me to call the bank",
    "What is on my to-do list?",
    "Look closely at my health",
    "Go through my captures",
    JOB,
    SLEEP,
    "Please save that",
    "yes",
    "I don't want to live any more",
    "Goodbye",
)


@pytest.mark.parametrize(
    "offered", [{"load_skill"}, {"show_options"}, {"save_file"}, {"read_file"}, set(), TOOL_NAMES]
)
def test_the_coach_calls_no_tool_that_the_request_does_not_offer(offered: frozenset[str]) -> None:
    tools = [tool for tool in CHAT_TOOLS.definitions() if tool["name"] in offered]
    body = request_body(tools=tools, messages=[])
    called: set[str] = set()
    for wish in WISHES:
        body["messages"].append(user(wish))
        reply = answer(body)
        called |= {made.name for made in reply.calls}
        body["messages"].append(assistant(text("Mm-hm.")))
    assert called <= offered
    assert called or offered != TOOL_NAMES
