"""Search in a browser: a word from weeks ago is found, and its message is in view."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import Page, expect

from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.test_accessibility import look
from tests.recall.history import talk

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def weeks_ago(user: User) -> Session:
    lines = (f"Line {number} of many, about walking" for number in range(80))
    moment = timezone.now() - timedelta(weeks=3)
    return talk(user, "Anna sold the red tandem", "How was that for her?", *lines, at=moment)


async def test_a_word_from_three_weeks_ago_is_found_and_its_message_is_in_view(
    page: Page, user: User
) -> None:
    session = await in_database(weeks_ago, user)
    await page.goto("/")
    await page.locator("h1").click()
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.type("tandems")
    await page.keyboard.press("Enter")
    hit = page.locator(".hit").first
    await expect(hit.locator("mark")).to_have_text("tandem")
    assert await look(page) == []
    await hit.click()
    await expect(page).to_have_url(f"/chat/{session.id}/?before=13#message-1")
    await expect(page.locator("#message-1")).to_be_in_viewport()
    await expect(page.locator("#message-1")).to_contain_text("Anna sold the red tandem")
    assert await look(page) == []


async def test_what_is_searched_stays_in_its_field_and_can_be_narrowed(page: Page, user: User) -> None:
    await in_database(weeks_ago, user)
    await page.goto("/search/?q=tandem")
    await page.get_by_label("When").select_option("week")
    await page.get_by_role("button", name="Search").click()
    await expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    await expect(page.get_by_role("searchbox")).to_have_value("tandem")
