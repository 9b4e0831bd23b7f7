"""The day's plan on home: ticks in any order, from any tab, as Sage reads them."""

import threading
import uuid
from datetime import datetime, timedelta
from http import HTTPStatus

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils.html import escape

from coaching.context.life import LifeQuery, known, read_life
from coaching.context.sections import todays_plan
from coaching.life.plans import read_plan, tick_priority
from coaching.models import DayPlan, FileType, Profile, UserFileVersion
from coaching.skills.facts import build_life_facts
from tests.browsers import browser_of
from tests.life.conftest import NOON, TODAY, KeepFile, KeepPlan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]

PLAN = f"/plan/{TODAY}/"
PART = {"HX-Request": "true"}


def done(user: User) -> list[bool]:
    return [priority["is_done"] for priority in DayPlan.unscoped.get(user=user, date=TODAY).priorities]


def test_a_tick_needs_no_script(person: User, browser: Client, keep_plan: KeepPlan) -> None:
    keep_plan(person, "Call Mia", "Swim")
    response = browser.post(PLAN, {"text": "Swim", "done": "1"})
    assert response.status_code == HTTPStatus.SEE_OTHER
    assert response["Location"] == "/#plan"
    assert done(person) == [False, True]
    page = browser.get("/").content.decode()
    assert page.count('aria-checked="true"') == 1
    assert "1 of 2 done" in page
    browser.post(PLAN, {"text": "Swim", "done": "0"})
    assert done(person) == [False, False]


def test_with_a_script_the_answer_is_the_plan_alone(
    person: User, browser: Client, keep_plan: KeepPlan
) -> None:
    keep_plan(person, "Call Mia")
    response = browser.post(PLAN, {"text": "Call Mia", "done": "1"}, headers=PART)
    assert response.status_code == HTTPStatus.OK
    assert response.content.decode().startswith('<section class="plan" id="plan"')
    assert "All done." in response.content.decode()


def test_a_form_that_is_sent_twice_ticks_once(person: User, browser: Client, keep_plan: KeepPlan) -> None:
    keep_plan(person, "Call Mia")
    for _ in range(2):
        browser.post(PLAN, {"text": "Call Mia", "done": "1"})
    assert done(person) == [True]


def test_a_tick_makes_no_version_and_a_plan_that_is_written_again_keeps_it(
    person: User, browser: Client, keep_plan: KeepPlan
) -> None:
    keep_plan(person, "Call Mia", "Swim")
    browser.post(PLAN, {"text": "Swim", "done": "1"})
    assert UserFileVersion.unscoped.count() == 1
    keep_plan(person, "Write", "Swim")
    assert done(person) == [False, True]


def test_sage_reads_the_tick_in_the_next_context(person: User, browser: Client, keep_plan: KeepPlan) -> None:
    keep_plan(person, "Call Mia", "Swim")
    browser.post(PLAN, {"text": "Swim", "done": "1"})
    profile = Profile.unscoped.select_related("user").get(user=person)
    section = todays_plan(read_life(LifeQuery(profile=profile, session_id=uuid.uuid4(), now=NOON)))
    assert section is not None
    assert "- [ ] Call Mia\n- [x] Swim" in section.render()


@pytest.mark.parametrize(
    ("fields", "is_plan"),
    [
        ({}, False),
        ({"intention": "Unhurried"}, True),
        ({"priorities": [{"text": "Swim", "is_done": False}]}, True),
    ],
)
def test_home_signals_and_context_agree_on_what_a_plan_is(
    person: User, fields: dict[str, object], is_plan: bool
) -> None:
    DayPlan.unscoped.create(user=person, date=TODAY, **fields)
    profile = Profile.unscoped.select_related("user").get(user=person)
    life = read_life(LifeQuery(profile=profile, session_id=uuid.uuid4(), now=NOON))
    assert (read_plan(user_id=person.pk, day=TODAY) is not None) is is_plan
    assert build_life_facts(user_id=person.pk, now=NOON).has_plan_today is is_plan
    assert known(life.plans)[TODAY].says_something is is_plan


def test_what_left_the_plan_meanwhile_is_refused_with_the_plan_as_it_is(
    person: User, browser: Client, keep_plan: KeepPlan
) -> None:
    keep_plan(person, "Write")
    response = browser.post(PLAN, {"text": "Call Mia", "done": "1"}, headers=PART)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = response.content.decode()
    assert "no longer in the plan" in page
    assert "Write" in page
    plain = browser.post(PLAN, {"text": "Call Mia", "done": "1"}, follow=True).content.decode()
    assert "no longer in the plan" in plain
    assert done(person) == [False]


