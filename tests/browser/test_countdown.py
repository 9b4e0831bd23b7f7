"""A failed answer that says how long to wait is tried again by itself; without scripts there is a button."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.faults.fault import Fault
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_done
from tests.browser.fixtures import OpenContext

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WAIT = 100
BUSY = Fault(kind="status", status=429, retry_after=str(WAIT))


async def fail_once(page: Page, practice: PracticeServer, session: Session) -> None:
    """Send a message to which the model's server says that it is busy for longer than a turn may take."""
    practice.faults.push(BUSY)
    practice.script(["Here I am."])
    await page.goto(path_of(session))
    await say(page, "Are you there?")
    await expect(page.locator("#messages .notice")).to_contain_text(f"Try again in {WAIT} seconds.")


async def test_it_counts_down_and_tries_again_by_itself(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    await page.clock.install()
    await fail_once(page, practice, session)
    counting = page.locator("[data-retry-in]")
    await expect(counting).to_be_visible()
    await expect(counting).to_contain_text("Sage will try again in")
    await page.locator("#composer-text").fill("A draft meanwhile")
    await page.clock.fast_forward((WAIT - 10) * 1000)
    await expect(counting).to_be_visible()
    requests = len(practice.requests)
    await page.clock.fast_forward(15_000)
    await until_done(page)
    await expect(page.locator("#messages .turn")).to_contain_text("Here I am.")
    await expect(page.locator("#messages .notice")).to_have_count(0)
    assert len(practice.requests) == requests + 1
    await expect(page.locator("#composer-text")).to_have_value("A draft meanwhile")


async def test_a_reload_goes_on_counting_and_somebody_may_press_first(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    await fail_once(page, practice, session)
    await page.reload()
    await expect(page.locator("[data-retry-in]")).to_contain_text("Sage will try again in")
    await page.get_by_role("button", name="Try again").click()
    await until_done(page)
    await expect(page.locator("#messages .turn")).to_contain_text("Here I am.")


async def test_it_gives_up_after_five_tries(practice: PracticeServer, page: Page, session: Session) -> None:
    await page.clock.install()
    await fail_once(page, practice, session)
    for _ in range(5):
        practice.faults.push(BUSY)
        requests = len(practice.requests)
        await expect(page.locator("[data-retry-in]")).to_be_visible()
        await page.clock.fast_forward((WAIT + 5) * 1000)
        await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
        while len(practice.requests) == requests:
            await page.wait_for_timeout(50)
        await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    await expect(page.locator("#messages .notice").get_by_role("button", name="Try again")).to_be_visible()
    await expect(page.locator("[data-retry-in]")).to_be_hidden()
    requests = len(practice.requests)
    await page.clock.fast_forward((WAIT + 5) * 1000)
    assert len(practice.requests) == requests


async def test_without_scripts_there_is_a_button(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session
) -> None:
    page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    practice.faults.push(BUSY)
    practice.script(["Here I am."])
    await page.goto(path_of(session))
    await page.locator("#composer-text").fill("Are you there?")
    await page.locator("#send").click()
    await expect(page.locator("#messages .notice")).to_contain_text(f"Try again in {WAIT} seconds.")
    await expect(page.locator("[data-retry-in]")).to_be_hidden()
    await page.get_by_role("button", name="Try again").click()
    await expect(page.locator("#messages .turn")).to_contain_text("Here I am.")
