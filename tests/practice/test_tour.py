"""The guided tour in the four arcs: whole sessions, corrections, and what reaches a file."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.tables import ARCS
from tests.practice.arc_walks import ASKED_FOR, CHECKIN, LOG, PLAN, WALKS, close_day, map_life, open_day
from tests.practice.conftest import Http
from tests.practice.walking import OPEN, File, Walk

MAX_EXCHANGES = {"life_mapping": 15, "open_day": 6, "close_day": 7, "weekly_checkin": 6}


@pytest.mark.slow
@pytest.mark.parametrize("is_entered", [False, True])
@pytest.mark.parametrize("arc", WALKS)
async def test_an_arc_is_walked_from_greeting_to_completion(http: Http, arc: str, is_entered: bool) -> None:
    walk = Walk(http, kind=OPEN if is_entered else arc)
    first = await walk.say(ASKED_FOR[arc] if is_entered else "hi")
    assert "script" in first
    assert walk.arc == arc
    await WALKS[arc](walk)
    assert walk.completed == [arc]
    assert walk.names().count("complete_session") == 1, "nothing was missing"
    assert walk.exchanges <= MAX_EXCHANGES[arc]
    assert max(walk.rounds_of_part) <= 4
    assert ARCS[arc].farewell in walk.said[-1]
    assert walk.status == ("active" if is_entered else "completed")
    if is_entered:
        assert await walk.say("My boss called again and I said yes to more hours.")
        assert walk.names().count("complete_session") == 1, "the conversation simply goes on"


@pytest.mark.slow
@pytest.mark.parametrize("arc", WALKS)
async def test_the_tour_opens_an_arc_itself_and_the_opening_words_are_nobodys_answer(
    http: Http, arc: str
) -> None:
    walk = Walk(http, kind=arc)
    first = await walk.say(
        "I have just opened this conversation and have not written anything yet. Please begin."
    )
    assert texts.said("introduction") in first
    assert ARCS[arc].opening in first
    assert ARCS[arc].slots[0].question in f"{first} {walk.prompts}"
    await WALKS[arc](walk)
    assert walk.completed == [arc]
    assert "Please begin" not in str(walk.files)


async def test_an_arc_whose_beginning_has_left_the_window_asks_for_what_it_can_t_see(
    http: Http,
) -> None:
    walk = Walk(http, header='<skill name="open-day">\n## Goal\n\nA day with a shape.\n</skill>')
    walk.active_arc = "open_day"
    await walk.say("go on")
    await open_day(walk)
    assert walk.completed == ["open_day"]
    assert walk.status == "active"


@pytest.mark.slow
async def test_parts_of_the_map_that_have_left_the_window_are_not_asked_for_again(
    http: Http,
) -> None:
    walk = Walk(http, kind="life_mapping")
    await walk.say("hi")
    for _ in range(4):
        await walk.say("It is okay so far")
    del walk.history[:6]  # the newest message stays with the question before it
    await walk.say("I read a lot")
    assert walk.prompts[-1] == ARCS["life_mapping"].slot("creativity").question
    assert "I read a lot" in walk.files["life-map/learning.md"].body


@pytest.mark.slow
async def test_the_map_holds_what_was_said_and_nothing_else(http: Http) -> None:
    walk = Walk(http, kind="life_mapping")
    await walk.say("hello")
    await map_life(walk)
    pages = {path.removesuffix(".md").rpartition("/")[2]: file for path, file in walk.files.items()}
    assert len([path for path in walk.files if path.startswith("life-map/")]) == 7
    assert pages["career"].attributes["updated_rating"] == 3
    assert "status" not in pages["career"].attributes
    assert pages["health"].attributes["status"] == "needs_attention"
    assert pages["creativity"].attributes["status"] == "thriving"
    assert "“I see my sister too rarely”" in pages["relationships"].body
    assert "learning" not in pages, "“later” writes no page"
    assert "**Learning**: left for later" in pages["_overview"].body
    assert "Calmer days" in pages["current"].body
    assert "In bed by eleven" in pages["current"].body
    assert "two kids" in pages["context"].body


async def test_a_page_that_is_there_keeps_its_words_and_later_doesnt_empty_it(http: Http) -> None:
    walk = Walk(http, kind="life_mapping")
    walk.files = {
        "life-map/career.md": File("# My own page\n\nI wrote this.\n", {}),
        "life-map/relationships.md": File("# People\n\nWe all live in one street.\n", {}),
    }
    await walk.say("hi")
    await walk.say("My boss left")
    await walk.tap("later")
    assert "“My boss left”" in walk.files["life-map/career.md"].body
    assert "I wrote this." in walk.files["life-map/career.md"].body
    assert walk.files["life-map/relationships.md"].version == 1


@pytest.mark.slow
async def test_a_second_note_keeps_the_first_and_a_correction_replaces_only_its_own(
    http: Http,
) -> None:
    walk = Walk(http)
    await walk.say("note something about me")
    await walk.say("I work nights")
    await walk.tap("yes")
    await walk.say("note something about me")
    await walk.say("I have two cats")
    await walk.say("sorry, I meant three cats")
    body = walk.files["sage/context.md"].body
    assert "“I work nights”" in body
    assert "“three cats”" in body
    assert "two cats" not in body


async def test_a_day_plan_has_intention_and_priorities(http: Http) -> None:
    walk = Walk(http, kind="open_day")
    await walk.say("Good morning")
    await open_day(walk)
    plan = walk.files[PLAN]
    assert plan.attributes["intention"] == "No hurry at all"
    assert plan.attributes["priorities"] == ["Finish the report", "Call mum and dad", "Go for a run"]


async def test_what_is_said_before_a_question_is_no_answer_to_it(http: Http) -> None:
    walk = Walk(http, kind="close_day")
    await walk.say("I have to finish the tax papers today")
    await close_day(walk)
    assert "tax papers" not in str(walk.files)


async def test_a_heavy_morning_loads_the_approach_quietly_and_may_go_without_a_plan(
    http: Http,
) -> None:
    walk = Walk(http, kind="open_day")
    await walk.say("hi")
    await walk.tap("too much")
    assert ("load_skill", {"name": "crisis-support"}) in walk.calls
    assert "crisis-support" not in " ".join([*walk.said, *walk.notes, *walk.prompts])
    reply = await walk.tap("leave")
    assert walk.completed == ["open_day"]
    assert not walk.files
    assert "boxes to tick" not in reply


CORRECTIONS = [
    ("no, I meant calm and slow", "Calm and slow"),
    ("change the intention to brave", "Brave"),
    ("my intention should be kind", "Kind"),
    ("not unhurried but steady", "Steady"),
    ("Steady, not unhurried", "Steady"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "intention"), CORRECTIONS)
async def test_a_correction_changes_the_file(http: Http, words: str, intention: str) -> None:
    walk = Walk(http, kind="open_day")
    await walk.say("hi")
    await walk.tap("tired")
    await walk.say("write a letter")
    await walk.say("Unhurried")
    assert walk.files[PLAN].attributes["intention"] == "Unhurried"
    reply = await walk.say(words)
    assert walk.files[PLAN].version == 2
    assert walk.files[PLAN].attributes["intention"].lower() == intention.lower()
    assert "Unhurried" not in walk.files[PLAN].body
    assert intention.lower() in reply.lower()
    await walk.tap("yes")
    assert walk.completed == ["open_day"]


@pytest.mark.slow
async def test_one_of_several_items_is_corrected_by_choice_or_by_name(http: Http) -> None:
    walk = Walk(http, kind="open_day")
    await walk.say("hi")
    await walk.tap("tired")
    await walk.say("call Priya, buy bread")
    await walk.say("sorry, I meant call Petra")
    assert walk.options() == ["Call Priya", "Buy bread", "all"]
    await walk.tap("Call Priya")
    await walk.say("not bread but rolls")
    await walk.say("Calm")
    assert walk.files[PLAN].attributes["priorities"] == ["Call Petra", "Buy rolls"]
    assert "Priya" not in str(walk.files)


@pytest.mark.slow
async def test_something_to_change_is_picked_and_asked_for_again(http: Http) -> None:
    walk = Walk(http, kind="close_day")
    await walk.say("hi")
    await walk.say("Long.")
    await walk.tap("little")
    await walk.tap("calm")
    await walk.tap("play")
    await walk.say("The soup")
    await walk.tap("change")
    assert walk.options() == ["story", "energy", "mood", "touched", "keep"]
    await walk.tap("energy")
    await walk.tap("plenty")
    assert walk.files[LOG].attributes["energy"] == "plenty"
    assert not walk.completed
    await walk.say("yes, that's right")
    assert walk.completed == ["close_day"]


async def test_a_rating_goes_with_the_words_that_it_was_in(http: Http) -> None:
    walk = Walk(http, kind="life_mapping")
    await walk.say("hi")
    await walk.say("Fine, 4 out of 5")
    assert walk.files["life-map/career.md"].attributes["updated_rating"] == 4
    await walk.say("no, I meant it bores me")
    saved = [values for name, values in walk.calls if name == "save_file"]
    assert set(saved[-1]["remove"]) == {"status", "updated_rating"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("why do you ask?", "how much to take on"),
        ("Je ne suis pas bien aujourd'hui, merci", "Je ne suis qu'un script"),
        ("xkcdf qwrtz sdfgh", "written"),
        ("🙂", "emoji"),
        ("you're stupid", "script"),
        ("tell me a joke", "script"),
        ("ok", "tap"),
        ("word " * 300, "too long"),
        ("please don't write that down", "I won't"),
        ("let's do my weekly check-in", "finish this first"),
    ],
)
async def test_what_is_no_answer_is_met_and_the_question_put_again(http: Http, words: str, said: str) -> None:
    walk = Walk(http, kind="open_day")
    await walk.say("hi")
    reply = await walk.say(words)
    assert said in reply
    assert walk.prompts == [ARCS["open_day"].slots[0].question] * 2
    assert not walk.files
    await open_day(walk)
    assert walk.completed == ["open_day"]


async def test_more_than_three_are_not_chosen_from(http: Http) -> None:
    walk = Walk(http, kind="open_day")
    await walk.say("hi")
    await walk.tap("rested")
    assert "Which three" in await walk.say("a, b, c, d")
    assert not walk.files


async def test_the_check_in_keeps_themes_and_an_intention(http: Http) -> None:
    walk = Walk(http, kind="weekly_checkin")
    await walk.say("hi")
    await WALKS["weekly_checkin"](walk)
    assert walk.files[CHECKIN].attributes["themes"] == ["Deadlines", "My sister"]
    assert "**Health**: 4" in walk.files[CHECKIN].body
    assert walk.files["life-plan/weekly.md"].attributes["intention"] == "Leave at five on Wednesday"
    assert "Sunday 29 November" in walk.said[-1]


@pytest.mark.slow
async def test_the_same_walk_is_always_the_same(http: Http) -> None:
    said = []
    for _ in range(2):
        walk = Walk(http, kind="close_day")
        await walk.say("hi")
        await close_day(walk)
        said.append([*walk.said, *walk.prompts, *walk.notes])
    assert said[0] == said[1]
