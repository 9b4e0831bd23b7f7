"""The guided tour where calls fail, or the person skips, pauses, leaves, or is in danger."""

import orjson
import pytest

from coaching.practice.coach import texts
from tests.practice.arc_walks import ASKED_FOR, PLAN, check_in, open_day
from tests.practice.conftest import Http
from tests.practice.walking import Walk


async def test_ratings_that_are_passed_over_are_not_forced(http: Http) -> None:
    walk = Walk(http, kind="weekly_checkin")
    await walk.say("hi")
    await walk.say("It was a quiet week at home.")
    await walk.say("I'd rather not give numbers")
    assert walk.names().count("show_pulse_check") == 1
    await walk.say("quiet, laughing")
    await walk.say("One evening without plans")
    reply = await walk.tap("yes")
    assert walk.completed == ["weekly_checkin"]
    assert "your ratings" in reply
    assert walk.names().count("complete_session") == 2


async def test_ratings_that_were_skipped_are_not_asked_for_again(http: Http) -> None:
    walk = Walk(http, kind="weekly_checkin")
    await walk.say("hi")
    await walk.say("It was a quiet week at home.")
    walk.dismiss()
    await walk.say("Let me think")
    await walk.say("quiet, laughing")
    await walk.say("One evening without plans")
    await walk.tap("yes")
    assert walk.completed == ["weekly_checkin"]
    assert walk.names().count("show_pulse_check") == 1


async def test_after_a_skipped_question_the_next_one_is_asked(http: Http) -> None:
    walk = Walk(http, kind="open_day")
    await walk.say("hi")
    walk.dismiss()
    await walk.say("Rested")
    await walk.say("write a letter")
    await walk.say("Calm")
    assert walk.files[PLAN].attributes["priorities"] == ["Write a letter"]


async def test_danger_comes_before_the_arc_and_nothing_of_it_is_written(http: Http) -> None:
    walk = Walk(http, kind="weekly_checkin")
    walk.without = {"show_help_lines"}
    await walk.say("hi")
    await walk.say("It was a hard week.")
    reply = await walk.rate(health=1, note="I don't want to live any more")
    assert "findahelpline.com" in reply
    assert "112" in reply
    assert texts.said("help_stay") in await walk.say("no, nobody is here")
    assert texts.said("safe_now") in await walk.say("my brother has come, I'm safe now, let's go on")
    await walk.say("hospital, my brother")
    await walk.say("Call the doctor")
    await walk.tap("yes")
    assert walk.completed == ["weekly_checkin"]
    assert "live any more" not in str(walk.files)


LINE = "TelefonSeelsorge · 0800 1110111"


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (f'<help_lines country="DE" shown="yes">\nShown.\n- {LINE}\n</help_lines>', LINE),
        ("", "findahelpline.com"),
    ],
)
async def test_the_lines_that_the_page_shows_are_named(http: Http, header: str, line: str) -> None:
    walk = Walk(http, header=header)
    walk.without = {"show_help_lines"}
    reply = await walk.say("I want to kill myself tonight")
    assert line in reply
    assert ("findahelpline.com" in reply) == (not header)
    assert not walk.calls


async def test_the_card_is_shown_where_the_tool_is_offered(http: Http) -> None:
    tool = {"name": "show_help_lines", "input_schema": {"type": "object", "properties": {}}}
    walk = Walk(http, extra_tools=(tool,))
    walk.answers["show_help_lines"] = orjson.dumps({"success": True, "lines": [LINE]}).decode()
    reply = await walk.say("I want to kill myself tonight")
    assert walk.names() == ["show_help_lines"]
    assert LINE in reply


async def test_a_save_that_fails_is_said_and_tried_again_on_request(http: Http) -> None:
    walk = Walk(http, kind="open_day", failures={"save_file": ["The storage is down."]})
    await walk.say("hi")
    await walk.tap("rested")
    await walk.say("write a letter")
    reply = await walk.say("Calm")
    assert "today's plan" in reply
    assert "The storage is down." in reply
    assert texts.said("retry") in reply
    assert not walk.completed
    await walk.say("yes, try again")
    assert PLAN in walk.files
    await walk.tap("yes")
    assert walk.completed == ["open_day"]


