"""A repeating step is done for one date by one press, however the page is left or pressed."""

from datetime import date

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, Route, expect

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import ActionItem, MadeBy
from sessions_app.database import in_database
from tests.browser.fixtures import Watcher

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DUE = date(2031, 12, 1)
LEAVE = """(pause) => {
    document.querySelector(".action .tick").click();
    setTimeout(() => location.assign("about:blank"), pause);
}"""


async def add_step(user: User) -> ActionItem:
    def add() -> ActionItem:
        values = {"title": "Water the plants", "due_date": DUE, "repeats": "daily"}
        new = NewAction(client_id=own_client(user.pk).pk, **values)  # type: ignore[arg-type]
        return propose(user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True)

    return await in_database(add)


async def due_of(step: ActionItem) -> date | None:
    await in_database(step.refresh_from_db)
    return step.due_date


@pytest.mark.parametrize("pause", [0, 15, 60])
async def test_a_tick_that_is_sent_again_on_leaving_counts_once(page: Page, user: User, pause: int) -> None:
    step = await add_step(user)
    sent = 0

    async def count(route: Route) -> None:
        nonlocal sent
        sent += 1
        await route.continue_()

    await page.route(f"**/library/actions/{step.pk}/", count)
    await page.goto("/library/actions/")
    await page.evaluate(LEAVE, pause)
    await page.wait_for_url("about:blank")
    await page.wait_for_timeout(1000)
    assert sent
    assert await due_of(step) == date(2031, 12, 2)


@pytest.mark.parametrize("place", ["/", "/library/actions/"])
async def test_a_second_press_that_follows_at_once_is_not_for_the_next_date(
    page: Page, user: User, watcher: Watcher, place: str
) -> None:
    step = await add_step(user)
    await page.goto(place)
    tick, day = page.locator(".action .tick"), page.locator(".action time")
    box = await tick.bounding_box()
    assert box
    at = (box["x"] + 8, box["y"] + 8)
    await page.mouse.click(*at)
    await expect(day).to_have_attribute("datetime", "2031-12-02")
    await page.mouse.click(*at)
    await page.wait_for_timeout(1000)
    assert await due_of(step) == date(2031, 12, 2)
    await expect(tick).not_to_be_checked()
    await page.mouse.click(*at)
    await expect(day).to_have_attribute("datetime", "2031-12-03")
    assert watcher.faults == []


async def test_a_tick_in_a_second_tab_says_that_the_date_is_done(
    page: Page, user: User, watcher: Watcher
) -> None:
    step = await add_step(user)
    other = await page.context.new_page()
    for tab in (page, other):
        await tab.goto("/")
    for tab in (page, other):
        await tab.locator(".action .tick").click()
        await expect(tab.locator(".action time")).to_have_attribute("datetime", "2031-12-02")
    await expect(other.locator(".action .notice")).to_contain_text("already marked this as done")
    assert await due_of(step) == date(2031, 12, 2)
