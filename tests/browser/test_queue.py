"""What is sent while Sage answers waits as the next message, in order and over a reload; keys and copying."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import Watcher
from tests.browser.test_accessibility import serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PILLS = ToolUse("show_options", {"prompt": "Which?", "options": [{"label": "Fine"}, {"label": "Tired"}]})
PRESS = "(button, type) => button.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0 }))"


async def expect_said(page: Page, *texts: str) -> None:
    await expect(page.locator("#messages .said-text")).to_have_text([*texts])


async def test_what_is_sent_while_sage_answers_is_the_next_message(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    half = [Reply.of(Text("A long "), Hold(name), Text("answer.")) for name in ("one", "two", "three")]
    practice.script([half[0], "Heard.", half[1], half[2], "Heard again."])
    field, queued = page.get_by_label("Your message"), page.locator("#queued .said")
    await page.goto(path_of(session))
    await say(page, "Hello")
    await practice.reached("one")
    await field.fill("One more thing")
    await expect(page.get_by_role("button", name="Send when Sage has finished")).to_be_visible()
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await page.keyboard.press("Enter")
    await say(page, "and another")
    await expect(queued.locator(".said-text")).to_have_text("One more thing\n\nand another")
    await expect(field).to_have_value("")
    assert await serious_findings(page) == []

    # It comes back into the field, and outlives a reload.
    await page.keyboard.press("ArrowUp")
    await expect(field).to_have_value("One more thing\n\nand another")
    await expect(queued).to_have_count(0)
    await page.keyboard.press("Enter")
    await page.reload()
    await expect(queued).to_contain_text("Will be sent when Sage has finished")
    practice.release("one")
    await until_done(page, 2)
    await expect_said(page, "Hello", "One more thing\n\nand another")
    await expect(queued).to_have_count(0)

    # Removed, it isn't sent; and an answer that is stopped has ended, too.
    await say(page, "Tell me more")
    await practice.reached("two")
    await say(page, "Forget this")
    await queued.get_by_role("button", name="Remove").click()
    await expect(field).to_be_focused()
    practice.release("two")
    await until_done(page, 3)
    await say(page, "And more")
    await practice.reached("three")
    await say(page, "Stop, something else")
    await page.get_by_role("button", name="Stop").click()
    await until_done(page, 5)
    practice.release("three")
    said = ["Hello", "One more thing\n\nand another", "Tell me more", "And more", "Stop, something else"]
    await expect_said(page, *said)
    assert watcher.faults == []


async def test_what_waits_may_have_as_many_characters_as_the_server_takes(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script([Reply.of(Text("A long "), Hold("one"), Text("answer.")), "Heard."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await practice.reached("one")
    await say(page, "😀" * 10_001)
    await expect(page.locator("#queued .said-text")).to_have_text("😀" * 10_001)
    await say(page, "x" * 9_998)
    await expect(page.locator("#wait-hint")).to_be_visible()
    await expect(page.get_by_label("Your message")).to_have_value("x" * 9_998)
    await say(page, "x" * 9_997)
    await expect(page.get_by_label("Your message")).to_have_value("")
    practice.release("one")
    await until_done(page, 2)
    await expect_said(page, "Hello", "😀" * 10_001 + "\n\n" + "x" * 9_997)


async def test_behind_a_question_or_a_failed_answer_what_waits_is_a_draft_again(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script([Reply.of(Text("Let me "), Hold("one"), Text("ask."), PILLS), "Good.", "Heard."])
    field, queued = page.get_by_label("Your message"), page.locator("#queued .said")
    await page.goto(path_of(session))
    await say(page, "Hello")
    await practice.reached("one")
    await say(page, "One more thing")
    await field.fill("Or rather")
    await field.evaluate("(field) => field.setSelectionRange(2, 2)")
    practice.release("one")
    await until_asked(page, "Which?")
    await expect(field).to_have_value("Or rather\n\nOne more thing")
    assert await field.evaluate("(field) => [field.selectionStart, field.selectionEnd]") == [2, 2]
    hint = page.get_by_role("status").filter(has_text="Not sent yet. Your text is back in the message field.")
    await expect(hint).to_be_visible()
    await expect(queued).to_have_count(0)
    await page.get_by_role("button", name="Fine").click()
    await until_done(page, 1)
    await expect_said(page, "Hello")
    await expect(field).to_have_value("Or rather\n\nOne more thing")

    await field.fill("")
    practice.faults.push(Fault(kind="status", status=400, message="nonsense"))
    await page.context.set_offline(True)
    await say(page, "A")
    await say(page, "B")
    await expect(queued).to_contain_text("Will be sent when Sage has finished")
    await page.context.set_offline(False)
    await expect(page.get_by_role("button", name="Try again")).to_be_visible()
    await expect(field).to_have_value("B")
    await expect(queued).to_have_count(0)
    await expect_said(page, "Hello", "A")
    await expect(hint).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(hint).to_be_hidden()
    await until_done(page, 3)
    await expect_said(page, "Hello", "A", "B")


async def test_what_waits_comes_back_where_it_is_refused_or_the_conversation_ends(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    end = ToolUse("complete_session", {"type": "session", "summary": "You said hello."})
    practice.script([Reply.of(Hold("one"), end), "Goodbye."])
    field = page.get_by_label("Your message")
    await page.goto(path_of(session))
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    await page.context.set_offline(True)
    await field.evaluate("(field) => delete field.dataset.most")
    await say(page, "x" * 20_001)
    await say(page, "And this")
    await expect(page.locator("#queued .said-text")).to_have_text("And this")
    await page.context.set_offline(False)
    await expect(page.locator("#notices")).to_contain_text("20,001 characters")
    await expect(field).to_have_value(f"{'x' * 20_001}\n\nAnd this")
    await expect(page.locator("#queued .said")).to_have_count(0)
    await say(page, "That is all")
    await practice.reached("one")
    await say(page, "Or is it?")
    practice.release("one")
    await expect(page.locator("#ending > *")).to_have_count(1)
    await expect(field).to_have_value("Or is it?")
    await expect(page.locator("#wait-hint")).to_contain_text("Not sent yet")
    await expect(page.locator("#queued .said")).to_have_count(0)


async def test_keys_begin_a_conversation_find_one_and_edit_what_was_said(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script(["Hi.", "Hi again."])
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    field = page.get_by_label("Your message")
    await page.goto(path_of(session))
    await say(page, "Hello *there*")
    await until_done(page)
    await page.get_by_role("button", name="Copy message").click()
    await expect(page.locator("#toast")).to_have_text("Copied")
    assert await page.evaluate("navigator.clipboard.readText()") == "Hello *there*"

    # In the field they are letters.
    await field.focus()
    await page.keyboard.type("n/?")
    await page.keyboard.press("ArrowUp")
    await expect(field).to_have_value("n/?")
    await field.fill("")
    await page.keyboard.press("ArrowUp")
    await expect(field).to_have_value("Hello *there*")
    await page.keyboard.press("Escape")
    await expect(field).to_have_value("")
    await page.locator("h1").click()
    await page.keyboard.press("/")
    await expect(page.locator("#sidebar-q")).to_be_focused()
    await page.locator("h1").click()
    await page.keyboard.press("?")
    for words in ("Start a new conversation", "Search everything", "Edit your last message"):
        await expect(page.locator("#keys-dialog")).to_contain_text(words)
    await page.keyboard.press("Escape")
    await page.keyboard.press("n")
    await page.wait_for_url(lambda url: not url.endswith(path_of(session)))
    await expect(field).to_be_focused()
    begun = page.url
    await page.locator("h1").click()
    await page.keyboard.press("n")
    await expect(field).to_be_focused()
    assert page.url == begun
    assert watcher.faults == []


async def test_what_another_tab_sends_at_the_same_moment_waits_too(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(Text("A long "), Hold("one"), Text("answer.")), "Heard."])
    other = await page.context.new_page()
    for tab in (page, other):
        await tab.goto(path_of(session))
        await expect(tab.locator("#chat")).to_have_attribute("data-phase", "idle")
    # The page doesn't know of the first one's turn when it sends: its frames are held back until then.
    await other.locator("#send").evaluate(PRESS, "pointerdown")
    await say(page, "First")
    await practice.reached("one")
    await say(other, "Second")
    await other.locator("#send").evaluate(PRESS, "pointerup")
    await expect(other.locator("#queued .said")).to_contain_text("Will be sent when Sage has finished")
    await expect(other.locator("#queued .said-text")).to_have_text("Second")
    await expect(other.locator("#notices")).to_be_empty()
    practice.release("one")
    for tab in (page, other):
        await until_done(tab, 2)
        await expect_said(tab, "First", "Second")
    await expect(other.locator("#queued .said")).to_have_count(0)
    assert watcher.faults == []
