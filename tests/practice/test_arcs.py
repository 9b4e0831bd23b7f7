"""The scripted coach in the four arcs: whole sessions."""

from collections import Counter

import pytest
from anthropic import AsyncAnthropic

from coaching.practice.coach.wording import INTRODUCTION
from tests.practice.arc_walks import ASKED_FOR, CHECKIN, LOG, PLAN, WALKS, close_day, map_life, open_day
from tests.practice.walking import OPEN, File, Walk, questions_of

MOST_EXCHANGES = {"life_mapping": 14, "open_day": 6, "close_day": 7, "weekly_checkin": 8}
OLD = {"career": 4, "health": 4, "play": 3}


@pytest.mark.parametrize("is_entered", [False, True])
@pytest.mark.parametrize("arc", WALKS)
async def test_an_arc_is_walked_from_greeting_to_completion(
    client: AsyncAnthropic, arc: str, is_entered: bool
) -> None:
    walk = Walk(client, kind=OPEN if is_entered else arc, old_ratings=dict(OLD))
    first = await walk.say(ASKED_FOR[arc] if is_entered else "hi")
    assert "practice coach" in first
    assert walk.arc == arc
    await WALKS[arc](walk)
    assert walk.completed == [arc]
    assert walk.names().count("complete_session") == 1, "nothing was missing"
    assert walk.exchanges <= MOST_EXCHANGES[arc]
    assert max(walk.rounds_of_part) <= 4
    assert all(count == 1 for count in Counter(questions_of(walk)).values())
    assert all(count == 1 for count in Counter(walk.said).values())
    if is_entered:
        assert walk.status == "active"
        assert walk.calls[-1] == ("complete_session", {"type": "arc"})
        assert await walk.say("My boss called again and I said yes to more hours.")
        assert walk.calls[-1][0] == "complete_session", "the conversation simply goes on"
    else:
        assert walk.status == "completed"
        assert walk.calls[-1] == ("complete_session", {"type": "arc"})


async def test_an_arc_whose_beginning_has_left_the_window_ends_without_the_conversation(
    client: AsyncAnthropic,
) -> None:
    walk = Walk(client, header='<skill name="open-day">\n## Goal\n\nA day with a shape.\n</skill>')
    walk.active_arc = "open_day"
    await walk.say("go on")
    await walk.tap("rested")
    await walk.say("write a letter")
    await walk.say("Calm")
    assert walk.completed == ["open_day"]
    assert walk.status == "active"


async def test_the_map_holds_what_was_said_and_nothing_else(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="life_mapping")
    greeting = await walk.say("hello")
    assert INTRODUCTION in greeting
    await map_life(walk)
    pages = {path.removesuffix(".md").rpartition("/")[2]: file for path, file in walk.files.items()}
    assert len([path for path in walk.files if path.startswith("life-map/")]) == 9
    assert pages["career"].attributes["status"] == "good"
    assert pages["career"].attributes["updated_rating"] == 3
    assert pages["finances"].attributes["status"] == "needs_attention"
    assert pages["health"].attributes["updated_rating"] == 2
    assert pages["creativity"].attributes["status"] == "thriving"
    assert "status" not in pages["relationships"].attributes
    assert "Left for later" in pages["learning"].body
    assert "“I see my sister too rarely.”" in pages["relationships"].body
    assert "no hobbies" not in pages["relationships"].body
    assert "**Learning**: left for later" in pages["_overview"].body
    assert "calmer days" in pages["current"].body
    assert "In bed by eleven" in pages["current"].body
    assert "two kids" in pages["context"].body


async def test_several_domains_in_one_answer_are_all_saved(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="life_mapping")
    await walk.say("hi")
    await walk.say(
        "Let me say it all at once. My work is okay. Our money is fine. My partner and I are well. "
        "I never play. My health needs attention. I learn Spanish. My music rests. I miss a purpose."
    )
    assert sum(path.startswith("life-map/") for path in walk.files) == 8
    assert walk.pending is not None
    assert walk.pending["name"] == "show_pulse_check"
    assert walk.exchanges == 2


async def test_a_page_that_is_there_keeps_its_words_and_later_doesnt_empty_it(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="life_mapping")
    walk.files = {
        "life-map/career.md": File("# My own page\n\nI wrote this.\n", {}),
        "life-map/finances.md": File("# Money\n\nWe save for a house.\n", {}),
    }
    await walk.say("hi")
    await walk.tap("work")
    await walk.say("My boss left. Finances later.")
    assert "I wrote this." in walk.files["life-map/career.md"].body
    assert "My boss left." in walk.files["life-map/career.md"].body
    assert walk.files["life-map/finances.md"].version == 1
    await walk.tap("people")
    assert "relationships" in walk.said[-1]


async def test_a_domain_that_was_passed_over_is_asked_for_once_more(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="life_mapping")
    await walk.say("hi")
    await walk.tap("work")
    again = await walk.say("My job eats me up.")
    assert "finances" in again
    await walk.say("no idea")
    assert "Left for later" in walk.files["life-map/finances.md"].body


async def test_the_map_may_stop_anywhere(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="life_mapping")
    await walk.say("hi")
    await walk.tap("any")
    await walk.say("Work is good. Money is fine.")
    reply = await walk.tap("enough")
    assert walk.completed == ["life_mapping"]
    assert walk.names().count("complete_session") == 2
    assert "life plan" in reply
    assert "health" in reply


