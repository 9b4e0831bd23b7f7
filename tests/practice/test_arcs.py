"""The scripted coach in the four arcs: whole sessions, and interruptions."""

import random
import time
from collections import Counter

import pytest
from anthropic import AsyncAnthropic

from coaching.practice.coach.answer import answer
from coaching.practice.coach.arc_hearing import (
    arc_wanted,
    hear_domains,
    hear_list,
    hear_rating,
    hear_status,
    is_skip,
)
from coaching.practice.coach.file_names import missing_in_words
from coaching.practice.coach.wording import INTRODUCTION, RETRY_OFFER
from coaching.practice.script import Text
from coaching.tools import CHAT_TOOLS
from tests.practice.conftest import assistant, request_body, user
from tests.practice.walking import OPEN, TODAY, File, Walk, questions_of

pytestmark = pytest.mark.usefixtures("_quiet_client")

ASKED_FOR = {
    "life_mapping": "Can we map my life?",
    "open_day": "let's open my day",
    "close_day": "I'd like to close the day",
    "weekly_checkin": "let's do my weekly check-in",
}
LOG, PLAN, CHECKIN = f"daily-logs/{TODAY}.md", f"day-plans/{TODAY}.md", f"check-ins/{TODAY}.md"


@pytest.fixture
def _quiet_client(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", logger="httpx2")


async def map_life(walk: Walk) -> None:
    await walk.tap("work")
    await walk.say("My job is fine but dull, 3. Money is tight since we moved; finances need attention.")
    await walk.tap("people")
    await walk.say("I see my sister too rarely. I have no hobbies at all at the moment.")
    await walk.tap("body")
    await walk.say("I sleep badly, 2. Learning: later")
    await walk.say("I paint on Sundays and it's thriving. As to meaning, I miss a direction.")
    await walk.rate(career=3, health=2, play=1)
    await walk.say("It all hangs on sleep, I want calmer days")
    await walk.say("In bed by eleven on Monday")
    await walk.say("I have two kids and work nights")


async def open_day(walk: Walk) -> None:
    await walk.tap("tired")
    await walk.say("finish the report, call mum and go for a run")
    await walk.say("Unhurried")


async def close_day(walk: Walk) -> None:
    await walk.say("Work was long, my boss was nice for once. I went for a run.")
    await walk.tap("little")
    await walk.tap("calm")
    await walk.say("The run along the river. I want to let go of the emails.")
    await walk.tap("yes")


async def check_in(walk: Walk) -> None:
    await walk.say("Deadlines every day, but my sister visited on Sunday.")
    await walk.rate(career=3, health=4, play=3)
    await walk.say("The new project eats my evenings.")
    await walk.say("deadlines, my sister")
    await walk.say("Leave at five on Wednesday")


WALKS = {"life_mapping": map_life, "open_day": open_day, "close_day": close_day, "weekly_checkin": check_in}
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


async def test_a_pulse_that_is_passed_over_is_not_forced(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="weekly_checkin")
    await walk.say("hi")
    await walk.say("It was a quiet week at home.")
    await walk.say("I'd rather not give numbers")
    assert walk.names().count("show_pulse_check") == 1
    await walk.say("My son laughed a lot on Sunday.")
    await walk.say("quiet, laughing")
    reply = await walk.say("One evening without plans")
    assert walk.completed == ["weekly_checkin"]
    assert "pulse" in reply
    assert walk.names().count("complete_session") == 2


async def test_a_dismissed_question_is_not_put_again_in_the_same_words(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day")
    await walk.say("hi")
    walk.dismiss()
    reply = await walk.say("I slept well, thanks. Let's go on.")
    assert walk.pending is None
    assert "matters" in reply or "good day" in reply


async def test_danger_in_the_note_of_a_pulse_check_comes_before_the_arc(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="weekly_checkin")
    await walk.say("hi")
    await walk.say("It was a hard week.")
    reply = await walk.rate(health=1, note="I don't want to live any more")
    assert "findahelpline.com" in reply
    assert "Stay close" in await walk.say("yes, my brother is here")


async def test_a_failed_save_is_tried_once_more_in_a_simpler_form(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day", failures={"save_file": ["The storage is not reachable."]})
    await walk.say("hi")
    await open_day(walk)
    saves = [values for name, values in walk.calls if name == "save_file"]
    assert len(saves) == 2
    assert "preview_line" not in saves[1]["attributes"]
    assert walk.completed == ["open_day"]


async def test_a_save_that_fails_twice_is_said_and_nothing_is_claimed(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day", failures={"save_file": ["The storage is down."] * 2})
    await walk.say("hi")
    await walk.tap("rested")
    await walk.say("write a letter")
    reply = await walk.say("Calm")
    assert "today's plan" in reply
    assert "The storage is down." in reply
    assert RETRY_OFFER in reply
    assert not walk.completed
    again = await walk.say("yes, try again")
    assert PLAN in walk.files
    assert "saved" in again
    assert walk.completed == ["open_day"]


async def test_going_on_without_a_file_that_fails_is_said_at_the_end(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day", failures={"save_file": ["The storage is down."] * 2})
    await walk.say("hi")
    await open_day(walk)
    reply = await walk.say("no, let's leave that file")
    assert walk.completed == ["open_day"]
    assert not walk.files
    assert "is saved" not in reply
    assert "day plan" in reply


async def test_a_type_that_may_not_be_written_is_not_tried_twice(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="weekly_checkin", refused_types={"weekly-plan"})
    await walk.say("hi")
    await check_in(walk)
    assert [values["file_type"] for name, values in walk.calls if name == "save_file"] == [
        "check-in",
        "weekly-plan",
    ]
    assert "the plan of your week" in walk.said[-1]
    assert "Written: your check-in." in walk.said[-1]


async def test_what_a_completion_names_as_missing_is_saved_first(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="life_mapping")
    await walk.say("hi")
    await walk.tap("work")
    await walk.say("My job is good. Money is fine.")
    del walk.files["life-map/career.md"]
    await walk.say("My friends are far away. I play chess. My health is okay. I study Greek.")
    await walk.say("I write poems. I miss a purpose.")
    await walk.rate(career=4)
    await walk.say("Calmer days")
    await walk.say("Call Ana")
    await walk.say("I live in Porto")
    assert not walk.completed
    await walk.say("go on")
    assert "“My job is good.”" in walk.files["life-map/career.md"].body
    assert walk.completed == ["life_mapping"]


async def test_a_session_that_expired_is_named_as_such(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day")
    await walk.say("hi")
    await walk.tap("rested")
    await walk.say("write a letter")
    walk.status = "expired"
    walk.active_arc = "open_day"
    reply = await walk.say("Calm")
    assert "expired" in reply
    assert not walk.completed


async def test_a_completion_that_fails_is_not_called_one(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day", failures={"complete_session": ["The database is away."]})
    await walk.say("hi")
    await open_day(walk)
    assert "The database is away." in walk.said[-1]
    await walk.say("ok, go on")
    assert walk.completed == ["open_day"]


async def test_a_spent_budget_ends_in_words_and_go_on_finishes(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day", max_rounds=2)
    await walk.say("hi")
    await walk.tap("rested")
    await walk.say("write a letter")
    reply = await walk.say("Calm")
    assert "go on" in reply
    assert not walk.completed
    await walk.say("go on")
    assert walk.completed == ["open_day"]
    assert walk.files[PLAN].version == 1


@pytest.mark.parametrize(
    "words", ["stop", "let's stop this", "I don't want to do this any more", "please cancel"]
)
async def test_an_arc_is_left_whenever_the_user_wishes(client: AsyncAnthropic, words: str) -> None:
    walk = Walk(client)
    await walk.say(ASKED_FOR["weekly_checkin"])
    await walk.say("It was fine.")
    reply = await walk.say(words)
    assert walk.completed == ["weekly_checkin"]
    assert walk.status == "active"
    assert not walk.files
    assert "written down" not in reply


async def test_who_has_to_go_finds_the_place_kept(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="weekly_checkin")
    await walk.say("hi")
    reply = await walk.say("I have to go now, bye")
    assert "complete_session" not in walk.names()
    assert "day" in reply
    await walk.say("hello, I'm back")
    await walk.say("My work was calm and my garden is green.")
    assert walk.pending is not None
    assert walk.pending["name"] == "show_pulse_check"


async def test_a_question_back_is_answered_and_the_arc_goes_on(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="close_day")
    await walk.say("hi")
    reply = await walk.say("Who are you?")
    assert "script" in reply
    assert reply.count("?") >= 1
    await walk.say("A day full of meetings.")
    assert walk.pending is not None


async def test_the_rest_is_skipped_on_request(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="close_day")
    await walk.say("I worked all day and I'm glad it's over.")
    await walk.say("just save it please")
    assert LOG in walk.files
    assert walk.options() == ["yes", "change"]
    await walk.tap("yes")
    assert walk.completed == ["close_day"]


async def test_the_same_walk_is_always_the_same(client: AsyncAnthropic) -> None:
    said = []
    for _ in range(2):
        walk = Walk(client, kind="close_day")
        await walk.say("hi")
        await close_day(walk)
        said.append([*walk.said, *walk.prompts, *walk.notes])
    assert said[0] == said[1]


WORDS = (
    "hi", "yes", "no", "later", "I don't know", "My job is killing me and I miss my friends.", "stop",
    "just save it", "health 2, finances need attention", "who are you?", "go on", "Ich weiß nicht", "bye",
    "I'm overwhelmed", "<b>x</b>", "career, career, career", "thanks", "should I take this job?",
    "close my day", "let's map my life", "🙂", "change",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_comes_each_answer_is_valid_and_says_something(
    client: AsyncAnthropic, seed: int
) -> None:
    chance = random.Random(seed)
    walk = Walk(client, kind=chance.choice([*WALKS, OPEN]))
    for name in ("save_file", "complete_session", "enter_structured_arc", "read_file", "load_skill"):
        if chance.random() < 0.25:
            walk.failures[name] = ["It failed."] * chance.randint(1, 3)
    for _ in range(14):
        if walk.status != "active":
            break
        before = len(walk.calls)
        if walk.pending is not None and walk.pending["name"] == "show_options" and chance.random() < 0.6:
            words = await walk.tap(chance.choice(walk.options()))
        elif (
            walk.pending is not None and walk.pending["name"] == "show_pulse_check" and chance.random() < 0.6
        ):
            words = await walk.rate(career=chance.randint(1, 5), play=chance.randint(1, 5))
        elif walk.pending is not None and chance.random() < 0.3:
            walk.dismiss()
            continue
        else:
            words = await walk.say(chance.choice(WORDS))
        assert words.strip() or walk.pending is not None or len(walk.calls) > before


@pytest.mark.parametrize("arc", WALKS)
@pytest.mark.parametrize(
    "strange",
    [
        "<skill name=" * 1500,
        "later " * 3000,
        " " * 19_000 + "x",
        "no, " * 5000,
        "1. " * 6000,
        "i should i " * 1800,
    ],
)
def test_long_strange_answers_are_taken_at_once(arc: str, strange: str) -> None:
    skill = f'<skill name="{arc.replace("_", "-")}">\n## Goal\n</skill>'
    body = request_body(tools=CHAT_TOOLS.definitions())
    opening = answer({**body, "messages": [user(skill, "hi")]})
    asked = [block.text for block in opening.blocks if isinstance(block, Text)]
    body["messages"] = [user(skill, "hi"), assistant(*asked), user(strange)]
    begun = time.perf_counter()
    assert answer(body).blocks
    assert time.perf_counter() - begun < 1.0


WISHES = [
    ("let's do my weekly check-in", "weekly_checkin"),
    ("check-in", "weekly_checkin"),
    ("Can you help me close the day?", "close_day"),
    ("I'd like to plan my day", "open_day"),
    ("map my life", "life_mapping"),
    ("I don't want a check-in today", ""),
    ("My weekly check-in with my boss was awful", ""),
    ("What is a life map?", ""),
    ("I closed the day with a walk", ""),
]


@pytest.mark.parametrize(("words", "arc"), WISHES)
def test_a_wish_for_an_arc_is_heard(words: str, arc: str) -> None:
    assert arc_wanted(words) == arc


def test_a_spoken_list_becomes_short_lines() -> None:
    assert hear_list("First I need to call mum and dad, then finish the report.", 3) == [
        "Call mum and dad",
        "Finish the report",
    ]
    assert hear_list("1. taxes\n2. a walk", 3) == ["Taxes", "A walk"]


def test_only_what_was_said_becomes_an_attribute() -> None:
    assert hear_rating(["health 2 of 5"]) == 2
    assert hear_rating(["I have 3 kids and 2 dogs"]) is None
    assert hear_rating(["up at 5:30"]) is None
    assert hear_status(["it's not good"]) == ""
    assert hear_status(["my job is in crisis"]) == "in_crisis"


def test_an_answer_is_sorted_by_what_was_asked() -> None:
    heard = hear_domains("It drains me. We have enough.", ("career", "finances"))
    assert heard.told == {"career": ["It drains me."], "finances": ["We have enough."]}
    assert hear_domains("both fine", ("health", "learning")).told.keys() == {"health", "learning"}
    assert list(hear_domains("later please", ("health", "learning")).later) == ["health", "learning"]
    assert list(hear_domains("Work is good, the other later", ("career", "finances")).later) == ["finances"]


@pytest.mark.parametrize(
    "words", ["no", "later", "not sure", "I don't know", "hm", "nothing, good night", "let's skip that", "?"]
)
def test_words_that_pass_over_a_question(words: str) -> None:
    assert is_skip(words)


@pytest.mark.parametrize(
    "words", ["No phone before noon", "Joy", "Call the bank later", "don't rush", "calm", "yes"]
)
def test_words_that_answer_a_question(words: str) -> None:
    assert not is_skip(words)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("domains_touched of the daily-log", "the parts of life in the daily log"),
        ("energy of the check-in", "your energy in the check in"),
        ("life-plan", "life plan"),
    ],
)
def test_what_an_arc_lacks_is_named_in_words(missing: str, words: str) -> None:
    assert missing_in_words(missing) == words
