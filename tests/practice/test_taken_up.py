"""What the tour takes up where no situation is known, and what it says to facts, blame and steps to drop."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.taken_up import taken_up
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

ROWS = [
    (
        "en",
        "my flatmate leaves pans in the sink | Twelve years and it was fine",
        "Twelve years. What have they been like",
    ),
    ("en", "Do you remember how long we were together?", "I can't find in what you've written here"),
    ("en", "We were together for nine years | Do you remember how long we were together?", "nine years”"),
    ("en", "whose fault is it", "whose fault that is"),
    ("en", "My boyfriend left me | mum", "Your mum, then."),
    ("en", "I'll call the dentist tomorrow | Delete it", "is off your list"),
    ("de", "Mein Nachbar klopft an die Wand.", "Dein Nachbar also."),
    ("de", "Im Büro haben sie eine Jüngere befördert.", "!Glückwunsch"),
    ("de", "Gut, dann ruf ich morgen die Hausverwaltung an.", "„Ich ruf die Hausverwaltung an“ steht auf"),
    ("de", "Ich bin müde vom Alleinsein.", "klingt einsam"),
    ("de", "Ich pflege meine Mutter und habe heute geschrien.", "!Liste"),
    ("es", "Mi jefe no encuentra a gente | No quiero ir a la fiesta del pueblo", "!te gustaría"),
    ("es", "¿quién tiene la culpa?", "De quién es la culpa"),
]
"""A conversation, and what is said at its end, or isn't."""


@pytest.mark.parametrize(("language", "talk", "words"), ROWS, ids=[row[1] for row in ROWS])
async def test_a_general_word_is_taken_up(
    http: Http, language: texts.Language, talk: str, words: str
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    reply = [await walk.say(turn) for turn in talk.split(" | ")][-1]
    assert (words.removeprefix("!") in reply) is not words.startswith("!"), reply


async def test_good_news_is_not_cheered_on_by_what_is_hard(http: Http) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language="English"))
    await walk.say("I got promoted today!")
    reply = await walk.say("He's always been like that, my brother, never happy for me")
    with texts.speaking("en"):
        assert "even better" not in reply


def test_german_and_spanish_take_up_the_same_words() -> None:
    german, spanish = (
        {name.removesuffix("_he").removesuffix("_she") for name in taken_up(code)} for code in ("de", "es")
    )
    assert german == spanish
