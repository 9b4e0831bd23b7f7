"""The calendar page in a browser: keyboard, small screen, unusual names and events."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import Page, expect

from coaching.clock.days import local_day
from coaching.models import CalendarEvent, CalendarKind, CalendarSource
from sessions_app.database import in_database
from tests.browser.fixtures import Watcher
from tests.browser.test_accessibility import serious_findings
from tests.calendar.conftest import calendar_text, one_event, source_of, timed

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/settings/calendar/"
UNBROKEN = "x" * 200


def lived_in_calendars(user: User) -> None:
    """Create a failing feed, a file, and a day full of unusual events."""
    now = timezone.now()
    today = local_day(now, ZoneInfo("UTC"))
    feed = source_of(
        user, "Work", kind=CalendarKind.FEED, origin="https://calendar.example/private/feed.ics", failures=3,
        failing_since=now - timedelta(days=2), error="The server couldn’t be reached.",
        next_try_at=now + timedelta(hours=1), left_out=2,
    )  # fmt: skip
    source_of(user, f"Team {UNBROKEN[:90]}")
    at_noon = datetime.combine(today, time(12), UTC)
    for title in ("Standup", "A walk with Mia along the river and back, if the weather holds", UNBROKEN):
        timed(feed, title, at_noon.isoformat(), (at_noon + timedelta(hours=1)).isoformat(), location="Room 4")
    CalendarEvent.unscoped.create(
        source=feed, uid="d", title="Conference", starts_on=today - timedelta(days=1),
        ends_on=today + timedelta(days=2),
    )  # fmt: skip


async def test_the_page_fits_and_axe_finds_nothing_serious(page: Page, watcher: Watcher, user: User) -> None:
    await in_database(lived_in_calendars, user)
    for width in (360, 1440):
        await page.set_viewport_size({"width": width, "height": 900})
        await page.goto(PAGE)
        await expect(page.get_by_text("Not updated since")).to_be_visible()
        await expect(page.get_by_text("12:00–13:00")).to_have_count(3)
        await page.get_by_label("Remove Work").click()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await serious_findings(page) == []
    assert watcher.faults == []


async def test_a_file_is_uploaded_and_removed_by_keyboard_alone(page: Page, watcher: Watcher) -> None:
    await page.goto(PAGE)
    today = local_day(timezone.now(), ZoneInfo("UTC"))
    text = calendar_text(one_event("Dentist", f"{today:%Y%m%d}T120000Z"))
    await page.get_by_label("Calendar file").set_input_files(
        {"name": "work.ics", "mimeType": "text/calendar", "buffer": text.encode()}
    )
    await page.get_by_role("button", name="Upload").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("work.ics was added: 1 event around today.")).to_be_visible()
    await expect(page.get_by_text("Dentist")).to_be_visible()
    await page.get_by_label("Remove work.ics").focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Remove calendar")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("work.ics was removed.")).to_be_visible()
    assert await in_database(CalendarSource.unscoped.count) == 0
    assert watcher.faults == []
