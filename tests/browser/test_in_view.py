"""Important content stays in view at every width: questions, help lines, the end of a conversation."""

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionStatus
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import OpenContext, Watcher

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIZES = [(360, 640), (768, 1024), (1440, 900)]
WITH_KEYBOARD = (360, 340)
"""A phone whose keyboard is open."""
WORDS = "\n\n".join(f"Paragraph {number} of an answer that is longer than a screen." for number in range(30))
PROMPT = "Before we go on, how does each part of your life feel this week?"
PULSE = ToolUse("show_pulse_check", {"context": PROMPT}, id="toolu_pulse")
PILLS = ToolUse(
    "show_options",
    {"prompt": PROMPT, "options": [{"label": f"An answer with a few words, number {n}"} for n in range(6)]},
    id="toolu_pills",
)

IN_THE_CLEAR = """(element) => {
    const box = element.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const found = document.elementFromPoint(x, y);
    return found !== null && (element.contains(found) || found.contains(element));
}"""
"""Whether an element's middle is on the screen and uncovered."""

HIDDEN = """(question) => {
    const { top, bottom } = question.querySelector(":scope > legend").getBoundingClientRect();
    const [head, footer] = [".site-head", ".chat-footer"].map((name) => document.querySelector(name));
    const [first, last] = [head.getBoundingClientRect().bottom, footer.getBoundingClientRect().top];
    const isWhole = top >= first - 1 && bottom <= last + 1;
    const jump = document.getElementById("jump");
    const over = jump.checkVisibility() ? jump.getBoundingClientRect() : { left: 0, right: 0 };
    const covered = [...question.querySelectorAll("button, label")].filter((button) => {
        const box = button.getBoundingClientRect();
        return box.left < over.right && over.left < box.right
            && box.top < over.bottom && over.top < box.bottom;
    });
    return [...(isWhole ? [] : ["the question"]), ...covered.map((button) => button.textContent.trim())];
}"""
"""What of a question is hidden: it itself by header or composer, or buttons by “Jump to latest”."""

UNREACHABLE = f"""(buttons) => buttons.filter((button) => {{
    if (!button.checkVisibility({{ visibilityProperty: true }})) return false;
    button.scrollIntoViewIfNeeded();
    button.focus();
    return !({IN_THE_CLEAR})(button);
}}).map((button) => button.textContent.trim())"""
"""Which of a question's buttons can't be pressed after scrolling to them as a keyboard does."""


async def open_at(open_context: OpenContext, cookie: str, size: tuple[int, int], session: Session) -> Page:
    width, height = size
    page = await (await open_context(cookie, viewport={"width": width, "height": height})).new_page()
    await page.goto(path_of(session))
    return page


@pytest.mark.parametrize(
    ("size", "call"), [*((size, PULSE) for size in (WITH_KEYBOARD, *SIZES)), (SIZES[0], PILLS)], ids=str
)
async def test_a_question_is_asked_where_it_can_be_read_and_answered(
    practice: PracticeServer,
    open_context: OpenContext,
    cookie: str,
    session: Session,
    watcher: Watcher,
    size: tuple[int, int],
    call: ToolUse,
) -> None:
    practice.script([Reply.of(Text(WORDS), call), Reply.of(Text(WORDS))])
    page = await open_at(open_context, cookie, size, session)
    await say(page, "Hello")
    await until_asked(page, PROMPT)
    question = page.locator(".call.is-pending")
    asked = question.locator(":scope > legend")
    await expect(asked).to_be_in_viewport(ratio=1)
    assert await asked.evaluate(IN_THE_CLEAR)
    await page.reload()
    await until_asked(page, PROMPT)
    await expect(asked).to_be_in_viewport(ratio=1)
    assert await asked.evaluate(IN_THE_CLEAR)
    await page.mouse.move(size[0] / 2, size[1] / 3)
    for _ in range(12):  # down to the end in small steps, as a reader does
        assert await question.evaluate(HIDDEN) == []
        await page.mouse.wheel(0, 90)
        await page.wait_for_timeout(30)
    buttons = question.locator("button, .scale-steps label")
    assert await buttons.count() >= len(PILLS.input["options"])
    assert await buttons.evaluate_all(UNREACHABLE) == []
    await page.evaluate("() => scrollTo({ top: 0, behavior: 'instant' })")
    await page.get_by_role("button", name=f"Sage asks: {PROMPT}").click()
    await expect(asked).to_be_in_viewport(ratio=1)
    if call is PILLS:
        await question.get_by_role("button", name="number 5").click()
    else:
        await question.get_by_role("group", name="Health").get_by_text("4", exact=True).click()
        await question.locator("button.button-main").click()
    await until_done(page)
    await expect(page.locator("#messages .prose").last.locator("p").last).to_be_in_viewport()
    assert watcher.faults == []


