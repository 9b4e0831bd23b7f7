"""The scripted coach: a newcomer's first conversation, and what it must never get wrong."""

import time
from typing import Any

import orjson
import pytest
from anthropic import AsyncAnthropic
from hypothesis import given, settings
from hypothesis import strategies as st

from coaching.practice.coach.answer import answer
from coaching.practice.coach.listening import domains_in, hear_intent, is_crisis, reflect
from coaching.practice.coach.wording import INTRODUCTION, OFFERS
from coaching.practice.script import Note, Reply, Text, ToolUse
from coaching.tools import CHAT_TOOLS, TOOL_NAMES
from tests.practice.conftest import READ_FILE, SAVE_FILE, assistant, call, request_body, result, text, user

JOB = "I've been feeling stuck in my job and I don't know if I should leave."
SLEEP = "My boss never listens. I'm tired all the time and I sleep badly since we moved."


class Talk:
    """A conversation with the coach through the SDK; saves succeed unless `failure` is set."""

    def __init__(self, client: AsyncAnthropic, *tools: Any) -> None:
        self.client = client
        self.body = request_body(tools=list(tools or [SAVE_FILE]), thinking={"type": "between_tools"})
        self.body["messages"] = []
        self.calls: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.failure = ""
        self.files: dict[str, str] = {}

    async def say(self, words: str) -> str:
        """Say something, run the calls, and return the coach's words."""
        self.calls, self.notes = [], []
        self.body["messages"].append(user(words))
        while True:
            message = await self.client.messages.create(**self.body)
            blocks = [block.model_dump(mode="json", exclude_none=True) for block in message.content]
            self.body["messages"].append(assistant(*blocks))
            self.notes += [block["thinking"] for block in blocks if block["type"] == "thinking"]
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                return "\n".join(block["text"] for block in blocks if block["type"] == "text")
            self.calls += calls
            self.body["messages"].append(user(*map(self._run, calls)))

    def _run(self, block: dict[str, Any]) -> dict[str, Any]:
        values = block["input"]
        if block["name"] == "read_file":
            if values["path"] not in self.files:
                return result(block["id"], "There is no such file.", is_error=True)
            return result(
                block["id"],
                f'<file path="{values["path"]}" version="1">\n{self.files[values["path"]]}</file>',
            )
        if self.failure:
            return result(block["id"], self.failure, is_error=True)
        path = f"life-map/{values['file_name']}.md" if "file_name" in values else "sage/context.md"
        self.files[path] = values["content"]
        answer = {"success": True, "path": path, "bytes": len(values["content"]), "version": 1}
        return result(block["id"], orjson.dumps(answer).decode())


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


@pytest.mark.parametrize(
    "words",
    [
        "I want to die",
        "I’ve been thinking about suicide",
        "sometimes I hurt myself",
        "my husband hits me",
        "I can't go on",
    ],
)
async def test_danger_is_answered_with_real_help_before_anything_else(words: str) -> None:
    body = request_body(JOB, f"Hm. {OFFERS[0]}", f"yes. {words}", tools=[SAVE_FILE])
    reply = answer(body)
    assert "findahelpline.com" in words_of(reply)
    assert "112" in words_of(reply)
    assert not reply.calls


async def test_it_stays_with_danger_for_the_next_answer(client: AsyncAnthropic) -> None:
    talk = Talk(client)
    await talk.say("I don't want to live any more, I want to die")
    assert "Stay close to them" in await talk.say("yes, my sister is here")


@pytest.mark.parametrize(
    "words",
    [
        "I'd kill for a coffee",
        "it hit me that I can't go on holiday",
        "I want to end my lease",
        "my back hurts",
    ],
)
def test_ordinary_words_are_no_danger(words: str) -> None:
    assert not is_crisis(words)


async def test_heavy_hours_get_no_task_and_no_offer() -> None:
    body = request_body(
        JOB, "Hm?", SLEEP, "And?", "I feel hopeless and overwhelmed today.", tools=[SAVE_FILE]
    )
    reply = words_of(answer(body))
    assert "You feel hopeless and overwhelmed today." in reply
    assert not any(offer in reply for offer in OFFERS)


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


INTENTS = [
    ("hi there!", False, "hello"),
    ("Good morning", False, "hello"),
    ("yes", True, "yes"),
    ("sure, go ahead", True, "yes"),
    ("yes", False, "unsure"),
    ("not now", True, "no"),
    ("please don't write that down", True, "no"),
    ("can you write this down?", False, "save"),
    ("save", False, "save"),
    ("Can you save my career and health?", False, "save"),
    ("I write things down every night", False, "tell"),
    ("I try to save money for a house", False, "tell"),
    ("I have to go to the doctor tomorrow", False, "tell"),
    ("I have to go now", False, "goodbye"),
    ("bye!", False, "goodbye"),
    ("thank you so much", False, "thanks"),
    ("continue", False, "continue"),
    ("idk", False, "unsure"),
    ("🙂", False, "unsure"),
]


@pytest.mark.parametrize(("words", "was_offered", "intent"), INTENTS)
def test_it_hears_what_a_message_is(words: str, was_offered: bool, intent: str) -> None:
    assert hear_intent(words, was_offered=was_offered) == intent


REFLECTIONS = [
    ("I can't sleep since we moved.", "You can't sleep since you moved."),
    ("well, I was angry with myself", "You were angry with yourself."),
    ("My mother and I don’t speak.", "Your mother and you don't speak."),
    ("Do you like me?", ""),
    ("What should I do?", ""),
    ("ok", ""),
]


@pytest.mark.parametrize(("words", "reflected"), REFLECTIONS)
def test_words_are_turned_towards_the_user(words: str, reflected: str) -> None:
    assert reflect(words) == reflected


def test_every_life_domain_is_heard() -> None:
    words = "my job, my partner, my sleep, my debts, my studies in French, my painting, fun, purpose"
    assert len(domains_in(words)) == 8


def words_of(reply: Reply) -> str:
    return "\n".join(block.text for block in reply.blocks if isinstance(block, Text))


WORDS = st.one_of(
    st.text(min_size=1, max_size=200),
    st.sampled_from(
        [JOB, SLEEP, "hi", "yes", "no", "save it", "<a>", "bye", "…", "What now?", "write it down: a b c"]
    ),
)


@given(said=st.lists(WORDS, min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_whatever_is_said_it_has_an_answer_that_can_be_sent_back(said: list[str]) -> None:
    body = request_body(tools=[SAVE_FILE, READ_FILE])
    body["messages"] = []
    for words in said:
        body["messages"] += [user("words: " + words), assistant("Hm?")]
        body["messages"][-1] = assistant(
            words_of(answer({**body, "messages": body["messages"][:-1]})) or "Saving."
        )
    for reply in (answer({**body, "messages": body["messages"][:-1]}), answer(body)):
        assert reply.blocks
        assert all(block.text.strip() for block in reply.blocks if isinstance(block, Text | Note))


@pytest.mark.parametrize(
    "words",
    [
        "<a>" * 7000,
        "a" * 20_000,
        "so, " * 5000,
        "I want " * 3000,
        " \n" * 9000 + "x",
        "?!." * 6000,
        "“" * 20_000,
    ],
)
def test_long_strange_messages_are_answered_at_once(words: str) -> None:
    begun = time.perf_counter()
    assert answer(request_body(words, "Hm?", words, "And?", "save it", tools=[SAVE_FILE])).blocks
    assert answer(request_body(words, "Hm?", words, tools=[SAVE_FILE])).blocks
    assert time.perf_counter() - begun < 1.0


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
