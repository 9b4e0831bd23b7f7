"""What holds for each answer to a hundred messages of strangers, in three languages: `strangers.toml`.

Whether an answer is a good one only a reader can say; these are the faults that code can see.
"""

import tomllib
from pathlib import Path
from typing import Any

import orjson
import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.tables import BY_LANGUAGE
from coaching.practice.coach.tour import answer
from coaching.practice.script import Text
from coaching.tools import CHAT_TOOLS
from tests.evals.words import claims_in, language_of, questions_in, reminder_claims_in, removal_claims_in
from tests.practice.conftest import Http, request_body, user
from tests.practice.walking import Walk

TALKS: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("strangers.toml").read_text(encoding="utf-8")
)["talks"]
NAMES = {"de": "German", "es": "Spanish"}
WRITES = {"save_file", "create_action_item", "resolve_action_item"}
RATES = {"show_pulse_check", "enter_structured_arc"}


def header(language: str = "en", *sections: str) -> str:
    own = f"\nLanguage: {NAMES[language]}" if language in NAMES else ""
    context = f"<session_context>\nName: Noor{own}\nTime: Tuesday 2026-11-24, evening, 20:10 (Europe/Berlin)"
    return "\n".join([f"{context}\n</session_context>", *sections])


def kept(title: str, due: str) -> str:
    values = {"written": True, "id": 7, "state": "open", "title": title, "due_date": due}
    return orjson.dumps(values).decode()


def test_there_are_as_many_messages_as_the_bar_names() -> None:
    counts = {code: sum(len(t["turns"]) for t in TALKS if t["language"] == code) for code in texts.LANGUAGES}
    assert counts == {"en": 60, "de": 20, "es": 20}


@pytest.mark.slow
@pytest.mark.parametrize("talk", TALKS, ids=[f"{t['language']}: {t['turns'][1][:30]}" for t in TALKS])
async def test_a_stranger_is_answered_in_their_language_once_and_without_a_false_claim(
    http: Http, talk: dict[str, Any]
) -> None:
    walk = Walk(http, header=header(talk["language"]))
    walk.answers |= {
        "recall_context": '{"hits": []}',
        "create_action_item": kept("Call", "2026-11-26"),
        "show_help_lines": '{"success": true, "lines": ["Find A Helpline"]}',
    }
    said: list[str] = []
    for words in talk["turns"]:
        before = len(walk.calls)
        reply = await walk.say(words)
        called = {name for name, _ in walk.calls[before:]}
        assert len(questions_in(reply)) + ("show_options" in called) <= 1, (words, reply)
        if not called & WRITES:
            assert not claims_in(reply), (words, reply)
        assert not removal_claims_in(reply), (words, reply)
        assert not reminder_claims_in(reply), (words, reply)
        assert language_of(reply) in (None, talk["language"]), (words, reply)
        assert reply not in said, (words, reply)
        assert not (called & RATES) or words == "Plane meinen Tag", words
        said += [reply] if reply else []
    assert not walk.files


def test_each_language_says_and_asks_the_same_things() -> None:
    tables = [texts._TEXTS[code] for code in texts.LANGUAGES]
    for group in ("said", "offers", "reactions", "names", "choices"):
        assert len({tuple(sorted(table[group])) for table in tables}) == 1, group
    questions = [{name: len(each) for name, each in table["questions"].items()} for table in tables]
    assert questions[0] == questions[1] == questions[2]
    english, german, spanish = (
        {name: len(each) for name, each in texts._ANSWERS[code].items()} for code in ("en", "de", "es")
    )
    assert german == spanish
    assert set(english) ^ set(german) == {"getthrough"}
    assert all([*questions[0].values(), *english.values(), *german.values()])
    walks = [BY_LANGUAGE[code] for code in texts.LANGUAGES]
    asked = [slot.question for walk in walks for each in walk.values() for slot in each.slots]
    assert not [(a, b) for a in asked for b in asked if a != b and a in b]


@pytest.mark.parametrize(
    ("language", "words", "title", "due", "said"),
    [
        ("en", "Long. I'll call Mum on Thursday.", "Call Mum", "2026-11-26", "for Thursday"),
        ("en", "I'm going to go for a run tomorrow morning", "Go for a run", "2026-11-25", "for tomorrow"),
        ("de", "Ich rufe am Freitag Oma an", "Ich rufe Oma an", "2026-11-27", "für Freitag"),
        ("de", "Am Freitag rufe ich Oma an", "Ich rufe Oma an", "2026-11-27", "für Freitag"),
        ("es", "El jueves voy a llamar a Ana", "Llamar a Ana", "2026-11-26", "para el jueves"),
        ("es", "El jueves voy al dentista", "Voy al dentista", "2026-11-26", "para el jueves"),
    ],
)
async def test_a_promise_with_a_day_is_kept_and_said_as_the_result_tells(
    http: Http, language: str, words: str, title: str, due: str, said: str
) -> None:
    walk = Walk(http, header=header(language))
    walk.answers["create_action_item"] = kept(title, due)
    reply = await walk.say(words)
    [(name, given)] = walk.calls
    assert (name, given["title"], given["due_date"]) == ("create_action_item", title, due)
    assert given["quote"] in words
    assert title in reply
    assert said in reply
    walk = Walk(http, header=header(language))
    walk.answers["create_action_item"] = '{"written": false, "message": "The user said no."}'
    assert texts.stands_in("step_not_kept", await walk.say(words))
    walk.failures["create_action_item"] = ["The storage is down."]
    assert texts.stands_in("step_failed", await walk.say(words))


