"""Another answer to the last message, and the choice among them: in two tabs, and without a script."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import messages_markup, path_of, say, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.test_accessibility import serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

COVERED = """() => {
  const why = document.querySelector(".why summary").getBoundingClientRect();
  return [...document.querySelectorAll(".turn-tools :is(a, button)")].filter((tool) => {
    const box = tool.getBoundingClientRect();
    return box.width && box.right > why.left && box.left < why.right && box.bottom > why.top + 1
      && box.top < why.bottom - 1;
  }).map((tool) => tool.textContent.trim());
}"""
"""The buttons below an answer that reach under the words that open its panel."""


async def expect_answer(page: Page, words: str, place: str) -> None:
    """Wait until the first answer says that, and is at that place among its alternatives."""
    turn = page.locator("#messages > .turn").first
    await expect(turn.locator(".prose")).to_have_text(words)
    await expect(turn.locator(".answers > span").filter(has_text="of")).to_have_text(place)


async def test_the_last_answer_is_asked_for_again_and_chosen_and_later_only_looked_at(
    practice: PracticeServer, page: Page, watcher: Watcher, session: Session
) -> None:
    practice.script(["Answer one.", "Answer two.", "Answer three.", "Welcome."])
    await page.goto(path_of(session))
    await say(page, "Which one?")
    await until_done(page)
    other = await page.context.new_page()
    await other.goto(path_of(session))
    for words, place in (("Answer two.", "2 of 2"), ("Answer three.", "3 of 3")):
        await page.get_by_role("button", name="Answer again").click()
        await expect_answer(page, words, place)
        await until_done(page)
    await expect_answer(other, "Answer three.", "3 of 3")

    await page.evaluate("window.isSamePage = true")
    previous, following = page.get_by_label("Previous answer"), page.get_by_label("Next answer")
    await previous.focus()
    await page.keyboard.press("Enter")
    await expect_answer(page, "Answer two.", "2 of 3")
    await expect(previous).to_be_focused()
    await page.keyboard.press("Enter")
    await expect_answer(page, "Answer one.", "1 of 3")
    await expect(following).to_be_focused()
    await expect_answer(other, "Answer one.", "1 of 3")
    assert await serious_findings(page) == []
    shown = await messages_markup(page)
    await page.reload()
    await expect_answer(page, "Answer one.", "1 of 3")
    assert await messages_markup(page) == shown

    await say(page, "Thanks")
    await until_done(page, 2)
    await expect(page.get_by_role("button", name="Answer again")).to_have_count(1)
    await expect(page.locator(".ask-again").first).to_be_hidden()
    assert "Answer one." in str(practice.requests[-1].body["messages"])
    assert "Answer three." not in str(practice.requests[-1].body["messages"])
    await following.click()
    await expect_answer(page, "Answer two.", "2 of 3")
    await expect(following).to_be_focused()
    await expect_answer(other, "Answer one.", "1 of 3")
    await page.reload()
    await expect_answer(page, "Answer one.", "1 of 3")
    assert watcher.faults == []


async def test_without_a_script_a_form_asks_and_a_page_chooses(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session
) -> None:
    practice.script(["Answer one.", "Answer two."])
    context = await open_context(cookie, java_script_enabled=False)
    page = await context.new_page()
    await page.goto(path_of(session))
    await page.locator("#composer-text").fill("Which one?")
    await page.get_by_role("button", name="Send").click()
    await page.get_by_role("button", name="Answer again").click()
    await expect_answer(page, "Answer two.", "2 of 2")
    await page.get_by_label("Previous answer").click()
    await expect_answer(page, "Answer one.", "1 of 2")
    await expect(page.get_by_text("The conversation continues from another answer.")).to_be_visible()
    await page.get_by_role("button", name="Use this answer").click()
    await expect(page).to_have_url(path_of(session))
    await expect_answer(page, "Answer one.", "1 of 2")


@pytest.mark.parametrize("locale", ["de", "es"])
async def test_nothing_lies_over_the_buttons_below_an_answer_on_a_phone(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session, locale: str
) -> None:
    practice.script(["Answer one."])
    page = await (await open_context(cookie, locale=locale)).new_page()
    await page.goto(path_of(session))
    await say(page, "Which one?")
    await until_done(page)
    for width in (320, 360, 390, 432, 479, 480):
        await page.set_viewport_size({"width": width, "height": 740})
        assert await page.evaluate(COVERED) == [], f"at {width} px"
