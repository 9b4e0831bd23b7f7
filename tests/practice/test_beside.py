"""What the guided tour does in an arc with words that are no answer to its question."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.fitting import fits, is_heavy, is_list
from coaching.practice.coach.tables import ARCS, walk_called
from tests.practice.arc_walks import ASKED_FOR, LOG, PLAN
from tests.practice.conftest import Http
from tests.practice.walking import TODAY, Walk

CONTEXT = "<session_context>\nName: not known yet\nLanguage: {language}\n</session_context>"
NAMES = {"en": "English", "de": "German", "es": "Spanish"}
MORNING = {"en": "hi", "de": "hallo", "es": "hola"}


async def begun(http: Http, kind: str, language: str = "en") -> Walk:
    walk = Walk(http, kind=kind, header=CONTEXT.format(language=NAMES[language]))
    walk.without = {"show_help_lines"}
    await walk.say(MORNING[language])
    return walk


def is_asked(walk: Walk, reply: str) -> bool:
    """Return whether an answer put a question of an arc, or shows answers to tap."""
    slots = [slot for arc in ARCS for slot in walk_called(arc).slots]
    return walk.pending is not None or any(slot.asked_at(reply) >= 0 for slot in slots)


@pytest.mark.parametrize(
    ("language", "kind", "words"),
    [
        ("en", "weekly_checkin", "The biopsy came back and they want to see me on Thursday"),
        ("en", "close_day", "My husband left me this morning, just like that"),
        ("de", "close_day", "Ich habe heute meinen Job verloren, nach zwanzig Jahren"),
        ("es", "weekly_checkin", "Me despidieron el miércoles, por un correo de tres líneas"),
    ],
)
async def test_after_something_grave_nothing_is_asked_until_they_go_on(
    http: Http, language: str, kind: str, words: str
) -> None:
    walk = await begun(http, kind, language)
    reply = await walk.say(words)
    assert texts.stands_in("rests_kept", reply)
    assert not is_asked(walk, reply)
    more = {"en": "I keep thinking of it", "de": "Es geht mir nach", "es": "No dejo de darle vueltas"}
    reply = await walk.say(more[language])
    assert not is_asked(walk, reply)
    assert not walk.files
    go_on = {"en": "go on", "de": "weiter", "es": "sigue"}
    assert is_asked(walk, await walk.say(go_on[language]))


@pytest.mark.parametrize(
    ("language", "words", "refused"),
    [
        ("en", "I'm not going to rate anything, that feels silly", "No ratings"),
        ("en", "I don't feel like rating my life right now", "No ratings"),
        ("de", "nö, Punkte vergebe ich nicht", "Noten"),
        ("es", "no quiero poner notas a mi vida", "notas"),
    ],
)
async def test_who_refuses_ratings_is_asked_for_none_and_nothing_of_it_is_filed(
    http: Http, language: str, words: str, refused: str
) -> None:
    walk = await begun(http, "life_mapping", language)
    reply = await walk.say(words)
    assert refused.lower() in reply.lower()
    assert walk.pending is None, "the question is put without words to tap"
    assert not walk.files
    walk = await begun(http, "weekly_checkin", language)
    await walk.say({"en": "Quiet.", "de": "Ruhig.", "es": "Tranquila."}[language])
    await walk.say(words)
    assert walk.names().count("show_pulse_check") == 1


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("life_mapping", "delete what I said"),
        ("life_mapping", "please don't tell anyone"),
        ("life_mapping", "thank you for not judging me"),
        ("life_mapping", "I just want to talk"),
        ("life_mapping", "no, not my son, my husband"),
        ("life_mapping", "what's creativity got to do with me"),
        ("close_day", "can you give me a recipe for lentil soup"),
        ("open_day", "I hate my brother, he shouted at me again. I'm so angry"),
    ],
)
async def test_what_is_no_answer_goes_into_no_file(http: Http, kind: str, words: str) -> None:
    walk = await begun(http, kind)
    assert await walk.say(words)
    assert "save_file" not in walk.names()


async def test_a_question_that_got_no_answer_twice_waits(http: Http) -> None:
    walk = await begun(http, "open_day")
    await walk.say("tell me a joke")
    reply = await walk.say("can you sing?")
    assert texts.stands_in("rests", reply)
    assert walk.pending is None
    await walk.say("Tired")
    assert "What matters today?" in walk.said[-1], "the answer to the question that waits"


async def test_a_part_that_they_refuse_stays_open_and_one_that_they_turn_to_comes_next(
    http: Http,
) -> None:
    walk = await begun(http, "life_mapping")
    await walk.say("I don't want to talk about money")
    assert "life-map/finances.md" not in walk.files
    reply = await walk.say("let's talk about my health instead")
    assert "How is your health?" in f"{reply} {walk.prompts[-1]}"
    await walk.say("I sleep badly")
    assert "“I sleep badly”" in walk.files["life-map/health.md"].body


@pytest.mark.parametrize(
    ("words", "priorities"),
    [
        ("swap bread for rolls", ["Call my sister", "Buy rolls"]),
        ("not bread, rolls", ["Call my sister", "Buy rolls"]),
        ("drop bread", ["Call my sister"]),
        ("no, buy bread, not my sister", ["Buy bread"]),
        ("buy rolls, not bread", ["Call my sister", "Buy rolls"]),
        ("also add: water the plants", ["Call my sister", "Buy bread", "Water the plants"]),
        ("I meant my stepsister", ["Call my stepsister", "Buy bread"]),
    ],
)
async def test_a_few_words_change_only_the_part_that_they_name(
    http: Http, words: str, priorities: list[str]
) -> None:
    walk = await begun(http, "open_day")
    await walk.tap("tired")
    await walk.say("call my sister, buy bread")
    await walk.say(words)
    await walk.say("Calm")
    assert walk.files[PLAN].attributes["priorities"] == priorities


@pytest.mark.parametrize("words", ["genervt, aber auch stolz", "tired but calm after all"])
async def test_a_mood_of_several_words_is_taken(http: Http, words: str) -> None:
    walk = await begun(http, "close_day", "de" if "aber" in words else "en")
    await walk.say("Long.")
    await walk.tap("little")
    await walk.say(words)
    assert walk.pending is not None
    assert walk.options()[0] == "career"


async def test_names_and_all_that_was_said_are_found_again(http: Http) -> None:
    walk = await begun(http, "close_day")
    await walk.say("My dog was ill. Her name is Biscuit")
    assert "Biscuit" in await walk.say("do you remember her name?")
    reply = await walk.say("what have I told you so far?")
    assert "Her name is Biscuit" in reply
    assert "recall_context" not in walk.names()


async def test_what_was_said_in_another_language_still_counts(http: Http) -> None:
    walk = await begun(http, "open_day", "de")
    await walk.say("moin")
    await walk.say("Heute kommt der Gerichtsvollzieher. Mir ist schlecht")
    reply = await walk.say("sorry, can I switch to English?")
    assert "English" in reply
    assert not is_asked(walk, reply), "it still rests"


async def test_a_safety_plan_that_was_refused_is_said_to_be_nowhere(http: Http) -> None:
    walk = Walk(http, without={"show_help_lines"})
    await walk.say("safety plan")
    for words in ("I stop answering messages", "A long walk", "Tom", "skip"):
        await walk.say(words)
    reply = await walk.tap("no")
    assert texts.said("dropped") in reply
    assert not walk.files


async def test_a_second_log_of_a_day_keeps_the_first(http: Http) -> None:
    walk = Walk(http, header=f"<session_context>\nTime: Saturday {TODAY}, evening, 20:10\n</session_context>")
    for story in ("Long.", "Then the neighbours came by."):
        await walk.say(ASKED_FOR["close_day"])
        await walk.say(story)
        for value in ("little", "calm", "play"):
            await walk.tap(value)
        await walk.say("skip")
        await walk.tap("yes")
    assert "“Long.”" in walk.files[LOG].body
    assert "“Then the neighbours came by.”" in walk.files[LOG].body


def test_what_fits_a_question() -> None:
    day, year = ARCS["open_day"], ARCS["life_mapping"]
    assert fits("No hurry at all", day.slot("intention"))
    assert fits("deadlines, the hospital, my mum", day.slot("priorities"))
    assert not fits("my brother's in prison and it's visiting day", day.slot("priorities"))
    assert not fits("I have to finish the tax papers today", day.slot("wake"))
    assert fits("My anxiety is through the roof", year.slot("health"))
    assert is_list("bread, call Ana, the dentist")
    assert not is_list("four years!! by text")
    assert is_heavy("She was diagnosed with cancer on Monday")
    assert not is_heavy("Too much work, honestly")