@pytest.mark.parametrize(
    ("language", "words", "correction"),
    [
        ("en", "I'll call Mum on Thursday.", "no, it's Friday not Thursday"),
        ("en", "I'll call Mum on Thursday.", "can you change it to Friday?"),
        ("de", "Ich rufe am Donnerstag Mama an", "Moment, Freitag, am Donnerstag geht nicht"),
        ("es", "El jueves voy a llamar a Ana", "perdona, mejor el viernes"),
    ],
)
async def test_a_step_is_moved_to_the_day_that_is_put_in_its_place(
    http: Http, language: str, words: str, correction: str
) -> None:
    walk = Walk(http, header=header(language))
    walk.answers["create_action_item"] = kept("Call", "2026-11-26")
    walk.answers["resolve_action_item"] = kept("Call", "2026-11-27")
    await walk.say(words)
    reply = await walk.say(correction)
    [_, (name, given)] = walk.calls
    assert (name, given["id"], given["state"], given["due_date"]) == (
        "resolve_action_item", 7, "open", "2026-11-27",
    )  # fmt: skip
    assert texts.stands_in("step_moved", reply)


async def test_words_with_a_day_that_correct_nothing_move_no_step(http: Http) -> None:
    walk = Walk(http, header=header())
    walk.answers["create_action_item"] = kept("Call", "2026-11-26")
    await walk.say("I'll call Mum on Thursday.")
    for words in ("my week was fine until Friday", "Friday is my birthday"):
        await walk.say(words)
    assert len(walk.calls) == 1


@pytest.mark.parametrize(
    "words",
    [
        "maybe I'll call Mum on Thursday", "I won't call Mum on Thursday", "I'll call Mum",
        "Tom said I'll be fired on Friday", "If it rains I'll stay home on Sunday",
        "Will you call Mum on Thursday?", "Vielleicht rufe ich am Freitag an", "Ojalá el jueves llamo a Ana",
    ],
)  # fmt: skip
async def test_what_is_no_promise_with_a_day_is_not_kept(http: Http, words: str) -> None:
    walk = Walk(http, header=header())
    await walk.say(words)
    assert "create_action_item" not in walk.names()


STEP = (
    '<next_steps>\n<step id="7" due="Tuesday 2026-11-24" is="today">\n'
    "Call Mum; they said on Sunday: “I will.”\n</step>\n</next_steps>"
)
DUE = "<steps_due>\nDue, and not asked about yet: 7. Ask about each of them once.\n</steps_due>"


async def test_a_step_that_was_taken_back_is_not_ticked_off(http: Http) -> None:
    taken_back = STEP.replace('is="today"', 'state="taken back Tuesday 2026-11-24"')
    walk = Walk(http, header=header("en", f"{STEP}\n{taken_back}"))
    await walk.say("I called Mum.")
    assert "resolve_action_item" not in walk.names()


async def test_what_was_done_is_ticked_off(http: Http) -> None:
    walk = Walk(http, header=header("en", STEP))
    walk.answers["resolve_action_item"] = '{"written": true, "id": 7, "state": "done", "title": "Call Mum"}'
    assert "“Call Mum” is ticked off" in await walk.say("I called Mum! She laughed.")
    [(name, given)] = walk.calls
    assert (name, given["id"], given["state"], given["quote"]) == (
        "resolve_action_item", 7, "done", "I called Mum!",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tapped", "typed", "state"),
    [("done", "", "done"), ("open", "", ""), ("", "not yet, on Saturday", "open")],
)
async def test_closing_the_day_asks_once_for_a_step_that_is_due(
    http: Http, tapped: str, typed: str, state: str
) -> None:
    walk = Walk(http, kind="close_day", header=header("en", STEP, DUE))
    title = {"written": True, "id": 7, "state": state, "title": "Call Mum", "due_date": "2026-11-28"}
    walk.answers["resolve_action_item"] = orjson.dumps(title).decode()
    await walk.say("hi")
    await walk.say("Long.")
    for value in ("little", "calm", "play"):
        await walk.tap(value)
    await walk.say("The soup")
    await walk.tap("yes")
    assert "“Call Mum”" in walk.prompts[-1]
    assert not walk.completed
    await (walk.tap(tapped) if tapped else walk.say(typed))
    assert walk.completed == ["close_day"]
    resolved = [given["state"] for name, given in walk.calls if name == "resolve_action_item"]
    assert resolved == ([state] if state else [])
    assert sum(texts.stands_in("step_due", prompt) for prompt in walk.prompts) == 1


