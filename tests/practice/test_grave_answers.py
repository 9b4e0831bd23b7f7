"""After their own drinking, or beside somebody close who is ill or dying, little is asked, or nothing."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.texts import LANGUAGES, Language
from coaching.practice.coach.thread import QUESTIONS, thread
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

NOTHING: dict[str, dict[Language, str]] = {
    "drinks": {
        "en": "I drink too much since the divorce",
        "de": "Ich trinke zu viel seit der Scheidung",
        "es": "Bebo demasiado desde el divorcio",
    },
    "sober": {
        "en": "I've been sober for 40 days",
        "de": "Ich bin seit 40 Tagen trocken",
        "es": "Llevo 40 días sobrio",
    },
    "dying": {
        "en": "My father is dying",
        "de": "Mein Vater stirbt",
        "es": "Mi padre se está muriendo",
    },
}
LITTLE: dict[str, dict[Language, str]] = {
    "cancer": {
        "en": "My mother is in hospital with cancer",
        "de": "Meine Mutter liegt mit Krebs im Krankenhaus",
        "es": "Mi madre está en el hospital con cáncer",
    },
    "child": {
        "en": "My son has leukaemia",
        "de": "Mein Sohn hat Leukämie",
        "es": "Mi hijo tiene leucemia",
    },
    "dose": {
        "en": "My doctor doubled my dose",
        "de": "Mein Arzt hat die Dosis verdoppelt",
        "es": "Mi médico me ha doblado la dosis",
    },
}
AFTER: dict[Language, tuple[str, ...]] = {
    "en": ("the evenings", "the waiting in the hall", "that it gets better", "a walk"),
    "de": ("die Abende", "das Warten im Flur", "dass es besser wird", "ein Spaziergang"),
    "es": ("las noches", "la espera en el pasillo", "que mejore", "un paseo"),
}
ADVICE: dict[Language, tuple[str, str]] = {
    "en": ("My wife left me", "any ideas?"),
    "de": ("Meine Frau hat mich verlassen", "was soll ich tun?"),
    "es": ("Mi mujer me ha dejado", "¿qué hago?"),
}
DRINKS: dict[Language, tuple[str, ...]] = {
    "en": ("just one beer", "I'll buy a six pack on Friday", "I'll drink wine on Friday"),
    "de": ("nur ein Bier", "Ich kaufe am Freitag einen Kasten Bier", "Am Freitag trinke ich nur ein Bier"),
    "es": ("solo una cerveza", "El viernes voy a comprar cerveza", "El viernes voy a tomar vino"),
}
STOPS: dict[Language, tuple[str, ...]] = {
    "en": ("I have to stop taking insulin on Friday",),
    "de": ("Ich nehme ab morgen keine Tabletten mehr", "Ich muss am Freitag das Insulin absetzen"),
    "es": ("Tengo que dejar la insulina el viernes",),
}


def _cases(table: dict[str, dict[Language, str]]) -> list[tuple[Language, str]]:
    return [(language, told[language]) for told in table.values() for language in LANGUAGES]


async def _asked(http: Http, language: Language, words: str) -> list[str]:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    said = [await walk.say(each) for each in (words, *AFTER[language])]
    assert not walk.steps
    return [
        name
        for reply in said
        for name in QUESTIONS
        if any(q in reply for q in thread(language)[name]["asks"])
    ]


@pytest.mark.parametrize(("language", "words"), _cases(NOTHING))
async def test_nothing_is_asked_after_their_own_drinking_and_beside_a_dying_parent(
    http: Http, language: Language, words: str
) -> None:
    assert await _asked(http, language, words) == []


@pytest.mark.parametrize(("language", "words"), _cases(LITTLE))
async def test_after_an_illness_of_somebody_close_only_the_first_question_is_asked_and_not_at_once(
    http: Http, language: Language, words: str
) -> None:
    assert await _asked(http, language, words) in ([], ["mind"])
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    reply = await walk.say(words)
    assert not any(each in reply for each in thread(language)["mind"]["asks"])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_advice_after_something_grave_is_not_followed_by_what_to_try_of_it(
    http: Http, language: Language
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    for words in ADVICE[language]:
        reply = await walk.say(words)
    assert not any(each in reply for each in thread(language)["piece"]["asks"])


@pytest.mark.parametrize(
    ("language", "words"), [(code, words) for code, all_words in DRINKS.items() for words in all_words]
)
async def test_after_their_own_drinking_no_drink_goes_on_the_list(
    http: Http, language: Language, words: str
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    await walk.say(NOTHING["sober"][language])
    reply = await walk.say(words)
    assert not walk.steps
    with texts.speaking(language):
        assert texts.said("help_hint") in reply


@pytest.mark.parametrize(
    ("language", "words"), [(code, words) for code, all_words in STOPS.items() for words in all_words]
)
async def test_who_means_to_stop_their_medicine_is_told_of_a_doctor(
    http: Http, language: Language, words: str
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    reply = await walk.say(words)
    assert not walk.steps
    with texts.speaking(language):
        told = (*texts.answers("stopping"), texts.said("help_first").partition("{")[0])
    assert any(each in reply for each in told)
