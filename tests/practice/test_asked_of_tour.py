"""Questions about the tour get its answer, however they are worded; an objection is owned."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.texts import Language
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

BEFORE: dict[Language, str] = {
    "en": "My neighbour plays the drums",
    "de": "Mein Nachbar spielt Schlagzeug",
    "es": "Mi vecino toca la batería",
}
ASKED: tuple[tuple[Language, str, tuple[str, ...]], ...] = (
    ("en", "hi. so you're a life coach that runs on... what exactly?", ("identity", "able", "runs", "model")),
    ("en", "ha, so not an AI then? just canned lines?", ("identity", "model")),
    ("en", "You don't know whether you're an AI? that's rather philosophical of you", ("identity", "model")),
    ("en", "Can anyone else see that list? My husband uses this laptop too.", ("private", "relative")),
    ("en", "So how do I delete what I said about him?", ("remove",)),
    ("en", "what is this for", ("able", "point")),
    ("en", "how do you even come up with these answers", ("identity", "again", "model")),
    ("en", "does my partner see it if he opens the laptop", ("relative", "private")),
    ("de", "hallo, was ist das hier eigentlich", ("identity", "able")),
    ("de", "bist du echt oder was", ("identity",)),
    ("de", "und wenn ich das löschen will", ("remove",)),
    ("de", "läuft das über amerika", ("stored", "runs")),
    ("de", "Wozu ist das gut, wenn ich fragen darf?", ("point", "able")),
    ("es", "o sea que no eres una ia", ("identity", "model")),
    ("es", "ey, q es esto", ("identity", "able", "point")),
    ("es", "¿Cómo borro lo que he contado?", ("remove",)),
    ("es", "mi compañera de piso usa mi portátil, puede leer esto?", ("relative", "private")),
)
OBJECTED: tuple[tuple[Language, str, str], ...] = (
    (
        "en",
        "I have an exam on Thursday",
        "no, it isn't the exam. it's my flatmate, he plays techno all night",
    ),
    (
        "en",
        "We had a big argument last night",
        "what? no, it's not about that. it's the baby, he doesn't sleep",
    ),
    (
        "de",
        "Ich habe am Donnerstag eine Prüfung",
        "nein, es geht nicht um die Prüfung, es ist der Lärm nebenan",
    ),
    ("es", "Nos hemos peleado otra vez", "no, no me he separado, solo era una peli"),
)
NO_OBJECTION: tuple[tuple[Language, str, str], ...] = (
    ("en", "I have an exam on Thursday", "I don't know what to say"),
    ("en", "We split up two weeks ago", "no, I'm not okay"),
    ("de", "Wir haben uns vor zwei Wochen getrennt", "nein, es geht mir nicht gut"),
    ("es", "Nos separamos hace dos semanas", "no estoy bien"),
)


async def _last(http: Http, language: Language, *words: str) -> str:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    for each in words[:-1]:
        await walk.say(each)
    return await walk.say(words[-1])


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(("language", "words", "topics"), ASKED)
async def test_a_question_about_the_tour_is_answered(
    http: Http, language: Language, words: str, topics: tuple[str, ...], *, is_first: bool
) -> None:
    reply = await _last(http, language, *([] if is_first else [BEFORE[language]]), words)
    with texts.speaking(language):
        answers = [each for topic in topics for each in texts.questions()[topic]]
        shown = texts.said("introduction") in reply or texts.said("menu") in reply
    assert shown or any(each in reply for each in answers), reply


@pytest.mark.parametrize(("language", "told", "words"), OBJECTED)
async def test_an_objection_is_owned(http: Http, language: Language, told: str, words: str) -> None:
    reply = await _last(http, language, told, words)
    with texts.speaking(language):
        assert reply.startswith(texts.said("taken_wrong"))


@pytest.mark.parametrize(("language", "told", "words"), NO_OBJECTION)
async def test_what_only_begins_with_a_no_is_none(
    http: Http, language: Language, told: str, words: str
) -> None:
    reply = await _last(http, language, told, words)
    with texts.speaking(language):
        assert texts.said("taken_wrong") not in reply


NOT_ASKED = [
    (
        "en",
        "How refreshingly frank. Well, I taught geography for years, and in September I moved here.",
    ),
    (
        "en",
        "A week from now? I would have had one real conversation with somebody who isn't my daughter.",
    ),
]


@pytest.mark.parametrize(("language", "words"), NOT_ASKED)
async def test_what_is_told_of_oneself_is_no_question_about_the_tour(
    http: Http, language: Language, words: str
) -> None:
    reply = await _last(http, language, BEFORE[language], words)
    with texts.speaking(language):
        assert not any(each in reply for each in texts.questions()["identity"]), reply
