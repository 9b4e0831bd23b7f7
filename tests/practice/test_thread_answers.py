"""What an answer in the thread is taken for: fillers, corrections, where to begin, no goodbye."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.follow_up import quoted
from coaching.practice.coach.texts import LANGUAGES, Language
from coaching.practice.coach.thread import thread
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

TOLD: dict[Language, tuple[str, ...]] = {
    "en": ("My neighbour plays the drums", "the noise", "quiet"),
    "de": ("Mein Nachbar spielt Schlagzeug", "der Lärm", "Ruhe"),
    "es": ("Mi vecino toca la batería", "el ruido", "silencio"),
}
FILLERS: dict[Language, tuple[str, str]] = {
    "en": ("That's a good question. Maybe, that I could sleep", "that I could sleep"),
    "de": (
        "Das ist eine gute Frage. Vielleicht, dass ich schlafen könnte",
        "dass ich schlafen könnte",
    ),
    "es": ("Buena pregunta. Quizás, que pudiera dormir", "que pudiera dormir"),
}
MEANT: dict[Language, tuple[str, str]] = {
    "en": ("Well, that sounds wrong. I meant the nights in June", "the nights in June"),
    "de": ("Na ja, das klingt falsch. Ich meinte die Nächte im Juni", "die Nächte im Juni"),
    "es": ("Suena raro. Me refería a las noches de junio", "las noches de junio"),
}
BEGIN: dict[Language, str] = {
    "en": "but I don't know where to start",
    "de": "aber ich weiß nicht, wo ich anfangen soll",
    "es": "pero no se por donde empezar",
}


async def _reply(http: Http, language: Language, *words: str) -> str:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    said = [await walk.say(each) for each in words]
    assert not walk.steps
    return said[-1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_only_comes_before_an_answer_is_not_quoted(language: Language) -> None:
    words, quote = FILLERS[language]
    with texts.speaking(language):
        assert quoted(words) == quote


@pytest.mark.parametrize("language", LANGUAGES)
async def test_who_puts_an_answer_right_is_quoted_anew_and_asked_the_same_question_again(
    http: Http, language: Language
) -> None:
    words, quote = MEANT[language]
    reply = await _reply(http, language, *TOLD[language][:2], words)
    own = thread(language)
    assert reply == f"{own['meant']} {own['mind']['took'].format(words=quote)} {own['wish']['asks'][0]}"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_who_does_not_know_where_to_begin_is_not_quoted_but_asked_for_the_smallest_piece(
    http: Http, language: Language
) -> None:
    reply = await _reply(http, language, *TOLD[language], BEGIN[language])
    own = thread(language)
    assert reply == f"{own['begin']} {own['piece']['asks'][0]}"


@pytest.mark.parametrize(("language", "words"), [("de", "nichts sagen"), ("es", "nada decir")])
async def test_a_thing_to_do_that_begins_like_none_is_an_answer(
    http: Http, language: Language, words: str
) -> None:
    reply = await _reply(http, language, *TOLD[language], words)
    assert thread(language)["hands"]["took"].format(words=words) in reply


async def test_a_wish_not_to_go_is_no_goodbye(http: Http) -> None:
    reply = await _reply(http, "en", *TOLD["en"][:2], "that I don't have to go")
    with texts.speaking("en"):
        goodbyes = (*texts.answers("goodbye"), *texts.answers("goodbye_after"))
    assert not any(each in reply for each in goodbyes)


async def test_a_wish_in_the_conditional_is_not_quoted(http: Http) -> None:
    reply = await _reply(http, "de", *TOLD["de"][:2], "Ich würde gern durchschlafen")
    assert thread("de")["wish"]["told"] in reply


async def test_first_words_that_ask_what_this_is_are_told_it(http: Http) -> None:
    reply = await _reply(http, "de", "hallo, was ist das hier eigentlich")
    assert "Skript" in reply
    with texts.speaking("de"):
        assert texts.answers("asked")[0].partition(":")[0] not in reply


async def test_a_request_for_a_suggestion_is_not_taken_for_a_question_about_the_tour(http: Http) -> None:
    words = "haben Sie denn einen Vorschlag, was ein Rentner vormittags so tun könnte?"
    reply = await _reply(http, "de", "Seit der Rente sitze ich nur herum", "die Vormittage", words)
    assert "Ich habe kein Alter" not in reply
    assert "In mir geht nichts vor" not in reply
