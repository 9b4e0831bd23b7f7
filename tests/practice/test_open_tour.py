"""The guided tour in an open conversation: its menu, offers, recall, notes, approaches and questions."""

import re

import orjson
import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.tables import WALKS
from coaching.safety.plan import PlanSection, parse_plan
from tests.practice.conftest import Http
from tests.practice.walking import File, Walk

DUE = '<offer arc="weekly_checkin">\nThe weekly check-in is due: weekly_checkin would fit.\n</offer>'
KNOWN = "<session_context>\nName: Ana\nLast session: open day, yesterday\n</session_context>"
HITS = {
    "hits": [
        {"date": "2026-03-02", "said_by": "user", "text": "I want to learn the cello."},
        {"date": "2026-03-02", "said_by": "Sage", "text": "Noted."},
    ]
}


async def test_it_says_at_once_what_it_is_and_shows_what_it_can(http: Http) -> None:
    walk = Walk(http)
    assert texts.said("introduction") in await walk.say("hi")
    assert walk.options() == ["open_day", "life_mapping", "weekly_checkin", "close_day", "recall", "more"]
    await walk.tap("more")
    assert "decision" in walk.options()
    assert "provider bills" in await walk.tap("real")
    assert texts.said("introduction") not in await walk.say("hello again")


async def test_a_person_who_was_here_before_is_met_shortly(http: Http) -> None:
    walk = Walk(http, header=KNOWN)
    reply = await walk.say("hi")
    assert texts.said("hello_again") in reply
    assert texts.said("introduction") not in reply


async def test_what_is_due_is_offered_once(http: Http) -> None:
    walk = Walk(http, header=DUE)
    assert texts.offers()["weekly_checkin"] in await walk.say("hi")
    assert texts.said("declined") in await walk.say("no")
    for words in ("hello", "My boss wants more hours of me.", "What a week it was."):
        assert texts.offers()["weekly_checkin"] not in await walk.say(words)
    await walk.say("ok, let's do my check-in after all")
    assert walk.arc == "weekly_checkin", "a wish of their own still counts"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Are you a real person?", "script"),
        ("who are you?", "script"),
        ("what can you do?", "plan your day"),
        ("help", "Safety and help lines"),
        ("can anyone else read this?", "No other user can see what you write"),
        ("how do I delete that?", "Files"),
        ("can I export it all?", "Download everything"),
        ("what does a real model cost?", "a provider bills"),
        ("do you speak German?", "German and Spanish"),
        ("how long does it take?", "two or three minutes"),
        ("should I quit my job?", "I can't"),
        ("what is the capital of Peru?", "know nothing of the world"),
        ("what did you write?", "written nothing"),
        ("which approaches are in play?", "No approach"),
        ("what happens in danger?", "help lines"),
    ],
)
async def test_questions_are_answered_or_called_unanswerable(http: Http, words: str, said: str) -> None:
    walk = Walk(http)
    await walk.say("hi")
    assert said in await walk.say(words)
    assert set(walk.names()) == {"show_options"}


async def test_what_else_there_is_to_see_is_said_once_in_a_while(http: Http) -> None:
    walk = Walk(http)
    await walk.say("hi")
    told = [f"My neighbour painted a {what}" for what in ("boat", "door", "cup", "bee")]
    words = [*told, "thanks", "thanks"]
    hints = [texts.stands_in("hints", await walk.say(each), "reactions") for each in words]
    assert hints.count(True) == 1
    assert hints[5], "to who says thanks, when the menu was shown long ago"


async def test_words_that_a_script_can_t_place_are_answered_in_turn(http: Http) -> None:
    walk = Walk(http)
    await walk.say("hi")
    replies = [
        await walk.say(f"My neighbour painted {what} on Sunday") for what in ("a boat", "a door", "it")
    ]
    assert len(set(replies)) == 3
    assert not walk.files


@pytest.mark.parametrize("words", ["can you show me my week", "show me a picture of my sister again"])
async def test_whoever_wants_to_be_shown_something_hears_what_there_is(http: Http, words: str) -> None:
    walk = Walk(http)
    await walk.say("My sister came by on Sunday.")
    assert await walk.say(words)


async def test_heavy_words_are_sent_to_people(http: Http) -> None:
    walk = Walk(http)
    await walk.say("hi")
    assert texts.reactions("heavy")[0] in await walk.say("I feel hopeless and completely overwhelmed")


async def test_a_memory_is_looked_up_and_never_invented(http: Http) -> None:
    walk = Walk(http)
    walk.answers["recall_context"] = orjson.dumps(HITS).decode()
    await walk.say("hi")
    reply = await walk.say("Do you remember what I said about the cello?")
    assert walk.calls[-1] == ("recall_context", {"query": "the cello"})
    assert "on 2026-03-02: “I want to learn the cello.”" in reply
    assert "Noted" not in reply
    walk.answers["recall_context"] = '{"hits": []}'
    assert "nothing" in await walk.say("Did I ever mention Lisbon?")
    walk.failures["recall_context"] = ["The search is away."]
    assert "didn't work" in await walk.say("What did I say about rowing?")


async def test_the_menus_search_asks_for_a_word(http: Http) -> None:
    walk = Walk(http)
    walk.answers["recall_context"] = orjson.dumps(HITS).decode()
    await walk.say("hi")
    await walk.tap("recall")
    assert "cello" in await walk.say("the cello")
    assert walk.calls[-1] == ("recall_context", {"query": "the cello"})


