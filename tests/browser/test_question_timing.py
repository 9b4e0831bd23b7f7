"""Pending questions answered in another tab or device, without a connection, or while the page changes."""

import asyncio

import pytest
from playwright.async_api import Page, Route, WebSocketRoute, expect

from coaching.models import PulseRating
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Reply, Text
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import messages_markup, path_of, say, until_asked, until_done
from tests.browser.fixtures import WAIT_MS, OpenContext, Watcher
from tests.browser.questions import PILLS, PULSE, assert_a_reload_shows_the_same, save, states
from tests.browser.test_conversation import LONG

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


async def test_the_first_of_two_tabs_answers_and_the_other_shows_it(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(PILLS), "Good."])
    other = await page.context.new_page()
    for tab in (page, other):
        await tab.goto(path_of(session))
        await expect(tab.locator("#chat")).to_have_attribute("data-phase", "idle")
    await say(page, "Hello")
    for tab in (page, other):
        await until_asked(tab, "How did you wake?")
    await other.get_by_role("button", name="Fine").click()
    for tab in (page, other):
        await until_done(tab)
        await expect(tab.locator("#messages .is-chosen")).to_contain_text("Fine")
    assert await messages_markup(page) == await messages_markup(other)
    assert watcher.faults == []


async def test_what_was_filled_in_outlives_a_lost_connection_and_so_does_the_answer(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    sockets: list[WebSocketRoute] = []

    def through(route: WebSocketRoute) -> None:
        sockets.append(route)
        route.connect_to_server()

    await page.route_web_socket("**/ws/**", through)
    practice.script([Reply.of(PULSE), Reply.of(PILLS), "All is here."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How do these feel?")
    await page.get_by_role("group", name="Health").get_by_text("4", exact=True).click()
    await page.get_by_label("Add a note").fill("Half done")
    await sockets[-1].close(code=1012)
    while len(sockets) < 2:
        await page.wait_for_timeout(50)
    await expect(page.locator("#connection")).to_be_hidden()
    await expect(page.get_by_label("Add a note")).to_have_value("Half done")
    await page.get_by_role("button", name="Save ratings").click()
    await until_asked(page, "How did you wake?")
    await page.evaluate(
        "() => { window.realOpen = htmx.createWebSocket; htmx.config.wsReconnectDelay = () => 400; }"
    )
    await sockets[-1].close(code=1012)
    await page.get_by_role("button", name="Fine").click()
    await until_done(page)
    await expect(page.locator("#messages .is-chosen")).to_contain_text("Fine")
    await expect(page.locator("#notices")).to_be_empty()


async def test_what_is_open_beside_a_formula_stays_open_at_the_pages_first_snapshot(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    held: list[tuple[WebSocketRoute, str | bytes]] = []

    def hold(route: WebSocketRoute) -> None:
        route.connect_to_server().on_message(lambda frame: held.append((route, frame)))

    practice.script([Reply.of(Text("So \\(x^2\\):\n\n```\ncode\n```"), PILLS), Reply.of(PULSE)])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    await page.get_by_role("button", name="Fine").click()
    await until_asked(page, "How do these feel?")
    await page.route_web_socket("**/ws/**", hold)
    await page.reload()
    line = page.locator(".turn.is-open .is-answered")
    await line.locator("summary").click()
    await expect(line.locator(".pills")).to_be_visible()
    finished = page.locator(".turn.is-open :is(math, .code-copy)")
    await expect(finished).to_have_count(2)
    before = await finished.element_handles()
    await page.evaluate(
        """() => {
            const signals = document.getElementById("signals");
            new MutationObserver(() => { window.hasSnapshot = true; }).observe(signals, { childList: true });
        }"""
    )
    while not held:
        await page.wait_for_timeout(20)
    while held:
        route, frame = held.pop(0)
        route.send(frame)
    await page.wait_for_function("() => window.hasSnapshot")
    assert [await part.evaluate("(part) => part.isConnected") for part in before] == [True, True]
    await expect(line.locator(".pills")).to_be_visible()
    assert watcher.faults == []


async def test_who_begins_to_answer_before_the_pages_script_keeps_the_focus(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    begun = asyncio.Event()

    async def hold(route: Route) -> None:
        await begun.wait()
        await route.continue_()

    practice.script([Reply.of(PULSE)])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How do these feel?")
    await page.route("**/chat/main*.js", hold)
    await page.reload(wait_until="commit")
    note = page.locator("#open-turn").get_by_label("Add a note")
    await note.fill("Half")
    begun.set()
    note = page.locator("#messages > .is-open").get_by_label("Add a note")
    await expect(note).to_be_focused()
    await expect(note).to_have_value("Half")
    assert watcher.faults == []


async def test_who_answers_before_the_pages_first_snapshot_loses_nothing(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    held: list[tuple[WebSocketRoute, str | bytes]] = []

    def hold(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda frame: held.append((route, frame)))

    def let_through() -> None:
        while held:
            route, frame = held.pop(0)
            route.send(frame)

    practice.script([Reply.of(Text("Before."), PULSE), "Thank you."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How do these feel?")
    await page.route_web_socket("**/ws/**", hold)
    await page.reload()
    await page.get_by_role("group", name="Career").get_by_text("2", exact=True).click()
    note = page.get_by_label("Add a note")
    await note.fill("Half a")
    await page.keyboard.press("Home")
    await page.keyboard.type("Only ")
    health = page.get_by_role("group", name="Health").get_by_text("4", exact=True)
    box = await health.bounding_box()
    assert box
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.evaluate("() => { window.asked = document.querySelector('.call.is-pending'); }")
    await page.mouse.down()
    while not held:
        await page.wait_for_timeout(20)
    let_through()
    # The page has taken it in when its signals are gone again.
    await page.wait_for_function("() => document.getElementById('signals').childElementCount === 0")
    await page.mouse.up()
    assert await page.evaluate("() => window.asked.isConnected")
    await expect(note).to_have_value("Only Half a")
    await note.focus()
    await page.keyboard.press("Enter")
    while await states(session) != ["answered"]:
        let_through()
        await page.wait_for_timeout(20)
    ratings = await in_database(
        lambda: list(PulseRating.unscoped.order_by("domain").values_list("domain", "rating", "note"))
    )
    assert ratings == [("career", 2, "Only Half a"), ("health", 4, "Only Half a")]
    assert watcher.faults == []


async def test_a_press_counts_though_the_page_changes_while_it_lasts(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    held: list[tuple[WebSocketRoute, str | bytes]] = []
    late = ('data-event="tool-done"', 'data-event="done"')

    def hold(route: WebSocketRoute) -> None:
        def take(frame: str | bytes) -> None:
            if any(event in str(frame) for event in late):
                held.append((route, frame))
            else:
                route.send(frame)

        route.connect_to_server().on_message(take)

    async def let_through(count: int) -> None:
        async with asyncio.timeout(WAIT_MS / 1000):
            while len(held) < count:
                await page.wait_for_timeout(20)
        for route, frame in held[:count]:
            route.send(frame)
        del held[:count]

    await page.route_web_socket("**/ws/**", hold)
    practice.script([LONG, Reply.of(save("career"), PILLS), "Good."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await let_through(1)
    await until_done(page)
    await say(page, "And now?")
    pill = page.get_by_role("button", name="Fine")
    await expect(pill).to_be_visible()
    await expect(page.locator("#activity")).to_be_visible()
    await page.wait_for_timeout(300)  # for as long as what Sage does is shown at least
    await pill.hover(position={"x": 20, "y": 4})
    await page.mouse.down()
    # What Sage did goes, what it wrote down comes: the page scrolls to its end.
    await let_through(2)
    await page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
    await page.mouse.up()
    await let_through(1)
    await until_done(page, 2)
    assert await states(session) == ["finished", "answered"]
    assert watcher.faults == []


async def test_a_question_is_answered_from_another_device(
    practice: PracticeServer, page: Page, session: Session, cookie: str, open_context: OpenContext
) -> None:
    practice.script([Reply.of(Text("Before."), PILLS), Reply.of(Text("After."), PULSE), "The end."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    phone = await (await open_context(cookie, viewport={"width": 360, "height": 740})).new_page()
    await phone.goto(path_of(session))
    await until_asked(phone, "How did you wake?")
    assert await phone.evaluate("() => document.documentElement.scrollWidth") <= 360
    await phone.get_by_role("button", name="Fine").click()
    for device in (phone, page):
        await until_asked(device, "How do these feel?")
    assert await phone.evaluate("() => document.documentElement.scrollWidth") <= 360
    await page.get_by_role("group", name="Career").get_by_text("5", exact=True).click()
    await page.get_by_role("button", name="Save ratings").click()
    for device in (phone, page):
        await until_done(device)
    assert await messages_markup(page) == await messages_markup(phone)


async def test_a_failure_after_an_answer_can_be_tried_again(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script([Reply.of(PILLS)])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    practice.faults.push(Fault(kind="status", status=400))
    await page.get_by_role("button", name="Fine").click()
    await until_done(page)
    await expect(page.locator("#messages .is-chosen")).to_contain_text("Fine")
    practice.script(["Here I am."])
    await page.get_by_role("button", name="Try again").click()
    await until_done(page, 2)
    await expect(page.locator("#messages .turn").last).to_contain_text("Here I am.")
    await assert_a_reload_shows_the_same(page)
