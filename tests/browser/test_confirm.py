"""A write that wants the user's yes: edited, refused at its field, added by keyboard, undone, on a phone."""

import pytest
from playwright.async_api import Page, expect

from coaching.models import ActionItem
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import Watcher
from tests.browser.questions import assert_a_reload_shows_the_same
from tests.browser.test_accessibility import serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CREATE = ToolUse(
    "create_action_item",
    {
        "title": "Call the <b>bank</b>",
        "quote": "Call the bank",
        "due_date": "2027-03-31",
        "description": "About the loan.",
    },
    id="toolu_act",
)


async def stored() -> list[tuple[str, str, str]]:
    rows = await in_database(lambda: list(ActionItem.unscoped.order_by("id")))
    return [(item.title, str(item.due_date), item.state) for item in rows]


async def test_an_action_item_is_added_with_an_edited_date_and_undone(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(Text("I can note that."), CREATE), "It is on your list."])
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(path_of(session))
    await say(page, "Remind me to call the bank")
    await until_asked(page, "Shall I note this as your next step?")
    card = page.locator(".call.is-pending")
    await expect(card).to_contain_text("Me")
    await expect(card.get_by_label("Next step")).to_have_value("Call the <b>bank</b>")
    assert await serious_findings(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await stored() == []
    await card.get_by_label("Next step").fill("   ")
    await card.get_by_role("button", name="Note it").click()
    await expect(card.locator("[aria-invalid=true]")).to_be_focused()
    await expect(card.locator(".field-errors:not(:empty)")).to_contain_text("Enter 1 to 200")
    await card.get_by_label("Next step").fill("Call the bank")
    await card.get_by_label("Due").fill("2027-04-02")
    await card.get_by_label("Next step").focus()
    await page.keyboard.press("Enter")
    await until_done(page)
    ended = page.locator("#messages .call")
    await expect(ended).to_contain_text("Friday, 2 April 2027")
    await expect(ended).to_contain_text("Noted as your next step.")
    assert await stored() == [("Call the bank", "2027-04-02", "open")]
    await page.get_by_label("Your message").focus()
    await assert_a_reload_shows_the_same(page)
    assert await serious_findings(page) == []
    await page.get_by_role("button", name="Undo").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .write-card")).to_contain_text("Undone.")
    assert await stored() == [("Call the bank", "2027-04-02", "dismissed")]
    await expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert watcher.faults == []


async def test_a_no_is_one_press_and_nothing_is_added(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(CREATE), "Then I leave it."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "Shall I note this as your next step?")
    await page.get_by_label("Next step", exact=True).fill("")
    await page.get_by_role("button", name="No, thanks").click()
    await until_done(page)
    await expect(page.locator("#messages .write-card")).to_contain_text("You declined. Nothing was added.")
    await page.get_by_label("Your message").focus()
    await assert_a_reload_shows_the_same(page)
    assert await stored() == []
    assert watcher.faults == []
