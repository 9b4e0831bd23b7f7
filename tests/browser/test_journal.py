"""The journal in a browser: by keyboard, for axe, and on paper."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import Page, expect

from coaching.models import DayPlan, FileType, Profile, UserFile
from sessions_app.database import in_database
from tests.browser.fixtures import Watcher
from tests.browser.test_accessibility import look, serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def keep_days(user: User) -> list[str]:
    """Store a plan and a log of three days of last month; return the days."""
    Profile.unscoped.create(user=user, timezone="UTC", timezone_source="user", country="DE")
    first = (timezone.now().replace(day=1) - timedelta(days=1)).date().replace(day=3)
    days = [first + timedelta(days=number) for number in (0, 1, 7)]
    for day in days:
        DayPlan.unscoped.create(
            user=user, date=day, intention="Slow", priorities=[{"text": "Swim", "is_done": True}]
        )
        UserFile.unscoped.create(
            user=user,
            path=f"daily-logs/{day}.md",
            file_type=FileType.DAILY_LOG,
            version_number=1,
            frontmatter={"mood_signal": "calm", "energy": "like soup"},
        )
    return [str(day) for day in days]


async def test_past_days_are_read_by_keyboard_and_a_week_prints(
    page: Page, user: User, watcher: Watcher
) -> None:
    days = await in_database(keep_days, user)
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto("/journal/")
    await page.locator(".month a[aria-current=date]").focus()
    await page.keyboard.press("PageUp")
    await expect(page.locator(".month a")).to_have_count(3)
    await expect(page.locator(".day-chart")).to_have_count(2)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    assert await serious_findings(page) == []
    focused = "() => document.activeElement.getAttribute('href')"
    await page.locator(".month a").first.focus()
    moves = (
        ("ArrowRight", 1),
        ("ArrowLeft", 0),
        ("ArrowDown", 2),
        ("ArrowUp", 0),
        ("End", 2),
        ("Home", 0),
    )
    for key, day in moves:
        await page.keyboard.press(key)
        assert await page.evaluate(focused) == f"/journal/{days[day]}/", key
    await page.get_by_text("Mood and energy as a table").click()
    await expect(page.get_by_role("row", name="like soup")).to_have_count(3)
    await page.locator(".month a").first.click()
    await expect(page.get_by_text("1 of 1 done")).to_be_visible()
    assert await look(page) == []
    await page.get_by_role("link", name="Week of").click()
    assert await look(page) == []
    await page.emulate_media(media="print", color_scheme="dark")
    for hidden in (".site-head", ".trail", ".card-foot", ".site-foot"):
        await expect(page.locator(hidden)).to_be_hidden()
    scheme = await page.evaluate("() => getComputedStyle(document.documentElement).colorScheme")
    assert scheme == "light", "paper is white"
    assert watcher.faults == []