@pytest.mark.parametrize("size", SIZES)
async def test_help_lines_stay_in_view_while_the_answer_grows(
    practice: PracticeServer,
    open_context: OpenContext,
    cookie: str,
    session: Session,
    size: tuple[int, int],
) -> None:
    practice.script([WORDS, Reply.of(Text(WORDS), Hold("end"), Text(" And on.")), WORDS])
    page = await open_at(open_context, cookie, size, session)
    await say(page, "Hello")
    await until_done(page)
    await say(page, "I want to kill myself")
    await practice.reached("end")
    await expect(page.locator("#live-text")).to_contain_text("Paragraph 29")
    title = page.locator("#messages .safety-card h3")
    await expect(title).to_be_in_viewport(ratio=1)
    assert await title.evaluate(IN_THE_CLEAR)
    practice.release("end")
    await until_done(page, 2)
    await expect(title).to_be_in_viewport(ratio=1)
    # Whoever jumps to the latest gets it, and the next message scrolls past the card.
    await page.get_by_role("button", name="Jump to latest").click()
    await expect(page.locator("#messages .prose p").last).to_be_in_viewport()
    await say(page, "Thank you")
    await until_done(page, 3)
    await expect(page.locator("#messages .prose p").last).to_be_in_viewport()


async def test_an_ended_conversation_opens_at_its_end(
    practice: PracticeServer,
    open_context: OpenContext,
    cookie: str,
    page: Page,
    session: Session,
    user: User,
) -> None:
    practice.script([WORDS])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_done(page)
    await in_database(
        session_services.end_session, user_id=user.pk, session_id=session.id, status=SessionStatus.EXPIRED
    )
    ending = page.locator("#ending h2")
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        await page.goto("/")
        await page.goto(path_of(session))
        await expect(ending).to_be_in_viewport(ratio=1)
        assert await ending.evaluate(IN_THE_CLEAR)
        await page.evaluate("() => scrollTo({ top: 0, behavior: 'instant' })")
        await page.get_by_role("button", name="Jump to latest").click()
        await expect(ending).to_be_in_viewport(ratio=1)
    reader = await (await open_context(cookie, java_script_enabled=False)).new_page()
    for each in (page, reader):
        await each.goto("/chat/")
        await each.locator("main .ledger-row").click()
        await expect(each.locator("#ending h2")).to_be_in_viewport(ratio=1)
    # Without a script, who comes by another way finds the end, too.
    await reader.goto(path_of(session))
    await expect(reader.locator("#ending h2")).not_to_be_in_viewport()
    await reader.get_by_role("link", name="Go to the end").click()
    await expect(reader.locator("#ending h2")).to_be_in_viewport(ratio=1)


async def test_table_columns_stand_as_they_were_written(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    table = "|a|b|c|d|\n|:-|:-:|-:|-|\n|1|2|3|4|"
    keep = ToolUse("save_file", {"file_type": "domain", "file_name": "career", "content": table})
    practice.script([Reply.of(keep), table])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_done(page)
    for address in ("", "/files/life-map/career.md"):
        if address:
            await page.goto(address)
        for row in ("th", "td"):
            sides = await page.locator(f"main table {row}").evaluate_all(
                "(cells) => cells.map((cell) => getComputedStyle(cell).textAlign)"
            )
            assert sides[:3] == ["left", "center", "right"]


async def test_at_400_percent_zoom_the_window_is_for_what_is_read(
    practice: PracticeServer, session: Session, open_context: OpenContext, cookie: str, watcher: Watcher
) -> None:
    practice.script([WORDS])
    page = await (await open_context(cookie, viewport={"width": 320, "height": 256})).new_page()
    jump, field = page.locator("#jump"), page.get_by_label("Your message")
    await page.goto(path_of(session))
    await say(page, "Tell me more")
    await until_done(page)
    assert await field.evaluate(IN_THE_CLEAR)
    await page.mouse.wheel(0, -1_000)
    await expect(jump).to_be_visible()
    assert not await page.locator(".composer").evaluate(IN_THE_CLEAR)
    box = await jump.bounding_box()
    assert box is not None
    assert 256 * 0.75 < box["y"] < box["y"] + box["height"] <= 256
    await jump.click()
    await expect(jump).to_be_hidden()
    assert await field.evaluate(IN_THE_CLEAR)
    assert watcher.faults == []


async def test_a_conversation_that_fits_on_a_phone_is_shown_from_its_beginning(
    practice: PracticeServer, open_context: OpenContext, cookie: str, watcher: Watcher
) -> None:
    pills = ToolUse(
        "show_options", {"prompt": "What next?", "options": [{"label": "Plan my day"}, {"label": "Stop"}]}
    )
    words = "\n\n".join("A few words." for _ in range(7))
    practice.script([Reply.of(Text(words), Hold("end"), pills), WORDS])
    page = await (await open_context(cookie, viewport={"width": 360, "height": 680})).new_page()
    await page.goto("/chat/")
    await page.get_by_role("button", name="New conversation").click()
    await practice.reached("end")
    practice.release("end")
    await until_asked(page, "What next?")
    assert await page.evaluate("document.documentElement.scrollHeight - innerHeight") > 0
    assert await page.evaluate("scrollY") == 0
    assert await page.locator("#chat-title").evaluate(IN_THE_CLEAR)
    assert await page.get_by_role("button", name="Skip").evaluate(IN_THE_CLEAR)
    await page.get_by_role("button", name="Plan my day").click()
    await until_done(page)
    assert await page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY") < 2
    assert watcher.faults == []
