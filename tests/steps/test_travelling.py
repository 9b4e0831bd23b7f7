"""Somebody flies from Los Angeles to Berlin: what was said before keeps its day, in requests and pages."""

from collections.abc import AsyncIterator
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client as Browser

from coaching.live.runner import Runner
from coaching.models import Profile, TimezoneSource
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import SessionKind
from tests.live.conftest import practice
from tests.steps.test_week import Week

__all__ = ["practice"]

pytestmark = pytest.mark.django_db(transaction=True)

FRIDAY, SATURDAY, MONDAY = date(2026, 10, 23), date(2026, 10, 24), date(2026, 10, 26)
HOME, AWAY = "America/Los_Angeles", "Europe/Berlin"
PROMISE = "I'll call Mum tomorrow."
LOG = "# Friday\n\nPacked."


@pytest.fixture
async def week(user: User, practice: PracticeServer) -> AsyncIterator[Week]:
    with time_machine.travel(datetime(2026, 10, 18, 12, tzinfo=ZoneInfo(HOME)), tick=True):
        source = TimezoneSource.BROWSER
        await in_database(Profile.of(user.pk).create, name="Ada", timezone=HOME, timezone_source=source)
        runner = Runner()
        await runner.warm()
    yield Week(user, HOME, practice, runner)
    await runner.drain(2)


async def goes(week: Week, zone: str) -> str:
    """Open Home in a browser of another zone, take the zone that it offers, and return Home as it was."""
    browser = Browser()
    await in_database(browser.force_login, week.user)
    browser.cookies["sage_timezone"] = zone
    home = (await in_database(browser.get, "/")).content.decode()
    await in_database(browser.post, "/settings/timezone/", {"timezone": zone, "back": "/"})
    week.zone = ZoneInfo(zone)
    return home


async def test_what_was_said_on_friday_evening_stays_fridays_after_the_flight(week: Week) -> None:
    promise = ToolUse(
        "create_action_item",
        {"title": "Call Mum", "quote": PROMISE, "due_date": SATURDAY.isoformat()},
        id="toolu_promise",
    )
    log = ToolUse(
        "save_file",
        {"file_type": "daily-log", "content": LOG, "attributes": {"energy": "low", "mood_signal": "calm"}},
        id="toolu_log",
    )
    with week.at(FRIDAY, 21):  # Saturday morning in Berlin
        session, _ = await week.opened(SessionKind.CLOSE_DAY)
        await week.says(session, PROMISE, Reply.of(promise, log), "Good night.")
    with time_machine.travel(datetime(2026, 10, 24, 18, tzinfo=ZoneInfo(AWAY)), tick=True):
        assert "Use Berlin" in await goes(week, AWAY)
        _, opening = await week.opened(SessionKind.OPEN_DAY)
        friday = await week.page(f"/journal/{FRIDAY}/")
        saturday = await week.page(f"/journal/{SATURDAY}/")
    assert f"they said on Friday 2026-10-23: “{PROMISE}”" in opening
    assert '<session date="Friday 2026-10-23" kind="close the day">' in opening
    assert "Last session: close the day, yesterday" in opening
    assert "Time: Saturday 2026-10-24, evening, 18:00 (Europe/Berlin)" in opening
    assert f"/chat/{session.id}/" in friday.split("<main")[1]
    assert f"/chat/{session.id}/" not in saturday.split("<main")[1]


async def test_yesterday_is_searched_for_on_the_day_that_it_was_then(week: Week) -> None:
    with week.at(FRIDAY, 21):
        session, _ = await week.opened(SessionKind.OPEN_CONVERSATION)
        await week.says(session, "The lemon tree is in bloom.")
    recall = ToolUse("recall_context", {"query": "What did I say of the lemon tree?"}, id="toolu_recall")
    with time_machine.travel(datetime(2026, 10, 24, 18, tzinfo=ZoneInfo(AWAY)), tick=True):
        await goes(week, AWAY)
        session, _ = await week.opened(SessionKind.OPEN_DAY)
        await week.says(session, "What about the tree?", Reply.of(recall), "It bloomed.")
    sent = str(week.practice.requests[-1].body["messages"][-1])
    assert '"date": "2026-10-23"' in sent.replace('\\"', '"')


async def test_the_way_home_is_offered_too_but_what_was_declined_isnt(week: Week) -> None:
    with week.at(SATURDAY, 18):
        assert "Use Berlin" in await goes(week, AWAY)
    with week.at(MONDAY, 9):
        assert "Use Los Angeles" in await goes(week, HOME)
        browser = Browser()
        await in_database(browser.force_login, week.user)
        browser.cookies["sage_timezone"] = "UTC"
        assert "Keep Los Angeles" in (await in_database(browser.get, "/")).content.decode()
        await in_database(browser.post, "/settings/timezone/", {"timezone": HOME, "back": "/"})
        assert "Keep Los Angeles" not in (await in_database(browser.get, "/")).content.decode()
        assert "Use Berlin" in await goes(week, AWAY)
    profile = await in_database(Profile.of(week.user.pk).get)
    stays = [line.split()[0] for line in profile.earlier_timezones.splitlines()]
    assert stays == [HOME], "home for a minute was a mistake"


async def test_a_conversation_hears_of_another_zone_with_the_next_message(week: Week) -> None:
    with week.at(MONDAY, 9) as clock:
        session, _ = await week.opened(SessionKind.OPEN_CONVERSATION)
        clock.shift(timedelta(minutes=5))
        assert "Time:" not in await week.says(session, "Hello.")
        await goes(week, "America/Denver")
        assert "(America/Denver)" in await week.says(session, "I have landed.")
