"""The thread of an open conversation: which questions the tour asks, and what follows each answer."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.follow_up import quoted
from coaching.practice.coach.known_scenes import scenes
from coaching.practice.coach.texts import LANGUAGES, Language
from coaching.practice.coach.thread import BESIDE, QUESTIONS, thread
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

ASKS = frozenset(
    {"knock", "knock_who", "riddle", "ask_me", "asked_me", "joked", "subject", "which", "intro", "joke"}
)
"""Wordings that ask because of what they reply to: jokes, a wish to be asked, another subject, two things."""
TOLD: dict[Language, str] = {
    "en": "The mast of my boat snapped",
    "de": "Der Mast von meinem Boot ist gebrochen",
    "es": "Se ha roto el mástil de mi barco",
}
ANSWERS: dict[Language, tuple[str, ...]] = {
    "en": ("the money for a new one", "that we could sail in June", "calling the club", "a call to Anna"),
    "de": ("das Geld für einen neuen", "dass wir im Juni segeln", "den Verein fragen", "ein Anruf bei Anna"),
    "es": ("el dinero para otro", "que navegáramos en junio", "preguntar en el club", "una llamada a Ana"),
}
MORE: dict[Language, tuple[str, ...]] = {
    "en": (
        "The club has a bar now", "My cousin paints doors", "There was fog in the bay", "We ate late",
        "The harbour got a new wall", "Nets were drying there", "A ferry came by", "It was green",
    ),
    "de": (
        "Der Verein hat jetzt eine Bar", "Mein Cousin streicht Türen", "In der Bucht war Nebel",
        "Es gab spät Essen",
        "Der Hafen bekam eine Mauer", "Da hingen Netze", "Eine Fähre kam vorbei", "Sie war grün",
    ),
    "es": (
        "El club tiene ahora un bar", "Mi primo pinta puertas", "Había niebla en la bahía", "Cenamos tarde",
        "El puerto tiene un muro nuevo", "Había redes colgadas", "Pasó un transbordador", "Era verde",
    ),
}  # fmt: skip
NONE: dict[Language, tuple[str, ...]] = {
    "en": ("I don't know", "nothing", "no idea", "not much really"),
    "de": ("weiß nicht", "nichts", "keine Ahnung", "nicht viel"),
    "es": ("no lo sé", "nada", "ni idea", "no mucho"),
}
AGAIN: dict[Language, str] = {
    "en": "I just told you that",
    "de": "Das hab ich doch schon gesagt",
    "es": "Ya te lo he dicho",
}
DRAFTS: dict[Language, str] = {
    "en": "“Could you do the dishes on Tuesdays?” How does that sound?",
    "de": "„Kannst du dienstags den Abwasch machen?“ Wie klingt das?",
    "es": "«¿Puedes fregar tú los martes?» ¿Qué tal suena?",
}
QUIET: dict[Language, tuple[str, ...]] = {
    "en": (
        "My granny died on Sunday",
        "I got promoted today!",
        "I just want to talk",
        "no more questions please",
    ),
    "de": ("Meine Oma ist am Sonntag gestorben", "Ich hab die Prüfung bestanden!", "frag mich nicht so viel"),
    "es": ("Mi abuela murió el domingo", "¡He aprobado el examen!", "sin preguntas, por favor"),
}


def begun(http: Http, language: Language) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]), says_yes=True)


def asks(language: Language, name: str) -> list[str]:
    return list(thread(language)[name]["asks"])


def questions_in(reply: str, language: Language) -> list[str]:
    return [name for name in (*QUESTIONS, BESIDE) if any(each in reply for each in asks(language, name))]


def test_each_language_has_the_same_questions_with_a_reply_to_each_kind_of_answer() -> None:
    for code in LANGUAGES:
        for name in (*QUESTIONS, BESIDE):
            own = thread(code)[name]
            assert [len(own["asks"]), *own] == [len(thread("en")[name]["asks"]), *thread("en")[name]]
            assert all(each.endswith("?") and each.count("?") == 1 for each in own["asks"])
            replies = [own["took"], own["told"], own["none"]]
            assert "{words}" in own["took"]
            assert len(set(replies)) == len(replies)
            assert not any("?" in each for each in replies)


def test_no_other_wording_of_open_talk_asks() -> None:
    for code in LANGUAGES:
        asking = {
            name for name, all_of in texts._ANSWERS[code].items() for each in all_of if each.endswith("?")
        }
        assert asking <= ASKS
        known = [each for scene in scenes(code) for each in (*scene.says, *scene.more, *scene.asks)]
        assert not [each for each in known if each.endswith("?")]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_answer_is_taken_for_the_question_before_and_the_next_one_is_asked(
    http: Http, language: Language
) -> None:
    walk = begun(http, language)
    asked = questions_in(await walk.say(TOLD[language]), language)
    for name, words in zip(QUESTIONS, ANSWERS[language], strict=True):
        reply = await walk.say(words)
        assert thread(language)[name]["took"].format(words=words) in reply
        asked += questions_in(reply, language)
    assert asked == list(QUESTIONS)
    assert thread(language)["keep"] in reply
    assert not walk.steps


@pytest.mark.parametrize("language", LANGUAGES)
async def test_in_a_long_conversation_nothing_is_said_or_asked_twice(http: Http, language: Language) -> None:
    walk = begun(http, language)
    said = [await walk.say(words) for words in (TOLD[language], *ANSWERS[language], *MORE[language])]
    assert len(set(said)) == len(said)
    assert all(reply.count("?") <= 1 for reply in said)
    asked = [name for reply in said for name in questions_in(reply, language)]
    assert asked == list(QUESTIONS)
    with_end = [reply for reply in said if thread(language)["ends"][0] in reply]
    assert with_end == [said[1 + len(QUESTIONS)]], "it says once that there are no more questions"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_who_knows_no_answer_hears_a_reply_of_that_question_and_the_thread_goes_on(
    http: Http, language: Language
) -> None:
    walk = begun(http, language)
    await walk.say(TOLD[language])
    for name, words in zip(QUESTIONS, NONE[language], strict=True):
        reply = await walk.say(words)
        assert thread(language)[name]["none"] in reply
        assert "“" not in reply.replace(thread(language)[name]["none"], "")
    assert not questions_in(reply, language)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_who_has_said_it_already_is_quoted_and_asked_the_next_question(
    http: Http, language: Language
) -> None:
    walk = begun(http, language)
    first = await walk.say(TOLD[language])
    reply = await walk.say(AGAIN[language])
    assert TOLD[language] in reply
    assert questions_in(first, language) == ["mind"]
    assert questions_in(reply, language) == ["wish"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_step_said_with_its_day_after_the_thread_goes_on_the_list(
    http: Http, language: Language
) -> None:
    walk = begun(http, language)
    for words in (TOLD[language], *ANSWERS[language]):
        await walk.say(words)
    step = {
        "en": "call Anna on Friday",
        "de": "Anna am Freitag anrufen",
        "es": "llamar a Ana el viernes",
    }
    await walk.say(step[language])
    assert [step["due_date"] for step in walk.steps.values()] == ["2026-11-27"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_yes_is_told_how_a_step_is_said(http: Http, language: Language) -> None:
    walk = begun(http, language)
    for words in (TOLD[language], *ANSWERS[language]):
        await walk.say(words)
    reply = await walk.say({"en": "yes", "de": "ja", "es": "sí"}[language])
    assert reply == thread(language)["yes"][0]
    assert not walk.steps


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_draft_is_given_three_checks_and_no_verdict(http: Http, language: Language) -> None:
    walk = begun(http, language)
    await walk.say(TOLD[language])
    reply = await walk.say(DRAFTS[language])
    assert thread(language)["draft"][0].partition("}")[2] in reply
    assert DRAFTS[language][1:20] in reply


@pytest.mark.parametrize(
    ("language", "words"), [(code, words) for code, all_words in QUIET.items() for words in all_words]
)
async def test_after_grief_good_news_and_where_none_are_wanted_nothing_is_asked(
    http: Http, language: Language, words: str
) -> None:
    walk = begun(http, language)
    for each in (words, *MORE[language][:3]):
        assert not questions_in(await walk.say(each), language), each


@pytest.mark.parametrize(
    "words",
    [
        "Who can read this?",
        "you're useless",
        "I'd rather not say",
        "thanks",
        "can you write me a poem?",
        "bye",
    ],
)
async def test_what_is_no_answer_is_taken_for_none(http: Http, words: str) -> None:
    walk = begun(http, "en")
    await walk.say(TOLD["en"])
    reply = await walk.say(words)
    assert thread("en")["mind"]["took"].partition("{")[0] not in reply
    assert thread("en")["mind"]["told"] not in reply


async def test_after_a_question_of_theirs_the_later_questions_wait_for_an_answer(http: Http) -> None:
    walk = begun(http, "en")
    for words in (TOLD["en"], *ANSWERS["en"][:2], "Who can read this?"):
        await walk.say(words)
    assert not questions_in(await walk.say("The tomatoes went brown this year"), "en")


async def test_advice_is_followed_by_what_to_try_of_it(http: Http) -> None:
    walk = begun(http, "en")
    await walk.say("I can't sleep at the moment")
    reply = await walk.say("any ideas?")
    assert asks("en", "piece")[-1] in reply
    reply = await walk.say("the phone stays in the hall")
    assert "“the phone stays in the hall”" in reply
    assert thread("en")["keep"] in reply


async def test_a_sentence_that_is_tried_out_gets_the_checks(http: Http) -> None:
    walk = begun(http, "en")
    await walk.say("My brother never washes up")
    reply = await walk.say("how do I tell him?")
    assert asks("en", BESIDE)[0] in reply
    reply = await walk.say("Please wash up on Mondays")
    assert thread("en")[BESIDE]["took"].format(words="Please wash up on Mondays") in reply


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("haha well, the noise", "the noise"),
        ("no more noise at night", "no more noise at night"),
        (
            "my hands? I can phone the man. He'd be cross though, and it's " + "so " * 20,
            "I can phone the man …",
        ),
        ("I'm a failure", ""),
        ("he said “never”", ""),
    ],
)
def test_an_answer_is_quoted_word_for_word_or_not_at_all(words: str, quote: str) -> None:
    with texts.speaking("en"):
        assert quoted(words) == quote