async def test_going_on_without_a_file_that_failed_is_said_at_the_end(http: Http) -> None:
    walk = Walk(http, kind="open_day", failures={"save_file": ["The storage is down."]})
    await walk.say("hi")
    await walk.tap("rested")
    await walk.say("write a letter")
    await walk.say("Calm")
    reply = await walk.say("no")
    assert walk.completed == ["open_day"]
    assert not walk.files
    assert "home page" not in reply
    assert "plan of your day" in reply


async def test_a_type_that_may_not_be_written_is_named(http: Http) -> None:
    walk = Walk(http, kind="weekly_checkin", refused_types={"weekly-plan"})
    await walk.say("hi")
    await walk.say("Deadlines every day.")
    await walk.rate(career=3)
    await walk.say("deadlines")
    reply = await walk.say("Leave at five")
    assert "Saving didn't work (the plan of your week)" in reply
    await walk.say("leave it")
    await walk.tap("yes")
    assert walk.completed == ["weekly_checkin"]


async def test_a_session_that_expired_is_named_as_such(http: Http) -> None:
    walk = Walk(http, kind="open_day")
    await walk.say("hi")
    await walk.tap("rested")
    await walk.say("write a letter")
    await walk.say("Calm")
    walk.status = "expired"
    walk.active_arc = "open_day"
    reply = await walk.tap("yes")
    assert "expired" in reply
    assert not walk.completed


async def test_a_completion_that_fails_is_not_called_one(http: Http) -> None:
    walk = Walk(http, kind="open_day", failures={"complete_session": ["The database is away."]})
    await walk.say("hi")
    await open_day(walk)
    assert "The database is away." in walk.said[-1]
    await walk.say("ok, go on")
    assert walk.completed == ["open_day"]


async def test_a_spent_budget_ends_in_words_and_go_on_finishes(http: Http) -> None:
    walk = Walk(http, kind="open_day", max_rounds=2)
    await walk.say("hi")
    await walk.tap("rested")
    await walk.say("write a letter")
    assert "go on" in await walk.say("Calm")
    await walk.say("go on")
    await walk.tap("yes")
    if not walk.completed:
        await walk.say("go on")
    assert walk.completed == ["open_day"]
    assert walk.files[PLAN].version == 1


@pytest.mark.parametrize(
    "words", ["stop", "let's stop this", "I don't want to do this any more", "please cancel"]
)
async def test_an_arc_is_left_whenever_the_person_wishes(http: Http, words: str) -> None:
    walk = Walk(http)
    await walk.say(ASKED_FOR["weekly_checkin"])
    await walk.say("It was fine at home.")
    reply = await walk.say(words)
    assert walk.completed == ["weekly_checkin"]
    assert walk.status == "active"
    assert not walk.files
    assert texts.said("left") in reply


@pytest.mark.slow
async def test_who_has_to_go_finds_the_place_kept(http: Http) -> None:
    walk = Walk(http, kind="weekly_checkin")
    await walk.say("hi")
    assert "waits for you" in await walk.say("I have to go now, bye")
    assert "complete_session" not in walk.names()
    await walk.say("hello, I'm back")
    await check_in(walk)
    assert walk.completed == ["weekly_checkin"]


async def test_words_after_a_pause_are_no_answer_to_a_question_that_wasn_t_put(
    http: Http,
) -> None:
    walk = Walk(http, kind="close_day")
    await walk.say("hi")
    await walk.say("bye")
    reply = await walk.say("The neighbour rang the bell")
    assert "How was your day?" in reply
    assert "Noted" not in reply


async def test_a_map_may_stop_anywhere_and_what_is_saved_stays(http: Http) -> None:
    walk = Walk(http, kind="life_mapping")
    await walk.say("hi")
    await walk.tap("good")
    reply = await walk.say("stop")
    assert walk.completed == ["life_mapping"]
    assert "life-map/career.md" in walk.files
    assert "life plan" in reply


async def test_help_lines_are_named_in_the_language_that_is_spoken(http: Http) -> None:
    """The request has them in English; the card above the answer is in the person's language."""
    walk = Walk(
        http,
        header=f'<help_lines country="DE" shown="yes">\nShown.\n- {LINE}\n</help_lines>',
    )
    reply = await walk.say("Ich will nicht mehr leben.")
    assert LINE not in reply
    assert "auf der Karte" in reply