@pytest.mark.parametrize("form", [{}, {"text": "Call Mia"}, {"text": "Call Mia", "done": "maybe"}])
def test_a_form_that_says_nothing_changes_nothing(
    person: User, browser: Client, keep_plan: KeepPlan, form: dict[str, str]
) -> None:
    keep_plan(person, "Call Mia")
    assert "read that" in browser.post(PLAN, form, follow=True).content.decode()
    assert done(person) == [False]


@pytest.mark.parametrize(
    "address", ["/plan/2026-11-17/", "/plan/yesterday/", "/plan/2026-13-40/", "/plan/%00/"]
)
def test_a_day_without_a_plan_is_a_missing_page(
    person: User, browser: Client, keep_plan: KeepPlan, address: str
) -> None:
    keep_plan(person, "Call Mia")
    response = browser.post(address, {"text": "Call Mia", "done": "1"})
    assert response.status_code == HTTPStatus.NOT_FOUND


def test_a_page_left_open_overnight_still_ticks_its_own_day(
    person: User, browser: Client, keep_plan: KeepPlan, at_noon: object
) -> None:
    keep_plan(person, "Call Mia")
    at_noon.shift(24 * 3600)  # type: ignore[attr-defined]
    browser.post(PLAN, {"text": "Call Mia", "done": "1"})
    assert done(person) == [True]
    assert 'id="plan"' not in browser.get("/").content.decode()


def test_strange_words_are_shown_and_ticked_as_they_are(
    person: User, browser: Client, keep_plan: KeepPlan
) -> None:
    strange = '<img src=x onerror="alert(1)"> "quotes" & \u202eturned'
    keep_plan(person, strange, intention="</section><script>alert(1)</script>")
    page = browser.get("/").content.decode()
    assert escape(strange) in page
    assert "<script>alert" not in page
    browser.post(PLAN, {"text": strange, "done": "1"})
    assert done(person) == [True]


def test_a_plan_without_attributes_is_a_link_to_its_file(
    person: User, browser: Client, keep_file: KeepFile
) -> None:
    keep_file(person, FileType.DAY_PLAN, "Just words.")
    page = browser.get("/").content.decode()
    assert f'href="/files/day-plans/{TODAY}.md"' in page
    assert '<h2 id="plan-title">Today</h2>' in page


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-11-19T02:59", "Today’s intention"),
        ("2026-11-19T03:01", "Yesterday’s intention"),
        ("2026-11-20T12:00", "Intention for Wednesday, 18 November"),
        ("2027-01-02T12:00", "Intention for Wednesday, 18 November 2026"),
    ],
)
def test_a_plan_that_is_ticked_later_is_called_by_its_day(
    person: User, keep_plan: KeepPlan, moment: str, words: str
) -> None:
    """A page stays open overnight and is ticked after four in the morning: 03:00 in UTC."""
    keep_plan(person, "Call Mia")
    with time_machine.travel(datetime.fromisoformat(f"{moment}+00:00"), tick=False):
        browser = browser_of(person)
        part = browser.post(PLAN, {"text": "Call Mia", "done": "1"}, headers=PART).content.decode()
        assert f'<h2 id="plan-title">{escape(words)}</h2>' in part
        assert done(person) == [True]
        page = browser.post(PLAN, {"text": "Call Mia", "done": "0"}, follow=True).content.decode()
        assert ("Saved in the plan for " in page) is ("Today" not in words)


def test_an_old_plan_without_an_intention_is_called_by_its_day(person: User, browser: Client) -> None:
    yesterday = TODAY - timedelta(days=1)
    DayPlan.unscoped.create(user=person, date=yesterday, priorities=[{"text": "Call Mia", "is_done": False}])
    answer = browser.post("/plan/2026-11-17/", {"text": "Call Mia", "done": "1"}, headers=PART)
    assert '<h2 id="plan-title">Yesterday</h2>' in answer.content.decode()


@pytest.mark.django_db(transaction=True)
def test_two_ticks_at_once_both_hold(person: User, keep_plan: KeepPlan) -> None:
    texts = [f"Thing {number}" for number in range(6)]
    keep_plan(person, *texts)

    def tick(text: str) -> None:
        tick_priority(user_id=person.pk, day=TODAY, text=text, is_done=True)
        connection.close()

    threads = [threading.Thread(target=tick, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done(person) == [True] * 6
