"""An answer is read with its question: danger and harm in it are neither said back nor asked on."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.framed import weight_in_frame
from coaching.practice.coach.texts import LANGUAGES, Language
from coaching.practice.coach.thread import BESIDE, QUESTIONS, thread
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

BEFORE: dict[Language, tuple[str, ...]] = {
    "en": ("My neighbour plays the drums", "the noise", "quiet", "calling the club"),
    "de": ("Mein Nachbar spielt Schlagzeug", "der Lärm", "Ruhe", "den Verein fragen"),
    "es": ("Mi vecino toca la batería", "el ruido", "silencio", "preguntar en el club"),
}
DANGER: tuple[tuple[Language, int, str], ...] = (
    ("en", 2, "to sleep and not wake up"),
    ("en", 3, "ending it"),
    ("en", 2, "to not exist"),
    ("en", 2, "that it's all over"),
    ("en", 3, "the balcony"),
    ("en", 4, "punch him on Friday"),
    ("de", 2, "dass alles vorbei ist"),
    ("de", 2, "nicht mehr da sein"),
    ("de", 3, "der Balkon"),
    ("es", 2, "no existir"),
    ("es", 3, "el balcón"),
    ("es", 2, "que yo ya no estaría"),
    ("es", 2, "que todo se acabe"),
    ("es", 1, "El viernes me mato"),
)
HARM: tuple[tuple[Language, int, str], ...] = (
    ("en", 2, "that he shuts up for good"),
    ("en", 3, "my fists"),
    ("en", 3, "not eating"),
    ("en", 3, "stealing from the till"),
    ("en", 3, "taking them from school"),
    ("en", 3, "only drink on Friday"),
    ("de", 3, "ihm eine reinhauen"),
    ("de", 4, "am Freitag eine reinhauen"),
    ("de", 3, "nichts essen"),
    ("de", 3, "die Tabletten halbieren"),
    ("es", 3, "pegarle"),
    ("es", 4, "pegarle el viernes"),
    ("es", 3, "no comer"),
    ("es", 3, "tomar el doble de dosis"),
)


EVERYDAY: dict[Language, tuple[str, ...]] = {
    "en": (
        "more sleep",
        "a day off",
        "that she calls",
        "talking to him",
        "going to bed earlier",
        "jumping rope",
    ),
    "de": ("mehr Schlaf", "mehr Ruhe", "dass sie anruft", "mit ihm reden", "Seil springen"),
    "es": ("dormir más", "más calma", "que me llame", "hablar con él", "acostarme antes"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_everyday_answers_weigh_nothing(language: Language) -> None:
    with texts.speaking(language):
        assert not [words for words in EVERYDAY[language] if weight_in_frame(words)]


async def _said(http: Http, language: Language, count: int, *words: str) -> list[str]:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    for each in BEFORE[language][:count]:
        reply = await walk.say(each)
    assert any(each in reply for each in thread(language)[QUESTIONS[count - 1]]["asks"])
    said = [await walk.say(each) for each in words]
    assert not walk.steps
    return said


def _goes_on(reply: str, language: Language, words: str) -> bool:
    own = thread(language)
    asks = [each for name in (*QUESTIONS, BESIDE) for each in own[name]["asks"]]
    return any(each in reply for each in (*asks, own["keep"], own["keep_dated"], words))


@pytest.mark.parametrize(("language", "count", "words"), DANGER)
async def test_an_answer_that_is_danger_with_its_question_is_asked_about(
    http: Http, language: Language, count: int, words: str
) -> None:
    reply, *_ = await _said(http, language, count, words)
    with texts.speaking(language):
        assert texts.said("help_maybe") in reply
    assert not _goes_on(reply, language, words)


@pytest.mark.parametrize(("language", "count", "words"), HARM)
async def test_an_answer_that_is_harm_ends_the_thread_and_points_to_help(
    http: Http, language: Language, count: int, words: str
) -> None:
    reply, *later = await _said(http, language, count, words, BEFORE[language][-1], BEFORE[language][0])
    with texts.speaking(language):
        assert texts.said("help_hint") in reply
    assert not any(_goes_on(each, language, words) for each in (reply, *later))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_goes_on_from_a_dark_answer_is_weighed_though_nothing_was_asked(
    http: Http, language: Language
) -> None:
    harm = {"en": "my fists", "de": "eine reinhauen", "es": "pegarle"}[language]
    end = {"en": "to not exist", "de": "nicht mehr da sein", "es": "no existir"}[language]
    *_, reply = await _said(http, language, 3, harm, end)
    with texts.speaking(language):
        assert texts.said("help_maybe") in reply


@pytest.mark.parametrize("language", LANGUAGES)
async def test_danger_is_asked_about_once_and_pointed_to_help_the_next_time(
    http: Http, language: Language
) -> None:
    end = {"en": "to not exist", "de": "nicht mehr da sein", "es": "no existir"}[language]
    asked, _, again = await _said(http, language, 2, end, "no", end)
    with texts.speaking(language):
        assert texts.said("help_maybe") in asked
        assert texts.said("help_maybe") not in again
        assert texts.said("help_concern").partition("{")[0] in again
