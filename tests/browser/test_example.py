"""The example week: at a model's pace, at once on request, with reduced motion, and without JavaScript."""

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.fixtures import OpenContext

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MESSAGES = 29


async def look(page: Page, name: str) -> None:
    if folder := os.environ.get("EXAMPLE_PICTURES"):
        await page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


async def test_the_example_is_shown_message_by_message_and_at_once_when_asked(
    open_context: OpenContext, cookie: str
) -> None:
    page = await (await open_context(cookie, reduced_motion="no-preference")).new_page()
    await page.goto("/example/")
    shown = page.locator("#example > li:visible")
    await expect(shown.nth(2)).to_be_visible()
    assert await shown.count() < 10
    await page.get_by_role("button", name="Show it all").click()
    await expect(page.locator("#example > li.turn, #example > li.said")).to_have_count(MESSAGES)
    await expect(page.locator("#example > li:visible")).to_have_count(MESSAGES + 4)
    await expect(page.locator("#example > li").last).to_contain_text("I wouldn't call that nothing.")
    await expect(page.locator("#example .step-chip")).to_have_count(4)
    await expect(page.locator("#example").get_by_role("button", name="Undo")).to_have_count(0)


@pytest.mark.parametrize("options", [{"java_script_enabled": False}, {"reduced_motion": "reduce"}])
async def test_it_stands_there_at_once_without_script_or_with_reduced_motion(
    open_context: OpenContext, cookie: str, options: dict[str, object]
) -> None:
    context = await open_context(cookie, **options)
    page = await context.new_page()
    await page.goto("/example/")
    await expect(page.locator("#example > li:visible")).to_have_count(MESSAGES + 4)
    await expect(page.get_by_role("button", name="Show it all")).to_have_count(0)


SCREENS = [(360, "dark"), (1440, "light")]
MORE_SCREENS = [(360, "light"), (768, "light"), (768, "dark"), (1440, "dark")]


@pytest.mark.parametrize(
    ("width", "scheme"), SCREENS + (MORE_SCREENS if os.environ.get("EXAMPLE_PICTURES") else [])
)
async def test_the_first_pages_lead_to_the_example(
    open_context: OpenContext, cookie: str, width: int, scheme: str
) -> None:
    context = await open_context(
        cookie, viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = await context.new_page()
    for address in ("/", "/welcome/"):
        await page.goto(address)
        await look(page, f"{address.strip('/') or 'home'}-{width}-{scheme}")
        await page.get_by_role("link", name="See an example week").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("An example week")
    await look(page, f"example-{width}-{scheme}")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
