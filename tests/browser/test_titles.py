"""A title changes in its place: on the page, in the tab's name and in the list, without a reload."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from sessions_app.titles import store_title
from tests.browser.chat_page import path_of, say, until_done
from tests.browser.fixtures import Watcher

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


async def test_a_title_is_written_on_the_page_and_on_the_list_and_arrives_in_other_tabs(
    practice: PracticeServer, page: Page, watcher: Watcher, session: Session
) -> None:
    practice.script(["What keeps you awake?"])
    await page.goto(path_of(session))
    await say(page, "I sleep badly")
    await until_done(page)
    await expect(page.locator("#chat-title")).to_have_text("I sleep badly")
    other = await page.context.new_page()
    await other.goto(path_of(session))
    await page.evaluate("window.isSamePage = true")
    await page.get_by_label("More options for this conversation").click()
    await page.locator("#session-menu").get_by_text("Rename", exact=True).click()
    field = page.get_by_label("Title of this conversation")
    await expect(field).to_have_value("I sleep badly")
    await field.fill("")
    await field.fill("Quiet nights")
    await field.press("Enter")
    for tab in (page, other):
        await expect(tab.locator("#chat-title")).to_have_text("Quiet nights")
        await expect(tab).to_have_title("Quiet nights · Sage")
    await expect(field).to_be_hidden()
    await expect(page.get_by_label("More options for this conversation")).to_be_focused()
    assert await page.evaluate("window.isSamePage")

    await page.goto("/chat/")
    await page.evaluate("window.isSamePage = true")
    await page.get_by_label("More options for: Quiet nights").click()
    await page.locator("#session-menu").get_by_text("Rename", exact=True).click()
    await field.fill("Nights <b>")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".ledger-title")).to_have_text("Nights <b>")
    await expect(other.locator("#chat-title")).to_have_text("Nights <b>")
    assert await page.evaluate("window.isSamePage")
    assert watcher.faults == []


async def test_sages_title_appears_on_an_open_page(
    practice: PracticeServer, page: Page, watcher: Watcher, session: Session
) -> None:
    await page.goto(path_of(session))
    await say(page, "I sleep badly")
    await until_done(page)
    await in_database(give_title, session)
    await expect(page.locator("#chat-title")).to_have_text("Sleep")
    await expect(page).to_have_title("Sleep · Sage")
    await page.get_by_label("More options for this conversation").click()
    await page.locator("#session-menu").get_by_text("Rename", exact=True).click()
    await expect(page.get_by_label("Title of this conversation")).to_have_value("Sleep")
    assert watcher.faults == []


def give_title(session: Session) -> None:
    """Store a title as the job does."""
    assert store_title(user_id=session.user_id, session_id=session.id, title="Sleep", numbers=[1, 2])