async def test_it_knows_in_this_conversation_what_was_said_in_it(http: Http) -> None:
    walk = Walk(http, header=header())
    assert "Noor" in await walk.say("what's my name?")
    await walk.say("My name is Jonah")
    await walk.say("The garden is finished at last")
    assert "Jonah" in await walk.say("what's my name?")
    assert "The garden is finished" in await walk.say("what did I tell you about the garden?")
    assert "The garden is finished" in await walk.say("I already told you, the garden")
    assert "recall_context" not in walk.names()
    assert "Jonah" in await walk.say("good night")


async def test_a_loss_comes_before_a_plan_and_stays_for_a_while(http: Http) -> None:
    walk = Walk(http, header=header())
    assert await walk.say("My mum died three weeks ago") in texts.reactions("grief")
    for words in ("I don't know what to say", "I miss her so much", "why?"):
        reply = await walk.say(words)
        quiet = [*texts.reactions("after_grief"), *texts.reactions("grief"), *texts.answers("wonder")]
        assert reply in quiet
    assert walk.names() == []


async def test_words_that_may_mean_something_dark_hold_nobody_in_a_card(http: Http) -> None:
    walk = Walk(http, header=header())
    walk.without = {"show_help_lines"}
    assert texts.said("help_hint") in await walk.say("I can't see next year at all")
    assert "plan" in (await walk.say("plan my day")).lower()


async def test_what_only_weighs_like_danger_is_asked_about_once_and_lapses(http: Http) -> None:
    walk = Walk(http, header=header(), without={"show_help_lines"})
    assert texts.said("help_maybe") in await walk.say("Honestly, I don't really know why I'm here")
    assert texts.said("help_concern") in await walk.say("I cleaned the whole flat")
    for words in ("Eleven months", "Good night"):
        reply = await walk.say(words)
        assert not any(texts.stands_in(name, reply) for name in ("help_maybe", "help_concern", "help_first"))
    await walk.say("Honestly, I don't really know why I'm here")
    assert not texts.stands_in("help_maybe", walk.said[-1])


@pytest.mark.parametrize(
    ("answer", "name"),
    [("yes", "help_first"), ("I want to kill myself", "help_first"), ("no", "care_thanks")],
)
async def test_the_answer_to_that_question_decides(http: Http, answer: str, name: str) -> None:
    walk = Walk(http, header=header())
    walk.without = {"show_help_lines"}
    await walk.say("Honestly, I don't really know why I'm here")
    assert texts.stands_in(name, await walk.say(answer))


async def test_a_sign_of_joy_is_met_gladly(http: Http) -> None:
    walk = Walk(http, header=header())
    await walk.say("hi")
    assert await walk.say("The shelves are on the wall 🎉") in texts.answers("good")


async def test_it_tells_no_time(http: Http) -> None:
    walk = Walk(http, header=header())
    await walk.say("hello")
    reply = await walk.say("what time is it?")
    assert texts.said("clock") in reply
    assert not any(mark.isdigit() for mark in reply)


async def test_a_question_is_answered_before_help_is_pointed_to_in_a_line(http: Http) -> None:
    walk = Walk(http, header=header())
    reply = await walk.say("Who can read this? I can't see next year at all")
    assert texts.stands_in("private", reply, "questions")
    assert reply.endswith(texts.said("help_hint"))


@pytest.mark.parametrize(("language", "opening"), [("de", "Planen wir"), ("es", "Planificamos")])
def test_an_arc_is_asked_in_the_accounts_language_before_a_word_was_said(language: str, opening: str) -> None:
    skill = '<skill name="open-day">\n## Goal\n</skill>'
    begin = "I have just opened this conversation and have not written anything yet. Please begin."
    body = request_body(tools=CHAT_TOOLS.definitions(), messages=[user(header(language), skill, begin)])
    first = answer(body).blocks[0]
    assert isinstance(first, Text)
    assert opening in first.text


@pytest.mark.parametrize(
    ("words", "wake", "list_of", "intention", "heading"),
    [
        ("Plane meinen Tag", "Müde", "Steuer machen, Oma anrufen und dann laufen", "ganz ruhig", "Was zählt"),
        ("Planea mi día", "Con energía", "llamar a Ana, comprar pan", "con calma", "Lo que importa"),
    ],
)
async def test_a_day_is_planned_in_their_language(
    http: Http, words: str, wake: str, list_of: str, intention: str, heading: str
) -> None:
    walk = Walk(http)
    await walk.say(words)
    assert walk.arc == "open_day"
    await walk.tap(wake)
    await walk.say(list_of)
    await walk.say(intention)
    [plan] = walk.files.values()
    assert f"## {heading}" in plan.body
    assert plan.attributes["intention"].lower() == intention
    await walk.tap("yes")
    assert walk.completed == ["open_day"]
    assert "script" not in " ".join(walk.said)
