"""The journal: a month, a day and a week from the person's files, on their own days."""

import re
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from coaching.clock.weeks import first_weekday, month_after, week_of
from coaching.library.clients import create_client, own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.library.resolutions import Becomes, Resolution, resolve
from coaching.life.plans import tick_priority
from coaching.models import ClientType, FileType, LifeDomain, MadeBy, Profile, PulseRating, UserFile
from sessions_app.models import Session
from tests.browsers import page_of
from tests.life.conftest import NOON, TODAY, KeepCapture, KeepFile, KeepPlan
from tests.stored_turns import open_conversation

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]


def days_in(page: str) -> list[str]:
    return re.findall(r'href="/journal/(\d{4}-\d\d-\d\d)/" data-column', page)


def keep_log(keep_file: KeepFile, user: User, day: str, **attributes: object) -> None:
    keep_file(user, FileType.DAILY_LOG, f"The log of {day}.", name=day, **attributes)


def test_a_month_links_its_days_and_says_what_each_has(
    browser: Client, person: User, keep_file: KeepFile, keep_plan: KeepPlan
) -> None:
    keep_log(keep_file, person, "2026-11-02", mood_signal="calm", energy="low")
    keep_log(keep_file, person, "2026-10-30", mood_signal="like <soup>")
    keep_file(person, FileType.CHECK_IN, "A week.", name="2026-11-08", energy="very high")
    keep_plan(person, "Swim")
    page = page_of(browser, "/journal/")
    assert days_in(page) == ["2026-11-02", "2026-11-08", TODAY.isoformat()]
    assert 'abbr="Monday">Mon' in page.partition("<tbody>")[0].rpartition("<thead>")[2][:80]
    assert re.search(r">2</time>.*?, log</span>", page)
    assert re.search(r'aria-current="date"><time datetime="2026-11-18">18</time>.*?, plan</span>', page)
    assert page.count('class="day-chart-dot"') == 3
    assert page.count('class="day-chart-other"') == 1
    assert "like &lt;soup&gt;" in page
    assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)", page)
    assert 'href="?month=2026-10"' in page
    assert 'rel="next"' not in page
    october = page_of(browser, "/journal/?month=2026-10")
    assert days_in(october) == ["2026-10-30"]
    assert 'rel="prev"' not in october, "nothing was written before"
    assert 'href="?month=2026-11"' in october
    assert "No entries this month." in page_of(browser, "/journal/?month=2026-05")
    for wrong in ("2026-13", "x", "", "2031-01", "2026-1", "0000-00", "1969-12"):
        assert browser.get("/journal/", {"month": wrong}).status_code == HTTPStatus.NOT_FOUND


def test_an_empty_journal_says_how_days_come_into_it(browser: Client) -> None:
    page = page_of(browser, "/journal/")
    assert "Each day you open or close with Sage appears here." in page
    assert "When you close a day, Sage notes your mood and energy" in page
    assert "<svg viewBox" not in page
    assert days_in(page) == [TODAY.isoformat()]


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("/journal/?month=2026-11", "Noviembre de 2026"),
        ("/journal/2026-11-18/", "Miércoles, 18 de noviembre de 2026"),
        ("/journal/week/2026-11-18/", "16–22 de noviembre de 2026"),
    ],
)
def test_titles_begin_with_a_capital_in_spanish_too(browser: Client, address: str, title: str) -> None:
    page = browser.get(address, headers={"accept-language": "es"}).content.decode()
    assert f"<title>{title} · " in page


def test_weeks_begin_as_in_the_persons_country_and_days_as_in_their_time_zone(
    browser: Client, person: User
) -> None:
    Profile.unscoped.filter(user=person).update(country="US")
    assert re.search(r"<tr><th[^>]*>Sun<", page_of(browser, "/journal/"))
    week = page_of(browser, "/journal/week/2026-11-18/")
    assert "<h1>15–21 November 2026</h1>" in week
    assert "<h1>27 September – 3 October 2026</h1>" in page_of(browser, "/journal/week/2026-10-01/")
    Profile.unscoped.filter(user=person).update(country="", timezone="Pacific/Auckland")
    with time_machine.travel(datetime(2026, 11, 18, 20, tzinfo=UTC), tick=False):
        assert 'aria-current="date"><time datetime="2026-11-19">' in page_of(browser, "/journal/")
    assert (first_weekday("DE"), first_weekday("EG"), first_weekday("MV"), first_weekday("")) == (0, 5, 4, 0)
    assert week_of(date(2026, 11, 18), 6)[0] == date(2026, 11, 15)
    assert [month_after(date(2026, 11, 1), number) for number in (-11, 2)] == [
        date(2025, 12, 1),
        date(2027, 1, 1),
    ]


