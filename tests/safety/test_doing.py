"""“I'll do it tonight” agrees to what Sage has asked about, unless that is harm."""

import pytest

from coaching.safety.danger import find_danger
from coaching.safety.doing import agrees_to_do

PROPOSED = "You could call the bank first, since the rest depends on it. Shall I note that for you?"


@pytest.mark.parametrize(
    "words",
    [
        "I'll do it tonight",
        "ok whatever, I'll do it tonight",
        "Good idea. I’ll do it tomorrow after work, promise",
        "Yes, I will do it tomorrow morning.",
        "im going to do it later today",
        "Thanks, I'm doing it tomorrow",
        "Sure, I'll do it tonight at 8 pm",
    ],
)
def test_it_agrees_to_a_harmless_proposal(words: str) -> None:
    assert agrees_to_do(words, asked=PROPOSED)


@pytest.mark.parametrize(
    "words",
    [
        "I'm doing it now",
        "I'll do it tonight. Goodbye.",
        "I'll do it tonight when everybody is asleep",
        "I'm going to do it tonight, I have everything ready",
        "I'll do it tonight and then it's over",
        "I can't any more, I'll do it tonight",
        "I'll do it tonight, tell my brother that I love him",
    ],
)
def test_with_anything_else_in_it_the_words_themselves_count(words: str) -> None:
    assert not agrees_to_do(words, asked=PROPOSED)


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "Tell me more.",
        "How are you tonight?",
        "Are you thinking of ending your life?",
        "Do you feel safe tonight?",
        "I'm worried: you said that you want to die. What is it that you plan?",
        "Have you got a plan? You can tell me.",
        "I hear how tired you are. Do you want to tell me more about it?",
        "You mentioned the bridge. Could you stay away from it?",
        "Is there a knife in the room? Could you move away from it?",
        "You said the pills are in your drawer. Could you put them somewhere else?",
        "You say nobody would miss you. How about calling a friend?",
        "I'm worried about you. Could you promise me to call somebody?",
        "What's your plan?",
        "Did you sleep at all?",
        "You could call the bank first. But what's on your mind tonight?",
        "Are you thinking about ending your life?"
        + " I'm here." * 200
        + " What about a small next step: a shower?",
    ],
)
def test_it_agrees_to_nothing_where_sage_has_asked_nothing_or_about_harm(asked: str) -> None:
    assert find_danger("I'll do it tonight") is not None
    assert not agrees_to_do("I'll do it tonight", asked=asked)
