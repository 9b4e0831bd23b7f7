"""How much of a page the browser restyles while an answer is written, and at its end."""

import json

import pytest
from playwright.async_api import Page, expect

from coaching.practice.script import Hold, Reply, Text
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_done

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ABOVE, MOST = 3_000, 500
GROW = """count => {
  const words = document.querySelector("#messages > .turn .prose");
  for (let n = 0; n < count; n++) words.append(words.firstElementChild.cloneNode(true));
}"""


async def test_new_blocks_of_an_answer_restyle_nothing_of_the_answers_above(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    blocks = "".join(f"\n\nBlock **{number}**.\n\n- one\n- two" for number in range(20))
    practice.script(
        [
            Reply.of(Text("An answer.")),
            Reply.of(
                Text("It begins."), Hold("blocks"), Text(f"{blocks}\n\nLast"), Hold("end"), Text(" words.")
            ),
        ]
    )
    await page.goto(path_of(session))
    await say(page, "A question.")
    await until_done(page)
    await page.evaluate(GROW, ABOVE)
    await say(page, "Another question.")
    await expect(page.locator("#live-blocks")).to_have_text("It begins.")
    browser = page.context.browser
    assert browser
    await browser.start_tracing(page=page, categories=["devtools.timeline"])
    practice.release("blocks")
    await expect(page.locator("#live-blocks")).to_contain_text("Last")
    restyled = elements_restyled(await browser.stop_tracing())
    practice.release("end")
    await until_done(page, answers=2)
    assert len(restyled) > 1
    assert max(restyled) < MOST


async def test_the_end_of_a_long_answer_restyles_little_of_it(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    blocks = "".join(f"\n\nBlock **{number}**.\n\n- one\n- two" for number in range(200))
    practice.script(
        [Reply.of(Text(f"It begins.{blocks}\n\nLast"), Hold("end"), Text(" *words*."), chunk_characters=200)]
    )
    await page.goto(path_of(session))
    await say(page, "A question.")
    await expect(page.locator("#live-text")).to_have_text("Last")
    assert await page.locator("#live-blocks *").count() > 2 * MOST
    browser = page.context.browser
    assert browser
    await browser.start_tracing(page=page, categories=["devtools.timeline"])
    practice.release("end")
    await until_done(page)
    restyled = elements_restyled(await browser.stop_tracing())
    assert len(restyled) > 1
    assert max(restyled) < MOST


def elements_restyled(trace: bytes) -> list[int]:
    """Return the number of elements of each restyling in a trace."""
    events = json.loads(trace)["traceEvents"]
    return [
        event["args"]["elementCount"]
        for event in events
        if event["name"] == "UpdateLayoutTree" and "elementCount" in event.get("args", {})
    ]
