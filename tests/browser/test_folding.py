"""Answered questions are one line each, the last one can be corrected, and silence is explained."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.script import Hold, Reply, Text
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.questions import PILLS, PULSE, assert_a_reload_shows_the_same
from tests.browser.test_accessibility import serious_findings
from tests.browser.test_arcs import Walker, begin

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 360, "height": 740}
PARTS = ("thriving", "good", "okay", "needs_attention", "in_crisis", "good", "okay", "later")
MOST_PIXELS = 2500
"""Of eight answered questions, without the one that waits; at 390 px of a mapping to its end, too."""
TYPED = (
    "It all hangs on sleep",
    "Calmer days",
    "In bed by eleven on Monday",
    "I have two kids and work nights",
)
HEIGHT = "() => document.getElementById('transcript').getBoundingClientRect().height"
LINES = """() => [...document.querySelectorAll(".call:not(.is-pending)")].map((call) => {
    const head = document.querySelector(".arc-progress").getBoundingClientRect();
    return [Math.round(call.getBoundingClientRect().height), Math.round(head.top)];
})"""
"""The height of each answered question, and where the progress is."""
SILENT_MS = 3900
MEASURE_SILENCE = """() => {
    let last = performance.now();
    const still = document.getElementById("still");
    const options = { childList: true, characterData: true, subtree: true };
    const turn = document.getElementById("messages");
    new MutationObserver(() => { last = performance.now(); }).observe(turn, options);
    new MutationObserver(() => { if (!still.hidden) window.silence ??= performance.now() - last; })
        .observe(still, { attributes: true });
}"""


async def test_eight_parts_of_the_map_are_eight_lines_on_a_phone(
    practice: PracticeServer, open_context: OpenContext, cookie: str, watcher: Watcher
) -> None:
    page = await (await open_context(cookie, viewport=PHONE)).new_page()
    walker = await begin(page, "Life mapping", Walker(page))
    for value in PARTS:
        await walker.tap(value)
    await expect(page.locator(".arc-progress")).to_have_text("7 of 8 parts mapped")
    await expect(page.locator(".call.is-pending > legend")).to_be_in_viewport(ratio=1)
    height = await page.evaluate(HEIGHT) - await page.locator(".call.is-pending").evaluate(
        "(asked) => asked.getBoundingClientRect().height"
    )
    assert height <= MOST_PIXELS
    await page.evaluate("() => scrollTo({ top: 200, behavior: 'instant' })")
    lines = await page.evaluate(LINES)
    assert len(lines) == len(PARTS)
    assert all(line <= 40 and top == 52 for line, top in lines), lines
    first = page.locator(".call.is-answered").first
    await expect(first.locator("summary")).to_contain_text("How is work going? (1 of 8)")
    await expect(first.locator(".folded-choice")).to_have_text("Thriving")
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).length"
    assert await page.locator(".folded-choice").evaluate_all(cut) == 0
    await expect(first.locator(".pills")).to_be_hidden()
    await first.locator("summary").click()
    await expect(first.locator(".pills")).to_be_visible()
    await first.locator("summary").click()
    await expect(page.locator(".folded-change:visible")).to_have_count(1)

    # What contradicts the words of before, or is empty, is said at its row.
    await page.get_by_role("button", name="Save ratings").click()
    await expect(page.locator('[data-fault="ratings"]')).to_have_text(
        "Please rate at least one area, from 1 to 5."
    )
    career = page.get_by_role("group", name="Career", exact=True)
    await career.get_by_text("1", exact=True).click()
    await page.get_by_role("button", name="Save ratings").click()
    await expect(page.locator('[data-fault="career"]')).to_contain_text("just called this “Thriving”")
    await expect(page.locator('[data-fault="career"]')).to_be_in_viewport(ratio=1)
    await expect(page.locator('[data-fault="ratings"]')).to_be_empty()
    await expect(page.locator("#notices")).to_be_empty()
    await expect(career.get_by_role("radio", name="1")).to_be_focused()
    assert await serious_findings(page) == []
    await walker.rate(career=4, health=2)
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    await walker.reload()
    for said in TYPED:
        await walker.say(said)
    await walker.tap("yes")
    ending = page.get_by_role("region", name="Your map is ready.")
    await expect(ending).to_be_visible()
    overview = ending.get_by_role("link", name="Overview")
    await expect(ending.get_by_text("7 more files")).to_be_visible()
    await expect(overview).to_be_hidden()
    assert await serious_findings(page) == []
    await page.emulate_media(media="print")
    await expect(overview).to_be_visible()
    await page.emulate_media(media="screen")
    await page.set_viewport_size({"width": 390, "height": 844})
    assert await page.evaluate(HEIGHT) <= MOST_PIXELS
    await ending.get_by_text("7 more files").click()
    await expect(overview).to_be_visible()
    assert watcher.faults == []


async def test_the_last_answer_is_corrected_by_a_message(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(PILLS), Reply.of(Text("Good."), PULSE), "Low, then.", "Of course."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    await page.get_by_role("button", name="Fine").click()
    await until_asked(page, "How do these feel?")
    change = page.get_by_role("link", name="Change", exact=True)
    await expect(change).to_have_accessible_description("How did you wake? Your answer: Fine")
    field = page.get_by_label("Your message")
    await page.locator("#messages [data-edit]").last.dispatch_event("click")
    await expect(field).to_have_value("Hello")
    await change.click()
    await expect(field).to_be_focused()
    await expect(field).to_have_value("I meant: ")
    await page.keyboard.type("not so good")
    await page.keyboard.press("Enter")
    await until_done(page, 2)
    assert "I meant: not so good" in str(practice.requests[-1].body["messages"][-1])
    await expect(change).to_have_count(0)
    await expect(page.locator(".is-superseded .folded-choice")).to_have_text("Answered in your own words.")
    await assert_a_reload_shows_the_same(page)
    await page.goto(f"{path_of(session)}?change=1")  # as the link does without a script
    await expect(field).to_have_value("I meant: ")
    assert watcher.faults == []


async def test_after_some_seconds_of_silence_the_page_says_that_sage_still_works(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script([Reply.of(Text("A first word "), Hold("half"), Text("and the rest."))])
    await page.goto(path_of(session))
    await page.evaluate(MEASURE_SILENCE)
    await say(page, "Hello")
    await practice.reached("half")
    still = page.locator("#still")
    await expect(page.locator("#live-blocks")).to_contain_text("A first word")
    await expect(still).to_be_visible()
    assert await page.evaluate("() => window.silence") >= SILENT_MS
    await expect(page.locator("#announcer")).to_contain_text("Sage is still working on it.")
    await page.context.set_offline(True)
    await expect(still).to_be_hidden()
    await page.context.set_offline(False)
    practice.release("half")
    await until_done(page)
    await expect(still).to_be_hidden()


async def test_a_message_that_waits_for_the_connection_has_no_stop_beside_it(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script(["Heard.", Reply.of(Text("And "), Hold("half"), Text("this."))])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_done(page)
    await page.context.set_offline(True)
    await say(page, "And this")
    await expect(page.locator("#sending .said-state > span")).to_have_text(
        "Not sent yet. It’ll be sent as soon as you’re connected."
    )
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    await expect(page.get_by_role("button", name="Send when Sage has finished")).to_be_disabled()
    await page.context.set_offline(False)
    await practice.reached("half")
    await expect(page.get_by_role("button", name="Stop")).to_be_enabled()
    practice.release("half")
    await until_done(page, 2)
