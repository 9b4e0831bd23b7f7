"""No page shows a programmatic name (a tool, an attribute, a path) or raw markdown."""

import re

import pytest
from playwright.async_api import Page, expect

from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Note, Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until, until_asked, until_done
from tests.browser.test_accessibility import OWN_PAGES
from tests.thoroughness import sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NOTE = "I'll use save_file for `life-map/career.md`, with **domains_touched**, then read_file."
PLAIN_NOTE = "I'll use save file for Career, with domains touched, then read file."
MADE_FOR_PROGRAMS = re.compile(r"[a-z]+(?:_[a-z]+)+|`|\*\*|[\w-]+\.md\b")
SHOWN = """() => {
    const page = document.body.cloneNode(true);
    // What somebody wrote, code, and what is there to be copied stay as they are.
    for (const part of page.querySelectorAll("code, pre, script, style, template, textarea")) part.remove();
    const names = ["aria-label", "title", "placeholder", "data-label"];
    const said = names.flatMap(
        (name) => [...page.querySelectorAll(`[${name}]`)].map((part) => part.getAttribute(name)));
    return [document.title, page.textContent, ...said].join("\\n");
}"""
SETTLED = "() => document.querySelector('#chat[data-phase=idle]:not(:has(#sending > *))')"
FILES = {
    "domain": ("career", {"status": "in_crisis", "updated_rating": 2, "preview_line": "Tired"}),
    "life-plan": (None, {"themes": ["rest"], "domains_touched": ["career", "health"]}),
    "overview": (None, {"domains_touched": ["career"]}),
}


TALKS = (
    ("close_day", ["good evening", "It was long.", "tired", "nothing more", "yes", "that's all, bye", "bye"]),
    ("open_day", ["good morning", "Rest.", "Write the report", "yes", "bye"]),
    ("life_mapping", ["hello", "career", "My job is good.", "yes", "enough, bye", "bye"]),
)


def calls() -> list[ToolUse]:
    return [
        ToolUse(
            "save_file",
            {"file_type": kind, "content": "Words.", "attributes": attributes}
            | ({"file_name": name} if name else {}),
        )
        for kind, (name, attributes) in FILES.items()
    ]


async def leaks(page: Page) -> list[str]:
    """Return what a page shows that is made for programs."""
    shown: str = await page.evaluate(SHOWN)
    return [f"{page.url}: {shown[max(0, at.start() - 60) : at.end() + 40]!r}" for at in
            MADE_FOR_PROGRAMS.finditer(shown)]  # fmt: skip


async def test_no_state_of_a_conversation_shows_a_name_made_for_programs(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    found: list[str] = []
    arc = ToolUse("enter_structured_arc", {"arc": "close_day"})
    end = ToolUse("complete_session", {"type": "arc"})
    pulse = ToolUse("show_pulse_check", {"context": "How do these feel?"}, id="toolu_pulse")
    wrong = ToolUse("save_file", {"file_type": "day-plan", "content": "", "attributes": {"status": "x"}})
    practice.script(
        [
            Reply.of(Note(NOTE), Hold("note"), *calls(), wrong),
            Reply.of(Note(NOTE), arc),
            Reply.of(Note(NOTE), end),
            Reply.of(Note(NOTE), pulse),
            Reply.of(Note(NOTE), end),
            "That is that.",
            "Said anew.",
        ]
    )
    await page.goto(path_of(session))
    found += await leaks(page)
    await say(page, "Hello")
    await practice.reached("note")
    await expect(page.locator("#live-notes")).to_contain_text("then read")
    found += await leaks(page)
    await page.reload()
    await expect(page.locator("#live-notes")).to_contain_text("then read")
    found += await leaks(page)
    practice.release("note")
    await until_asked(page, "How do these feel?")
    await expect(page.locator(".turn.is-open .note").first).to_have_text(PLAIN_NOTE)
    found += await leaks(page)
    await page.locator(".call.is-pending").get_by_role("button", name="Skip").click()
    await until_done(page)
    await page.get_by_text("Why this answer").click()
    found += await leaks(page)
    await page.reload()
    found += await leaks(page)
    await page.locator("[data-edit]").click()
    await say(page, "Hello again")
    await expect(page.locator("#kept a")).to_have_text(["Overview", "Career", "Life plan"])
    await until_done(page)
    found += await leaks(page)
    practice.faults.push(Fault(kind="status", status=400))
    await say(page, "And fail")
    await until_done(page, 2)
    found += await leaks(page)
    for address in OWN_PAGES:
        await page.goto(address)
        found += await leaks(page)
    assert found == []


async def test_the_scripted_coach_names_nothing_made_for_programs(
    practice: PracticeServer, page: Page
) -> None:
    found: list[str] = []
    for kind, words in sample(TALKS, of_each=2):
        await page.goto("/chat/")
        await page.locator(f'.starter[value="{kind}"]').click()
        for answer in words:
            if await page.locator("#ending > *").count():
                break
            await say(page, answer)
            await until(page, SETTLED)
            await expect(page.locator("#sending > *")).to_have_count(0)
            await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
            found += await leaks(page)
    assert found == []
