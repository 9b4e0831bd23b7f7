"""Sage speaks first, in the browser: its words appear by themselves, and whoever writes takes its place."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply, Text
from coaching.practice.server import PracticeServer
from tests.browser.chat_page import messages_markup, say, until_done
from tests.browser.fixtures import OpenContext, Watcher

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HELD = Reply.of(Text("Good morning. "), Hold("half"), Text("How did you wake?"))
GREETING = "A new day. What would make it a good one?"


async def open_the_day(page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Open the day").click()
    await page.wait_for_url("**/chat/*/")


async def test_its_words_appear_by_themselves_and_are_the_same_after_a_reload(
    practice: PracticeServer, page: Page, watcher: Watcher
) -> None:
    practice.script([HELD, "Then go slowly."])
    await open_the_day(page)
    await practice.reached("half")
    await expect(page.locator("#live-text")).to_have_text("Good morning. ")
    await expect(page.locator(".chat-empty")).to_be_hidden()
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    practice.release("half")
    await until_done(page)
    await expect(page.locator("#messages .prose")).to_have_text("Good morning. How did you wake?")
    await say(page, "Badly")
    await until_done(page, 2)
    await expect(page.locator("#messages > .day")).to_have_count(0)  # the head names it
    streamed = await messages_markup(page)
    await page.reload()
    await until_done(page, 2)
    assert await messages_markup(page) == streamed
    assert watcher.faults == []


async def test_who_writes_meanwhile_takes_its_place_in_every_tab(
    practice: PracticeServer, page: Page, watcher: Watcher
) -> None:
    practice.script([HELD, "Then go slowly."])
    await open_the_day(page)
    await practice.reached("half")
    other = await page.context.new_page()
    await other.goto(page.url)
    await expect(other.locator("#live-text")).to_have_text("Good morning. ")
    await page.get_by_label("Your message").fill("I slept badly")
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    await page.get_by_role("button", name="Send").click()
    for tab in (page, other):
        await until_done(tab)
        await expect(tab.locator("#messages .said-text")).to_have_text(["I slept badly"])
        await expect(tab.locator("#messages .prose")).to_have_text(["Then go slowly."])
    assert len(practice.requests) == 2  # it was sent at once: a silent model is asked again after a while
    streamed = await messages_markup(page)
    await page.reload()
    await until_done(page)
    assert await messages_markup(page) == streamed
    assert watcher.faults == []


async def test_stopped_before_a_word_the_page_shows_its_own_greeting(
    practice: PracticeServer, page: Page, watcher: Watcher
) -> None:
    practice.script([Reply.of(Hold("first"), "Good morning."), "Then go slowly."])
    await open_the_day(page)
    await practice.reached("first")
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_text(GREETING)).to_be_visible()
    await expect(page.locator("#notices")).to_be_empty()
    await say(page, "I slept badly")
    await until_done(page)
    assert watcher.faults == []


async def test_where_the_model_is_down_the_page_shows_its_own_greeting(
    practice: PracticeServer, page: Page, watcher: Watcher
) -> None:
    practice.faults.push(Fault(kind="status", status=400))
    await open_the_day(page)
    await expect(page.get_by_text(GREETING)).to_be_visible()
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    await expect(page.locator("#notices")).to_be_empty()
    practice.script(["Then go slowly."])
    await say(page, "I slept badly")
    await until_done(page)
    assert watcher.faults == []


async def test_without_javascript_the_page_comes_at_once_and_then_has_its_words(
    practice: PracticeServer, open_context: OpenContext, cookie: str
) -> None:
    practice.script([HELD])
    page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await open_the_day(page)
    await practice.reached("half")
    await expect(page.locator("noscript .turn-end")).to_be_visible()
    practice.release("half")
    while await page.locator("meta[http-equiv=refresh]").count():  # the browser would wait for seconds
        await page.reload()
    await expect(page.locator("#messages .prose")).to_have_text("Good morning. How did you wake?")