async def test_a_day_plan_has_intention_and_priorities(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day")
    await walk.say("Good morning")
    await open_day(walk)
    plan = walk.files[PLAN]
    assert plan.attributes["intention"] == "Unhurried"
    assert plan.attributes["priorities"] == ["Finish the report", "Call mum", "Go for a run"]
    assert "saved" in walk.said[-1].lower()


async def test_who_is_unsure_gets_answers_to_tap(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day")
    await walk.say("hi")
    await walk.tap("rested")
    await walk.say("I don't know")
    await walk.tap("A real pause")
    await walk.say("not sure")
    await walk.tap("Kind to myself")
    assert walk.files[PLAN].attributes["priorities"] == ["A real pause"]
    assert walk.files[PLAN].attributes["intention"] == "Kind to myself"
    assert walk.completed == ["open_day"]


async def test_what_the_user_begins_with_is_not_asked_again(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day")
    await walk.say("I have to finish the tax papers today")
    after = await walk.tap("all right")
    assert "intention" in after or "spirit" in after
    await walk.say("Steady")
    assert walk.files[PLAN].attributes["priorities"] == ["Finish the tax papers today"]


@pytest.mark.parametrize("is_said", [True, False])
async def test_a_morning_of_overwhelm_shifts_to_steady_ground(client: AsyncAnthropic, is_said: bool) -> None:
    walk = Walk(client, kind="open_day")
    if is_said:
        await walk.say("I woke up in a panic, I'm completely overwhelmed.")
    else:
        await walk.say("hi")
        await walk.tap("too much")
    assert ("load_skill", {"name": "crisis-support"}) in walk.calls
    assert "crisis-support" not in " ".join([*walk.said, *walk.notes, *walk.prompts])
    assert walk.options() == ["heard", "calm", "sort"]
    await walk.tap("calm")
    await walk.say("The lamp, a chair, my hands.")
    assert not walk.files
    await walk.tap("small")
    await walk.say("A walk around the block")
    assert walk.files[PLAN].attributes["priorities"] == ["A walk around the block"]
    assert walk.completed == ["open_day"]


async def test_a_heavy_morning_may_go_without_a_plan(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day")
    await walk.say("Everything is falling apart and I can't stop crying.")
    await walk.tap("heard")
    await walk.say("My mother is ill and I have to be strong for everybody.")
    reply = await walk.tap("leave")
    assert not walk.files
    assert walk.completed == ["open_day"]
    assert "is saved" not in reply


async def test_a_log_is_changed_until_it_feels_right(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="close_day")
    await walk.say("hi")
    await walk.say("Work was long, my boss was nice for once. I went for a run.")
    await walk.tap("little")
    await walk.tap("calm")
    await walk.say("The run along the river.")
    assert walk.options() == ["yes", "change"]
    assert walk.files[LOG].attributes["domains_touched"] == ["career", "health"]
    assert not walk.completed
    await walk.tap("change")
    await walk.say("leave out the boss, and I was more content")
    assert walk.files[LOG].version == 2
    assert "boss" not in walk.files[LOG].body
    assert walk.files[LOG].attributes["mood_signal"] == "content"
    await walk.say("Also my daughter called me in the evening.")
    assert "my daughter called" in walk.files[LOG].body
    assert walk.files[LOG].attributes["domains_touched"] == ["relationships", "health"]
    assert not walk.completed
    await walk.say("yes, that's it. good night")
    assert walk.completed == ["close_day"]
    assert walk.files[LOG].version == 3


async def test_a_day_that_names_no_part_of_life_is_asked_for_one(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="close_day")
    await walk.say("hi")
    await walk.say("Grey and slow, nothing much to tell.")
    await walk.tap("some")
    await walk.tap("mixed")
    await walk.say("nothing")
    await walk.tap("play")
    assert walk.files[LOG].attributes["domains_touched"] == ["play"]
    await walk.tap("yes")
    assert walk.completed == ["close_day"]


async def test_the_check_in_sees_what_moved(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="weekly_checkin", old_ratings={"career": 4, "health": 2, "play": 3})
    await walk.say("hi")
    await walk.say("A week of deadlines, and I slept badly.")
    asked = await walk.rate(career=4, health=4, play=3)
    assert "health" in asked
    assert "from 2 to 4" in asked or "was 2, now it is 4" in asked
    await walk.say("I went to bed early.")
    await walk.say(
        "yes, they do" if "Do they fit" in walk.said[-1] or "Is that right" in walk.said[-1] else "sleep"
    )
    reply = await walk.say("No screens after nine")
    assert walk.files[CHECKIN].attributes["themes"]
    assert walk.files["life-plan/weekly.md"].attributes["intention"] == "No screens after nine"
    assert "2026-11-29" in reply


async def test_a_domain_in_crisis_is_stayed_with(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="weekly_checkin", old_ratings={"health": 4})
    await walk.say("hi")
    await walk.say("Deadlines every day.")
    asked = await walk.rate(career=3, health=1)
    assert ("load_skill", {"name": "domain-deep-dive"}) in walk.calls
    assert "stay with health" in asked
    assert "domain-deep-dive" not in asked
    await walk.say("On Tuesday I couldn't get up.")
    await walk.say("Walking to the bakery.")
    await walk.tap("in_crisis")
    await walk.say("See the doctor on Monday.")
    await walk.say("sleep, work")
    assert walk.completed == ["weekly_checkin"]
    assert walk.files["life-map/health.md"].attributes["status"] == "in_crisis"
    assert "See the doctor on Monday" in walk.files["life-plan/weekly.md"].body
    assert walk.files[CHECKIN].attributes["themes"] == ["Sleep", "Work"]


async def test_the_same_walk_is_always_the_same(client: AsyncAnthropic) -> None:
    said = []
    for _ in range(2):
        walk = Walk(client, kind="close_day")
        await walk.say("hi")
        await close_day(walk)
        said.append([*walk.said, *walk.prompts, *walk.notes])
    assert said[0] == said[1]
