"""A person ends a conversation: every tab shows it, and the next message starts a new one."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_done
from tests.browser.fixtures import Watcher

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


async def test_a_conversation_that_is_ended_says_so_in_every_tab_and_goes_on_in_a_new_one(
    practice: PracticeServer, page: Page, watcher: Watcher, session: Session
) -> None:
    practice.script(["Hello.", "In a new one."])
    await page.goto(path_of(session))
    await say(page, "Good morning")
    await until_done(page)
    other = await page.context.new_page()
    await other.goto(path_of(session))
    await page.get_by_label("More options for this conversation").click()
    await page.get_by_text("End conversation").click()
    await expect(page.get_by_role("button", name="End it now")).to_be_visible()
    await page.get_by_role("button", name="End it now").click()
    await expect(page.locator("#ending")).to_contain_text("You ended this conversation.")
    await expect(page.locator("#end-conversation")).to_have_count(0)
    await expect(other.locator("#ending")).to_contain_text("You ended this conversation.")
    await expect(other.locator("#end-conversation")).to_be_hidden()
    await say(other, "One more thing")
    await other.wait_for_url(lambda address: "/chat/" in address and str(session.id) not in address)
    await until_done(other)
    await expect(other.locator("#messages")).to_contain_text("One more thing")
    assert watcher.faults == []