async def test_inside_an_arc_a_memory_is_looked_up_and_the_question_put_again(http: Http) -> None:
    walk = Walk(http, kind="close_day")
    walk.answers["recall_context"] = orjson.dumps(HITS).decode()
    await walk.say("hi")
    reply = await walk.say("what did I say about the cello?")
    assert "I want to learn the cello." in reply
    assert "How was your day?" in reply


async def test_without_the_tool_a_memory_is_not_invented_and_an_arc_not_entered(
    http: Http,
) -> None:
    walk = Walk(http)
    walk.without = {"recall_context", "enter_structured_arc"}
    await walk.say("hi")
    assert "won't invent" in await walk.say("Do you remember what I said about the cello?")
    assert "home page" in await walk.say("let's open my day")
    assert walk.names() == ["show_options"]


async def test_an_arc_that_does_not_begin_is_named_as_such(http: Http) -> None:
    walk = Walk(http, failures={"enter_structured_arc": ["Its guidance is missing."]})
    assert "Its guidance is missing." in await walk.say("map my life")
    assert not walk.arc


@pytest.mark.slow
async def test_a_decision_is_weighed_and_written_only_after_a_yes(http: Http) -> None:
    walk = Walk(http)
    await walk.say("use the decision helper")
    assert walk.names() == ["load_skill"]
    assert "decision-helper" not in " ".join(walk.said)
    await walk.say("Whether we move to Porto, by Friday")
    await walk.say("More money there, but my parents are here")
    await walk.say("skip")
    assert walk.options() == ["yes", "no"]
    assert not walk.files
    reply = await walk.tap("yes")
    [body] = [file.body for file in walk.files.values()]
    assert "Whether we move to Porto" in body
    assert WALKS["decision"].farewell in reply
    assert await walk.say("My sister called me on Sunday")
    assert len(walk.files) == 1


@pytest.mark.parametrize(("words", "count"), [("yes please", 1), ("no thanks", 0)])
async def test_a_plain_yes_or_no_decides_whether_answers_are_written(
    http: Http, words: str, count: int
) -> None:
    walk = Walk(http)
    for each in ("use the decision helper", "Whether we move to Porto", "More money there", "skip"):
        await walk.say(each)
    await walk.say(words)
    assert len(walk.files) == count


async def test_a_pattern_is_kept_only_after_a_yes(http: Http) -> None:
    walk = Walk(http)
    await walk.say("let's look at a pattern")
    await walk.say("With Ana in 2019, with Rui at university")
    await walk.say("I stop calling")
    await walk.tap("no")
    assert not walk.files


@pytest.mark.parametrize(
    "name", ["domain deep dive", "capture-review", "life_plan_revision", "crisis support"]
)
async def test_an_approach_is_opened_when_it_is_asked_for_by_name(http: Http, name: str) -> None:
    walk = Walk(http)
    await walk.say("hi")
    reply = await walk.say(f"let's use the {name}")
    assert walk.calls[-1] == ("load_skill", {"name": re.sub("[ _]", "-", name)})
    assert "real model" in reply
    assert re.sub("[_-]", " ", name) in await walk.say("which approaches are in use?")


async def test_who_corrects_what_is_finished_learns_where_it_can_be_changed(http: Http) -> None:
    walk = Walk(http)
    await walk.say("plan my day")
    await walk.tap("tired")
    await walk.say("write a letter")
    await walk.say("Calm")
    await walk.tap("yes")
    assert "Files" in await walk.say("no, I meant two letters")
    assert "two letters" not in str(walk.files)


async def test_without_tools_it_talks_and_calls_nothing(http: Http) -> None:
    walk = Walk(http)
    walk.without = {
        "show_options",
        "save_file",
        "read_file",
        "load_skill",
        "enter_structured_arc",
        "recall_context",
    }
    assert "Plan my day" in await walk.say("hi")
    await walk.say("note something about me")
    assert not walk.calls


@pytest.mark.slow
async def test_a_safety_plan_is_written_from_words_and_only_after_a_yes(
    http: Http,
) -> None:
    walk = Walk(http)
    held = "## What helps me\n\n- a bath\n\n## Professionals\n\n- Dr Wu"
    walk.files["sage/safety-plan.md"] = File(body=held, attributes={})
    await walk.say("I’d like to write a safety plan.")
    assert walk.names() == ["load_skill"]
    await walk.say("I stop answering messages")
    await walk.say("A shower, then the long walk")
    await walk.say("Tom, 030 123456")
    await walk.say("skip")
    assert walk.options() == ["yes", "no"]
    assert walk.files["sage/safety-plan.md"].body == held
    reply = await walk.tap("yes")
    assert WALKS["safety_plan"].farewell in reply
    plan = parse_plan(walk.files["sage/safety-plan.md"].body)
    assert plan.texts == {
        PlanSection.WARNING_SIGNS: "- I stop answering messages",
        PlanSection.WHAT_HELPS: "- a bath\n- A shower, then the long walk",
        PlanSection.WHOM_TO_CALL: "- Tom, 030 123456",
    }, "the server keeps the sections that are left out"
    assert "attributes" not in walk.calls[-1][1]


@pytest.mark.parametrize("is_in_walk", [False, True])
async def test_grief_gets_no_form_and_isn_t_noted(http: Http, is_in_walk: bool) -> None:
    walk = Walk(http)
    if is_in_walk:
        await walk.say("hi")
        await walk.tap("close_day")
    reply = await walk.say("I don't know what my days are for any more since mum died")
    assert reply in texts.reactions("grief")
    assert not {name for name, _ in walk.calls[-1:]} & {"show_options", "save_file", "show_pulse_check"}
