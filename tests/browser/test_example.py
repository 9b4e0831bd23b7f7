"""The example week: at a model's pace, at once on request, with reduced motion, and without JavaScript."""

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.fixtures import OpenContext

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MESSAGES = 29
NEWEST = """() => {
    const unwritten = document.querySelector(".unwritten:not(:empty)");
    const item = [...document.querySelectorAll("#example > li")].findLast((each) => !each.hidden);
    return { top: scrollY, end: (unwritten?.getClientRects()[0] ?? item.getBoundingClientRect()).bottom };
}"""


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


async def test_the_page_follows_what_is_said_until_the_reader_scrolls_up(
    open_context: OpenContext, cookie: str
) -> None:
    small = {"width": 360, "height": 640}
    page = await (await open_context(cookie, reduced_motion="no-preference", viewport=small)).new_page()
    await page.clock.install()
    await page.goto("/example/")
    for _ in range(12):
        await page.clock.run_for(3000)
        newest = await page.evaluate(NEWEST)
        assert 0 < newest["end"] <= small["height"], newest
    assert newest["top"] > 0
    await page.mouse.move(180, 320)
    await page.mouse.wheel(0, -500)
    await page.wait_for_function("(top) => scrollY < top", arg=newest["top"])
    await page.wait_for_timeout(300)  # until the wheel has come to rest
    left_at = (await page.evaluate(NEWEST))["top"]
    await page.clock.run_for(20_000)
    newest = await page.evaluate(NEWEST)
    assert newest["top"] == left_at
    assert newest["end"] > small["height"]
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    await page.wait_for_timeout(300)
    await page.clock.run_for(20_000)
    newest = await page.evaluate(NEWEST)
    assert newest["top"] > left_at
    assert newest["end"] <= small["height"]


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