def test_a_day_shows_what_was_meant_and_what_came_of_it(
    browser: Client, person: User, keep_file: KeepFile, keep_plan: KeepPlan, keep_capture: KeepCapture
) -> None:
    keep_plan(person, "Swim", "Call <Ada>", intention="Unhurried")
    tick_priority(user_id=person.pk, day=TODAY, text="Swim", is_done=True)
    keep_capture(person, "A thought\nof two lines")
    keep_log(keep_file, person, TODAY.isoformat(), mood_signal="calm", energy="low")
    PulseRating.unscoped.create(user=person, domain=LifeDomain.HEALTH, rating=4, rated_at=NOON)
    talk = open_conversation(person)
    Session.unscoped.filter(pk=talk.pk).update(
        title="About sleep", last_message_number=2, started_at=NOON, last_active_at=NOON + timedelta(days=3)
    )
    page = page_of(browser, f"/journal/{TODAY}/")
    for shown in (
        "Wednesday, 18 November 2026", "Unhurried", "1 of 2 done", "The log of 2026-11-18.", "A thought",
        "About sleep", "calm", "low", "Health", "Call &lt;Ada&gt;",
    ):  # fmt: skip
        assert shown in page, shown
    assert re.search(r"About sleep</span>\s*<time [^>]*>18 Nov, ", page)
    assert re.search(r"Done: </span><span dir=\"auto\">Swim", page)
    assert re.search(r"Not done: </span><span dir=\"auto\">Call", page)
    assert 'href="/files/daily-logs/2026-11-18.md"' in page
    assert 'href="/journal/2026-11-17/"' in page
    assert 'href="/journal/2026-11-19/"' not in page
    assert "No entries on this day." in page_of(browser, "/journal/2026-11-17/")
    for wrong in ("2026-02-30", "x", "2027-11-18", "20261118", "1869-01-01"):
        assert browser.get(f"/journal/{wrong}/").status_code == HTTPStatus.NOT_FOUND
        assert browser.get(f"/journal/week/{wrong}/").status_code == HTTPStatus.NOT_FOUND


def test_a_week_brings_its_days_check_in_and_ratings_together(
    browser: Client, person: User, keep_file: KeepFile, keep_plan: KeepPlan, keep_capture: KeepCapture
) -> None:
    keep_plan(person, "Swim", "Rest", intention="Unhurried")
    tick_priority(user_id=person.pk, day=TODAY, text="Rest", is_done=True)
    keep_file(person, FileType.CHECK_IN, "A **slow** week.", name="2026-11-16")
    keep_capture(person, "A thought")
    for rating in (2, 5):
        PulseRating.unscoped.create(user=person, domain=LifeDomain.PLAY, rating=rating, rated_at=NOON)
    page = page_of(browser, "/journal/week/2026-11-18/")
    assert "1 of 2 priorities done" in page
    assert "1 capture" in page
    assert "A <strong>slow</strong> week." in page
    assert "<strong>5</strong>" in page
    assert "<strong>2</strong>" not in page
    assert re.findall(r'<h2><a href="/journal/(.*?)/">', page) == ["2026-11-16", "2026-11-17", "2026-11-18"]
    assert 'href="/journal/week/2026-11-09/" rel="prev"' in page
    assert 'rel="next"' not in page


def test_days_show_the_steps_due_and_done_on_them(
    browser: Client, person: User, other_user: User, keep_file: KeepFile
) -> None:
    client = own_client(person.pk)
    other = create_client(user_id=person.pk, name="Mill Ltd", client_type=ClientType.COMPANY)

    def add(title: str, due: date, client_id: int = client.pk, **values: Any) -> int:
        new = NewAction(client_id=client_id, title=title, due_date=due, **values)
        return propose(user_id=person.pk, new=new, made_by=MadeBy.USER, is_accepted=True).pk

    def becomes(step_id: int, what: Becomes, **values: Any) -> None:
        resolution = Resolution(becomes=what, today=TODAY, now=NOON, **values)
        resolve(user_id=person.pk, step_id=step_id, resolution=resolution)

    friday = date(2026, 11, 20)
    becomes(add("Run", TODAY, repeats="daily"), "done", outcome="Twice round <the> park.")
    becomes(add("Write", TODAY), "dropped")
    becomes(add("Call Mum", TODAY), "open", due_date=friday)
    swum = add("Swim", TODAY)
    becomes(swum, "done")
    becomes(swum, "open")
    add("Their roof", TODAY, client_id=other.pk)
    own_client(other_user.pk)
    page = page_of(browser, f"/journal/{TODAY}/")
    shown = re.findall(r'(Done|Not done): </span><span><a href="[^"]*" dir="auto">(.*?)</a>', page)
    assert shown == [("Done", "Run"), ("Not done", "Write"), ("Not done", "Call Mum"), ("Not done", "Swim")]
    assert "Twice round &lt;the&gt; park." in page
    assert "Moved to Friday, 20 November 2026" in page
    assert "Dropped" in page
    assert "Their roof" not in page
    assert ">Call Mum</a>" in page_of(browser, f"/journal/{friday}/")
    month = page_of(browser, "/journal/")
    assert days_in(month) == [TODAY.isoformat(), "2026-11-19", friday.isoformat()]
    assert month.count(", next steps</span>") == 3
    assert "No days yet." not in month
    week = page_of(browser, f"/journal/week/{TODAY}/")
    assert "1 step done" in week
    assert ">Call Mum</a>" in week
    assert "No entries on this day." in page_of(browser, "/journal/2026-11-17/")


def test_the_first_days_link_to_nothing_before_them(browser: Client) -> None:
    for address in ("/journal/1970-01-01/", "/journal/week/1970-01-01/"):
        page = page_of(browser, address)
        assert 'rel="prev"' not in page
        for link in re.findall(r'href="(/journal/[^"]*)"', page):
            page_of(browser, link.replace("&amp;", "&"))
    assert 'href="/journal/1970-01-01/" rel="prev"' in page_of(browser, "/journal/1970-01-02/")


def test_years_of_days_make_no_month_slower(
    browser: Client, person: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    UserFile.unscoped.bulk_create(
        UserFile(
            user=person,
            path=f"{place}/{2014 + number // 366}-{1 + number % 12:02}-{1 + number % 28:02}.md",
            file_type=file_type,
            version_number=1,
            frontmatter={"mood_signal": "calm", "energy": "low"},
        )
        for place, file_type in (("daily-logs", FileType.DAILY_LOG), ("day-plans", FileType.DAY_PLAN))
        for number in range(84 * 30)
        if number % 366 < 84
    )
    page_of(browser, "/journal/")
    with django_assert_max_num_queries(20):
        assert len(page_of(browser, "/journal/?month=2020-01")) < 60_000
