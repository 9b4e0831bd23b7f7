"""What the scripted coach takes from any words in an arc."""

import random
import time

import pytest
from anthropic import AsyncAnthropic

from coaching.practice.coach.answer import answer
from coaching.practice.coach.arc_hearing import (
    arc_wanted,
    hear_domains,
    hear_list,
    hear_rating,
    hear_status,
    is_skip,
)
from coaching.practice.coach.file_names import missing_in_words
from coaching.practice.script import Text
from coaching.tools import CHAT_TOOLS
from tests.practice.arc_walks import WALKS
from tests.practice.conftest import assistant, request_body, user
from tests.practice.walking import OPEN, Walk

WORDS = (
    "hi", "yes", "no", "later", "I don't know", "My job is killing me and I miss my friends.", "stop",
    "just save it", "health 2, finances need attention", "who are you?", "go on", "Ich weiß nicht", "bye",
    "I'm overwhelmed", "<b>x</b>", "career, career, career", "thanks", "should I take this job?",
    "close my day", "let's map my life", "🙂", "change",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_comes_each_answer_is_valid_and_says_something(
    client: AsyncAnthropic, seed: int
) -> None:
    chance = random.Random(seed)
    walk = Walk(client, kind=chance.choice([*WALKS, OPEN]))
    for name in ("save_file", "complete_session", "enter_structured_arc", "read_file", "load_skill"):
        if chance.random() < 0.25:
            walk.failures[name] = ["It failed."] * chance.randint(1, 3)
    for _ in range(14):
        if walk.status != "active":
            break
        before = len(walk.calls)
        if walk.pending is not None and walk.pending["name"] == "show_options" and chance.random() < 0.6:
            words = await walk.tap(chance.choice(walk.options()))
        elif (
            walk.pending is not None and walk.pending["name"] == "show_pulse_check" and chance.random() < 0.6
        ):
            words = await walk.rate(career=chance.randint(1, 5), play=chance.randint(1, 5))
        elif walk.pending is not None and chance.random() < 0.3:
            walk.dismiss()
            continue
        else:
            words = await walk.say(chance.choice(WORDS))
        assert words.strip() or walk.pending is not None or len(walk.calls) > before


@pytest.mark.parametrize("arc", WALKS)
@pytest.mark.parametrize(
    "strange",
    [
        "<skill name=" * 1500,
        "later " * 3000,
        " " * 19_000 + "x",
        "no, " * 5000,
        "1. " * 6000,
        "i should i " * 1800,
    ],
)
def test_long_strange_answers_are_taken_at_once(arc: str, strange: str) -> None:
    skill = f'<skill name="{arc.replace("_", "-")}">\n## Goal\n</skill>'
    body = request_body(tools=CHAT_TOOLS.definitions())
    opening = answer({**body, "messages": [user(skill, "hi")]})
    asked = [block.text for block in opening.blocks if isinstance(block, Text)]
    body["messages"] = [user(skill, "hi"), assistant(*asked), user(strange)]
    begun = time.process_time()
    assert answer(body).blocks
    assert time.process_time() - begun < 1.0


WISHES = [
    ("let's do my weekly check-in", "weekly_checkin"),
    ("check-in", "weekly_checkin"),
    ("Can you help me close the day?", "close_day"),
    ("I'd like to plan my day", "open_day"),
    ("map my life", "life_mapping"),
    ("I don't want a check-in today", ""),
    ("My weekly check-in with my boss was awful", ""),
    ("What is a life map?", ""),
    ("I closed the day with a walk", ""),
]


@pytest.mark.parametrize(("words", "arc"), WISHES)
def test_a_wish_for_an_arc_is_heard(words: str, arc: str) -> None:
    assert arc_wanted(words) == arc


def test_a_spoken_list_becomes_short_lines() -> None:
    assert hear_list("First I need to call mum and dad, then finish the report.", 3) == [
        "Call mum and dad",
        "Finish the report",
    ]
    assert hear_list("1. taxes\n2. a walk", 3) == ["Taxes", "A walk"]


def test_only_what_was_said_becomes_an_attribute() -> None:
    assert hear_rating(["health 2 of 5"]) == 2
    assert hear_rating(["I have 3 kids and 2 dogs"]) is None
    assert hear_rating(["up at 5:30"]) is None
    assert hear_status(["it's not good"]) == ""
    assert hear_status(["my job is in crisis"]) == "in_crisis"


def test_an_answer_is_sorted_by_what_was_asked() -> None:
    heard = hear_domains("It drains me. We have enough.", ("career", "finances"))
    assert heard.told == {"career": ["It drains me."], "finances": ["We have enough."]}
    assert hear_domains("both fine", ("health", "learning")).told.keys() == {"health", "learning"}
    assert list(hear_domains("later please", ("health", "learning")).later) == ["health", "learning"]
    assert list(hear_domains("Work is good, the other later", ("career", "finances")).later) == ["finances"]


@pytest.mark.parametrize(
    "words", ["no", "later", "not sure", "I don't know", "hm", "nothing, good night", "let's skip that", "?"]
)
def test_words_that_pass_over_a_question(words: str) -> None:
    assert is_skip(words)


@pytest.mark.parametrize(
    "words", ["No phone before noon", "Joy", "Call the bank later", "don't rush", "calm", "yes"]
)
def test_words_that_answer_a_question(words: str) -> None:
    assert not is_skip(words)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("domains_touched of the daily-log", "the parts of life in the daily log"),
        ("energy of the check-in", "your energy in the check in"),
        ("life-plan", "life plan"),
    ],
)
def test_what_an_arc_lacks_is_named_in_words(missing: str, words: str) -> None:
    assert missing_in_words(missing) == words
