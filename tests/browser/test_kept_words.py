"""The end of an answer keeps the elements that are on the page, with focus and selection."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import messages_markup, path_of, say, until_done
from tests.browser.fixtures import Watcher

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BEGINNING = (
    "## A plan\n\nSome **bold** words, and [a piece](https://example.org/no).\n\n> A quiet no.\n\n"
    "Take \\(x^2\\).\n\n```python\nx = 1\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\n"
    "- [x] one\n- two\n- thr"
)
MOST_EVENTS = 40

MARK = """() => {
    window.shown = [...document.querySelectorAll(".is-open .prose :is(:not(.live), .code-copy)")].filter(
        (element) => !element.querySelector(".live") && !element.matches(".live, .live *"));
    window.removed = 0;
    document.addEventListener("htmx:beforeCleanupElement", () => (window.removed += 1));
    getSelection().selectAllChildren(document.querySelector(".is-open strong"));
    document.querySelector(".is-open .prose a").focus();
    return window.shown.map((element) => element.localName);
}"""
KEPT = """() => window.shown.filter((element) => element.isConnected && element.closest("#messages"))
    .map((element) => element.localName)"""


async def markup_after_reload(page: Page) -> str:
    await page.reload()
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    await expect(page.locator("#messages math")).to_have_count(1)
    return await messages_markup(page)


async def test_the_blocks_that_are_on_the_page_stay_the_same_elements_at_the_end_of_an_answer(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(Text(BEGINNING), Hold("end"), Text("ee\n\nThe *end*."))])
    await page.goto(path_of(session))
    await say(page, "Make a plan")
    await practice.reached("end")
    await expect(page.locator("#live-text")).to_have_text("thr")
    await expect(page.locator("#live-blocks math")).to_have_count(1)
    shown = await page.evaluate(MARK)
    assert {"h4", "a", "blockquote", "math", "pre", "button", "table", "td", "li"} <= set(shown)
    practice.release("end")
    await until_done(page)
    assert await page.evaluate(KEPT) == shown
    assert await page.evaluate("window.removed") < MOST_EVENTS
    assert await page.evaluate("getSelection().toString()") == "bold"
    await expect(page.locator("#messages .prose a")).to_be_focused()
    streamed = await messages_markup(page)
    assert await markup_after_reload(page) == streamed
    assert watcher.faults == []


async def test_the_blocks_of_a_round_stay_when_a_tool_follows_and_at_the_end(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    file = ToolUse("save_file", {"file_type": "domain", "file_name": "career", "content": "About it."})
    practice.script(
        [
            Reply.of(Text(BEGINNING), Hold("tool"), Text("ee\n"), file),
            Reply.of(Text("Written.\n\nNow "), Hold("end"), Text("it ends.")),
        ]
    )
    await page.goto(path_of(session))
    await say(page, "Make a plan")
    await practice.reached("tool")
    await expect(page.locator("#live-text")).to_have_text("thr")
    await expect(page.locator("#live-blocks math")).to_have_count(1)
    shown = await page.evaluate(MARK)
    practice.release("tool")
    await practice.reached("end")
    await expect(page.locator("#live-text")).to_have_text("Now")
    assert await page.evaluate("window.shown.filter(({ isConnected }) => isConnected).length") == len(shown)
    practice.release("end")
    await until_done(page)
    assert await page.evaluate(KEPT) == shown
    assert await page.evaluate("window.removed") < MOST_EVENTS
    streamed = await messages_markup(page)
    assert await markup_after_reload(page) == streamed
    assert watcher.faults == []


async def test_a_block_that_differs_from_the_answer_is_replaced(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(Text(BEGINNING), Hold("end"), Text("ee\n\nThe *end*."))])
    await page.goto(path_of(session))
    await say(page, "Make a plan")
    await practice.reached("end")
    await expect(page.locator("#live-text")).to_have_text("thr")
    await page.evaluate(
        """() => {
            const blocks = document.getElementById("live-blocks");
            blocks.querySelector("strong").textContent = "other";
            blocks.querySelector("code").append("y = 2");
            blocks.querySelector("h4").remove();
        }"""
    )
    practice.release("end")
    await until_done(page)
    streamed = await messages_markup(page)
    assert "<strong>bold</strong>" in streamed
    assert await markup_after_reload(page) == streamed
    assert watcher.faults == []
