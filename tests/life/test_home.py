"""Home at every hour: greeting, offers and lists, on the person's own day."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import (
    ActionItem,
    CalendarSource,
    DayPlan,
    FileType,
    LifeDomain,
    MadeBy,
    Profile,
)
from sessions_app import session_services
from sessions_app.models import Session, SessionKind
from tests.browsers import browser_of
from tests.calendar.conftest import source_of, timed
from tests.life.conftest import NOON, TODAY, KeepCapture, KeepFile, KeepPlan
from tests.stored_turns import open_conversation

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]


def home_of(browser: Client, address: str = "/") -> str:
    return browser.get(address).content.decode()


def keep_map(keep_file: KeepFile, user: User, **statuses: str) -> None:
    keep_file(user, FileType.OVERVIEW, "It hangs together.")
    for name, status in statuses.items():
        keep_file(user, FileType.DOMAIN, name=name, status=status)


def keep_event(user: User, title: str, starts_at: datetime) -> None:
    source = CalendarSource.unscoped.filter(user=user).first() or source_of(user)
    timed(source, title, starts_at.isoformat(), (starts_at + timedelta(hours=1)).isoformat())


def test_an_empty_account_finds_every_part_explained(other_user: User) -> None:
    page = home_of(browser_of(other_user))
    assert "You don’t have a life map yet." in page
    assert 'name="kind" value="life_mapping">Start' in page
    assert "You build it in a conversation" in page
    assert "Write something above to start your first one." in page
    assert "when something is worth keeping" in page.lower()
    assert 'id="plan"' not in page
    assert "In your calendar" not in page, "it would be one thing too many"


def test_next_steps_stand_there_the_due_ones_first_with_a_box_to_tick(
    user: User, other_user: User, browser: Client
) -> None:
    for whose, title, days in ((user, "Later", 3), (user, "Late", -1), (other_user, "Theirs", 0)):
        new = NewAction(client_id=own_client(whose.pk).pk, title=title, due_date=TODAY + timedelta(days=days))
        propose(user_id=whose.pk, new=new, made_by=MadeBy.USER, is_accepted=True)
    page = home_of(browser)
    assert page.index(">Late<") < page.index(">Later<")
    assert "Theirs" not in page
    late = ActionItem.of(user.pk).get(title="Late")
    browser.post(f"/library/actions/{late.pk}/", {"done": "1"})
    assert ">Late<" not in home_of(browser)


@pytest.mark.parametrize(
    ("local", "plan", "log", "offered"),
    [
        ("2026-11-18T08:00", False, False, "Open the day"),
        ("2026-11-18T08:00", True, False, ""),
        ("2026-11-18T14:00", False, False, ""),
        ("2026-11-18T20:00", True, False, "Close the day"),
        ("2026-11-18T20:00", True, True, ""),
        ("2026-11-19T01:30", True, False, "Close the day"),
    ],
)
def test_the_hour_and_the_day_decide_what_is_offered(
    person: User,
    browser: Client,
    keep_file: KeepFile,
    keep_plan: KeepPlan,
    local: str,
    plan: bool,
    log: bool,
    offered: str,
) -> None:
    keep_map(keep_file, person, health="good")
    if plan:
        keep_plan(person, "Swim")
    if log:
        keep_file(person, FileType.DAILY_LOG)
    with time_machine.travel(datetime.fromisoformat(f"{local}+01:00"), tick=False):
        page = home_of(browser)
    assert ('class="next"' in page) == bool(offered)
    assert not offered or f"<h2>{offered}</h2>" in page
    assert ("Unhurried" in page) == plan
    assert ("The day is closed." in page) == log


@pytest.mark.parametrize(
    ("plan", "log", "next_on", "missing"),
    [
        (False, False, None, {}),
        (True, False, 20, {"open_day"}),
        (True, True, 21, {"open_day", "close_day", "weekly_checkin"}),
        (False, True, 18, {"open_day", "close_day"}),
    ],
)
def test_no_button_offers_what_is_done(
    person: User,
    browser: Client,
    keep_file: KeepFile,
    keep_plan: KeepPlan,
    plan: bool,
    log: bool,
    next_on: int | None,
    missing: set[str],
) -> None:
    Profile.unscoped.update(next_checkin_on=next_on and date(2026, 11, next_on))
    if plan:
        keep_plan(person, "Swim")
    if log:
        keep_file(person, FileType.DAILY_LOG)
    everything = {"open_day", "close_day", "weekly_checkin", "life_mapping"}
    assert kinds_of(home_of(browser)) == everything - set(missing)
    keep_map(keep_file, person, health="good")
    page = home_of(browser)
    assert kinds_of(page) == everything - {"life_mapping", *missing}
    assert page.index('id="composer"') < page.index('class="home-side"')


def kinds_of(page: str) -> set[str]:
    """Return the kinds of conversation that a page has a button for."""
    return set(re.findall(r'<button[^>]+name="kind" value="(\w+)"', page))


def test_what_has_begun_is_gone_on_with(person: User, browser: Client, keep_file: KeepFile) -> None:
    keep_map(keep_file, person, health="good")
    session = session_services.open_session(user_id=person.pk, kind=SessionKind.OPEN_DAY)
    with time_machine.travel(datetime(2026, 11, 18, 7, tzinfo=UTC), tick=False):
        assert ">Start<span" in home_of(browser)
        Session.unscoped.filter(id=session.id).update(last_message_number=2)
        page = home_of(browser)
    assert ">Continue<span" in page
    assert ">Start<span" not in page


def test_what_was_begun_shows_however_many_empty_conversations_came_after(
    person: User, browser: Client
) -> None:
    begun = open_conversation(person)
    Session.unscoped.filter(id=begun.id).update(last_message_number=2, title="About the move")
    for _ in range(25):
        open_conversation(person)
    page = home_of(browser)
    assert f'Continue</span> <a href="/chat/{begun.id}/"' in page
    assert page.count("About the move") == 2
    assert "None yet. Write" not in page


@pytest.mark.parametrize(
    ("due_on", "says"),
    [
        (date(2026, 11, 22), "Sunday, 22 November</time>"),
        (date(2026, 11, 19), "Tomorrow</time>"),
    ],
)
def test_the_next_check_in_has_its_date(person: User, browser: Client, due_on: date, says: str) -> None:
    Profile.unscoped.update(next_checkin_on=due_on)
    assert says in home_of(browser)


def test_a_due_check_in_is_offered_and_with_another_arc_its_date_is_shown(
    person: User, browser: Client, keep_file: KeepFile
) -> None:
    Profile.unscoped.update(next_checkin_on=date(2026, 11, 15))
    page = home_of(browser)
    assert "Due since" in page
    assert "Sunday, 15 November</time>" in page
    assert 'value="weekly_checkin"' in page
    keep_map(keep_file, person, health="good")
    page = home_of(browser)
    assert "<h2>Weekly check-in</h2>" in page
    assert "Due since" not in page


def test_the_map_stands_there_in_eight_lines(person: User, browser: Client, keep_file: KeepFile) -> None:
    keep_map(keep_file, person, health="in_crisis", play="thriving")
    page = home_of(browser)
    for domain in LifeDomain.values:
        assert f'href="/map/#{domain}"' in page
    assert page.count("No page yet") == 6
    assert "In crisis" in page
    assert "Thriving" in page


def test_the_calendar_is_that_of_the_persons_own_day(person: User, browser: Client) -> None:
    keep_event(person, "Late <i>tea</i>", datetime(2026, 11, 19, 0, 30, tzinfo=UTC))  # 01:30, still today
    keep_event(person, "Tomorrow's swim", datetime(2026, 11, 19, 6, 0, tzinfo=UTC))
    page = home_of(browser)
    assert "Late &lt;i&gt;tea&lt;/i&gt;" in page
    assert "01:30–02:30 (past midnight)" in page
    assert "swim" not in page
    with time_machine.travel(NOON + timedelta(days=3), tick=False):
        assert "No events today." in home_of(browser)


@pytest.mark.parametrize(
    ("zone", "moment", "is_there"),
    [
        ("Pacific/Auckland", "2026-11-18T14:59:59+00:00", True),  # 03:59:59 of the 19th
        ("Pacific/Auckland", "2026-11-18T15:00:00+00:00", False),
        ("America/Los_Angeles", "2026-11-19T11:59:59+00:00", True),
        ("America/Los_Angeles", "2026-11-19T12:00:00+00:00", False),
        ("Asia/Kolkata", "2026-11-18T22:29:59+00:00", True),
        ("Asia/Kolkata", "2026-11-18T22:30:00+00:00", False),
    ],
)
def test_a_plan_stays_until_four_in_the_morning_wherever_one_is(
    person: User, browser: Client, zone: str, moment: str, is_there: bool
) -> None:
    Profile.unscoped.update(timezone=zone)
    DayPlan.unscoped.create(user=person, date=TODAY, intention="Unhurried")
    with time_machine.travel(datetime.fromisoformat(moment), tick=False):
        page = home_of(browser)
    assert ("Unhurried" in page) is is_there
    assert ("Wednesday, 18 November" in page) is is_there


@pytest.mark.parametrize(
    ("moment", "greeting", "day"),
    [
        ("2026-10-25T00:59:00+00:00", "Good evening", "Saturday, 24 October"),  # 02:59, for the first time
        ("2026-10-25T01:59:00+00:00", "Good evening", "Saturday, 24 October"),  # 02:59 again
        ("2026-10-25T03:00:00+00:00", "Good morning", "Sunday, 25 October"),
        ("2027-03-28T01:59:00+00:00", "Good evening", "Saturday, 27 March"),  # 03:59, an hour early
        ("2027-03-28T02:00:00+00:00", "Good morning", "Sunday, 28 March"),
    ],
)
def test_the_greeting_follows_the_clock_on_the_wall_through_both_changes(
    person: User, moment: str, greeting: str, day: str
) -> None:
    with time_machine.travel(datetime.fromisoformat(moment), tick=False):
        page = home_of(browser_of(person))
    assert f"{greeting}, Ada." in page
    assert day in page


def test_another_persons_life_shows_nowhere(
    person: User,
    other_user: User,
    browser: Client,
    keep_file: KeepFile,
    keep_plan: KeepPlan,
    keep_capture: KeepCapture,
) -> None:
    before = strip_ids(home_of(browser))
    Profile.unscoped.create(user=other_user, timezone="Europe/Berlin")
    keep_map(keep_file, other_user, health="in_crisis")
    keep_plan(other_user, "Theirs", intention="Theirs")
    keep_capture(other_user, "Theirs")
    keep_file(other_user, FileType.REFLECTION_PROMPT, "Theirs?", name="theirs")
    keep_event(other_user, "Theirs", NOON)
    assert strip_ids(home_of(browser)) == before


def strip_ids(page: str) -> list[str]:
    return [line for line in page.splitlines() if "csrf" not in line and 'name="id"' not in line]


@pytest.mark.slow
def test_the_number_of_queries_is_constant(
    person: User,
    browser: Client,
    keep_file: KeepFile,
    keep_plan: KeepPlan,
    keep_capture: KeepCapture,
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            home_of(browser)
        return len(captured)

    keep_map(keep_file, person, health="good")
    keep_plan(person, "One")
    keep_capture(person, "One")
    keep_file(person, FileType.REFLECTION_PROMPT, "One?", name="one")
    before = queries()
    keep_map(keep_file, person, **dict.fromkeys(LifeDomain.values, "okay"))
    keep_plan(person, *(f"Thing {number}" for number in range(10)))
    for number in range(12):
        keep_capture(person, f"Idea {number}", now=NOON + timedelta(seconds=number))
        keep_file(person, FileType.REFLECTION_PROMPT, f"Question {number}?", name=f"question {number}")
        keep_file(person, FileType.DAILY_LOG, name=str(TODAY - timedelta(days=number + 1)))
        keep_event(person, f"Event {number}", NOON)
        session = open_conversation(person)
        Session.unscoped.filter(id=session.id).update(last_message_number=1)
    assert queries() == before
    assert before <= 18
