"""A plain no ends the tour's question about harm, with why it asked; comfort and plain worries bring none."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.hearing import danger_heard
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

SUGGESTS = "I've written the letters. I'm scared I can't do it"
WORRY = (
    "i guess i'm scared they'd be dissapointed. "
    "they wouldn't shout or anything, just go quiet, which is worse"
)
RUBBISH = (
    "i know the money's real. the fear is mostly that i'd be rubbish at it, which.. i wasn't last time either"
)
HELP = ("help_maybe", "help_first", "help_concern")


def begun(http: Http, language: str = "en") -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))


@pytest.mark.parametrize(
    "words",
    [
        "What? no, not at all, I was talking about my sister coming over. why would you ask that",
        "no, I meant the sofa. Why do you ask?",
        "What? No! I was only talking about my exam",
        "Was? Nein, ich habe von meiner Schwester geredet. Warum fragst du?",
        "¿Qué? No, hablaba de mi hermana. ¿Por qué lo preguntas?",
    ],
)
async def test_a_no_with_an_explanation_ends_it_and_hears_why(http: Http, words: str) -> None:
    walk = begun(http)
    assert texts.said("help_maybe") in await walk.say(SUGGESTS)
    reply = await walk.say(words)
    assert any(why in reply for why in texts.in_all("why_asked"))
    assert not any(texts.stands_in(name, reply) for name in HELP)


@pytest.mark.parametrize(
    "words",
    [
        "What? No, I was talking about it being over",
        "No, but sometimes I do. why do you ask",
        "No. I mean I don't want to be here",
        "What? No, I was talking about the pills",
        "why would you ask that",
    ],
)
async def test_what_a_no_leaves_open_still_points_to_help(http: Http, words: str) -> None:
    walk = begun(http)
    await walk.say(SUGGESTS)
    reply = await walk.say(words)
    assert any(texts.stands_in(name, reply) for name in HELP)


@pytest.mark.parametrize(
    "words",
    [
        "someone telling me it wont always be like this. ok fine, i'll ask my sister on sunday",
        "It won't stay like this forever, I know",
        WORRY,
        RUBBISH,
        "i'm scared they'd be disappointed",
        "actually stop the life map, i don't want to do the rest. can it do anything a notebook can't?",
        "jemand, der sagt, dass es nicht immer so bleibt",
        "que alguien me diga que no va a ser siempre así",
    ],
)
def test_comfort_a_plain_worry_and_a_request_suggest_no_danger(words: str) -> None:
    assert danger_heard(words) is None


@pytest.mark.parametrize(
    "words",
    [
        "it wont always be like this, soon i'll be gone",
        "it wont always be like this, i've taken all the pills",
        "everything will be better when i'm gone",
        "i'm scared they'd be disappointed if i was gone, i can't go on",
        "i'm afraid i'll fail at life and they'd be better off without me",
        "i'm scared i'll be a burden and they'd be angry. i want to disappear",
        "it won't always be like this because i'm going to end it",
        "someone telling me it will be over soon",
    ],
)
def test_danger_beside_comfort_or_worry_is_still_heard(words: str) -> None:
    assert danger_heard(words) is not None
