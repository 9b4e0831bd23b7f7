"""What the scripted coach hears in any words, and how it answers danger."""

import time

import pytest
from anthropic import AsyncAnthropic
from hypothesis import given, settings
from hypothesis import strategies as st

from coaching.practice.coach.answer import answer
from coaching.practice.coach.listening import domains_in, hear_intent, is_crisis, reflect
from coaching.practice.coach.wording import OFFERS
from coaching.practice.script import Note, Text
from tests.practice.conftest import READ_FILE, SAVE_FILE, assistant, request_body, user
from tests.practice.talks import JOB, SLEEP, Talk, words_of


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
    begun = time.process_time()
    assert answer(request_body(words, "Hm?", words, "And?", "save it", tools=[SAVE_FILE])).blocks
    assert answer(request_body(words, "Hm?", words, tools=[SAVE_FILE])).blocks
    assert time.process_time() - begun < 1.0
