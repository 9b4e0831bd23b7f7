"""The last message is edited, with and without JavaScript."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.script import Reply, Text
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Message, Session
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.questions import PILLS, assert_a_reload_shows_the_same, save

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


async def test_the_last_message_is_changed_and_what_was_written_stays(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script(["First.", Reply.of(save("career"), PILLS), "Better so.", "Third."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_done(page)
    await say(page, "Helo agian")
    await until_asked(page, "How did you wake?")
    await page.get_by_label("Your message").fill("a draft")
    await expect(page.get_by_role("link", name="Edit")).to_have_count(1)
    await page.get_by_role("link", name="Edit").click()
    await expect(page.get_by_label("Your message")).to_have_value("Helo agian")
    await page.keyboard.press("Escape")
    await expect(page.get_by_label("Your message")).to_have_value("a draft")
    await page.get_by_role("link", name="Edit").click()
    await page.get_by_label("Your message").fill("Hello again")
    await page.keyboard.press("Enter")
    await until_done(page, 2)
    await expect(page.locator("#messages .said-text")).to_have_text(["Hello", "Hello again"])
    await expect(page.locator("#kept")).to_contain_text("Career")
    await expect(page.get_by_label("Your message")).to_have_value("a draft")
    await expect(page.locator("#editing")).to_be_hidden()
    await assert_a_reload_shows_the_same(page)
    await page.keyboard.press("Control+End")
    await say(page, "Go on")
    await until_done(page, 3)
    await expect(page.locator("#kept")).to_be_empty()
    assert watcher.faults == []


async def test_the_last_message_is_changed_without_a_script(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session
) -> None:
    practice.script([Reply.of(Text("First."), save("career")), "Written.", "Better so."])
    page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await page.goto(path_of(session))
    await page.get_by_label("Your message").fill("Helo")
    await page.get_by_role("button", name="Send").click()
    await page.get_by_role("link", name="Edit").click()
    await expect(page.get_by_label("Your message")).to_have_value("Helo")
    await page.get_by_label("Your message").fill("Hello")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#messages .said-text")).to_have_text("Hello")
    await expect(page.locator("#messages .turn")).to_contain_text("Better so.")
    await expect(page.get_by_text("stay as they are: Career")).to_be_visible()
    numbers = await in_database(
        lambda: list(Message.unscoped.order_by("number").values_list("number", flat=True))
    )
    assert numbers == [1, 2, 3, 4]
