"""A browser context that has served another test shows nothing of it."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser.contexts import Contexts
from tests.live_sage import LiveSage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LEAVE = """async () => {
    localStorage.setItem("left", "word");
    sessionStorage.setItem("left", "word");
    document.cookie = "left=word";
    await new Promise((resolve) => (indexedDB.open("left").onsuccess = resolve));
    await caches.open("left");
    await navigator.clipboard.writeText("word");
}"""
FOUND = """async () => [
    localStorage.length, sessionStorage.length, document.cookie, (await indexedDB.databases()).length,
    (await caches.keys()).length, (await navigator.permissions.query({ name: "clipboard-read" })).state,
]"""


async def test_a_context_that_is_used_again_is_empty(browser: Browser, live_sage: LiveSage) -> None:
    contexts = Contexts(browser)
    first = await contexts.take(live_sage.origin)
    page = await first.context.new_page()
    await page.goto("/offline/")
    new = await page.evaluate(FOUND)
    await first.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.evaluate(LEAVE)
    assert await page.evaluate(FOUND) == [1, 1, "left=word", 1, 1, "granted"]
    await first.context.route("**/*", lambda route: route.abort())
    await first.context.set_offline(True)
    await contexts.give_back(first)

    second = await contexts.take(live_sage.origin)
    assert second is first
    page = await second.context.new_page()
    await page.goto("/offline/")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert await page.evaluate(FOUND) == new
    await second.context.close()
