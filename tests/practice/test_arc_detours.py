"""The scripted coach in an arc where calls fail, or the user interrupts, leaves or skips."""

import pytest
from anthropic import AsyncAnthropic

from coaching.practice.coach.wording import RETRY_OFFER
from tests.practice.arc_walks import ASKED_FOR, LOG, PLAN, check_in, open_day
from tests.practice.walking import Walk


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
