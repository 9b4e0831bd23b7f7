"""The safety card for readers and screen readers; and a newcomer's first page."""

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, WebSocketRoute, expect

from coaching.models import Profile, TimezoneSource
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply, Text
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import WAIT_MS, messages_markup, path_of, say, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.test_accessibility import serious_findings
from tests.jobs.conftest import see_danger
from tests.stored_turns import open_conversation

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DANGER = "Work was fine. I don't want to be alive anymore."


async def test_the_card_is_there_before_the_answer_in_both_tabs_and_after_a_reload(
    practice: PracticeServer, page: Page, session: Session, in_germany: None, watcher: Watcher
) -> None:
    practice.script([Reply.of(Hold("before"), Text("I'm here. Are you safe right now?"))])
    other = await page.context.new_page()
    for tab in (page, other):
        await tab.goto(path_of(session))
    await say(page, DANGER)
    for tab in (page, other):
        card = tab.locator("#messages > .card-row > .safety-card")
        await expect(card.get_by_role("alert")).to_contain_text("call 112 (")
        await expect(card.get_by_role("link", name="Call 0800 1110111")).to_have_attribute(
            "href", "tel:08001110111"
        )
    await expect(page.locator(".turn.is-open .live")).to_be_empty()
    assert await serious_findings(page) == []
    practice.release("before")
    await until_done(page)
    await until_done(other)
    streamed = await messages_markup(page)
    assert await messages_markup(other) == streamed
    await page.reload()
    assert await messages_markup(page) == streamed
    assert streamed.index("message-1") < streamed.index("safety-card") < streamed.index("Are you safe")
    await page.get_by_role("link", name="Help lines in other countries").click()
    await page.get_by_label("Another country?").select_option("New Zealand")
    await page.get_by_role("button", name="Show help lines").click()
    await page.get_by_role("link", name="Back to the conversation").click()
    await expect(page.get_by_role("link", name="Call 1737")).to_be_visible()
    assert watcher.faults == []


@pytest.mark.parametrize(
    ("zone", "numbers"),
    [("Europe/Berlin", ["112", "110"]), ("UTC", ["112", "911", "999", "000"])],
)
async def test_each_thing_to_tap_on_the_card_is_large_and_emergency_numbers_come_first(
    practice: PracticeServer,
    open_context: OpenContext,
    cookie: str,
    session: Session,
    user: User,
    zone: str,
    numbers: Sequence[str],
) -> None:
    await in_database(Profile.unscoped.create, user=user, timezone=zone, timezone_source=TimezoneSource.USER)
    practice.script(["I'm here."])
    for width, least in ((1440, 24), (320, 44)):
        is_phone = least == 44
        viewport = {"width": width, "height": 800}
        page = await (
            await open_context(cookie, viewport=viewport, has_touch=is_phone, is_mobile=is_phone)
        ).new_page()
        await page.goto(path_of(session))
        if not is_phone:
            await say(page, DANGER)
            await until_done(page)
        links = page.locator(".safety-card a")
        addresses = [str(await link.get_attribute("href")) for link in await links.all()]
        assert addresses[: len(numbers)] == [f"tel:{number}" for number in numbers]
        boxes = [box for link in await links.all() if (box := await link.bounding_box())]
        assert len(boxes) == len(addresses)
        assert min(box["height"] for box in boxes) >= least
        assert max(box["x"] + box["width"] for box in boxes) <= width
        below, above = boxes[-1], boxes[-2]
        assert below["y"] >= above["y"] + above["height"], "the closing links don't touch each other"
        assert await serious_findings(page) == []


async def test_a_card_that_came_while_the_page_was_offline_is_there_once_it_is_back(
    practice: PracticeServer, page: Page, session: Session, in_germany: None
) -> None:
    sockets: list[WebSocketRoute] = []

    async def through(route: WebSocketRoute) -> None:
        sockets.append(route)
        if len(sockets) == 2:
            await in_database(see_danger, session)
        route.connect_to_server()

    await page.route_web_socket("**/ws/**", through)
    practice.script(["Good."])
    await page.goto(path_of(session))
    await say(page, "She won't need me after Friday.")
    await until_done(page)
    await expect(page.locator(".safety-card")).to_have_count(0)
    await sockets[-1].close(code=1012)
    await expect(page.locator("#messages > #card-message-1 > .safety-card")).to_be_visible(timeout=WAIT_MS)
    shown = await messages_markup(page)
    await page.reload()
    assert await messages_markup(page) == shown


async def test_it_stays_when_the_model_fails_and_goes_with_the_words_that_are_changed(
    practice: PracticeServer, page: Page, session: Session, in_germany: None
) -> None:
    practice.faults.push(Fault(kind="status", status=400))
    await page.goto(path_of(session))
    await say(page, DANGER)
    await expect(page.locator(".turn .notice")).to_be_visible()
    await expect(page.locator("#messages .safety-card")).to_have_count(1)
    practice.script(["Good to hear."])
    await page.get_by_role("button", name="Try again").click()
    await until_done(page)
    await expect(page.locator("#messages .safety-card")).to_have_count(1)
    practice.script(["Good to hear."])
    await page.get_by_role("link", name="Edit").click()
    await page.locator("#composer-text").fill("Work was fine, and I am.")
    await page.keyboard.press("Enter")
    await until_done(page)
    await expect(page.locator("#messages .safety-card")).to_have_count(0)


async def test_refused_words_keep_their_card_until_they_are_sent(
    practice: PracticeServer, page: Page, session: Session, user: User, in_germany: None
) -> None:
    practice.script([Reply.of(Hold("first")), Reply.of(Hold("second")), "I'm here."])
    for _ in range(2):
        busy = await in_database(open_conversation, user)
        tab = await page.context.new_page()
        await tab.goto(path_of(busy))
        await say(tab, "Hello")
        await expect(tab.locator(".turn.is-open")).to_be_visible()
    await page.goto(path_of(session))
    await say(page, DANGER)
    await expect(page.locator("#notices")).to_contain_text("already answering in 2 conversations")
    await expect(page.locator("#safety-now .safety-card")).to_be_visible()
    await expect(page.locator("#composer-text")).to_have_value(DANGER)
    practice.release("first")
    practice.release("second")
    await expect(tab.locator("#chat")).to_have_attribute("data-phase", "idle")
    await page.keyboard.press("Enter")
    await until_done(page)
    await expect(page.locator("#messages .safety-card")).to_have_count(1)
    await expect(page.locator("#safety-now")).to_be_empty()


async def test_without_a_script_the_card_waits_for_no_answer(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session, in_germany: None
) -> None:
    practice.script([Reply.of(Hold("before"), Text("I'm here."))])
    page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await page.goto(path_of(session))
    await page.get_by_label("Your message").fill(DANGER)
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator(".safety-card")).to_be_visible()
    await expect(page.locator(".turn.is-open .live")).to_be_empty()
    practice.release("before")
    await expect(page.locator("#messages .prose")).to_have_text("I'm here.")  # the page refreshes itself


async def test_a_capture_with_danger_brings_the_card_into_view_on_any_page(
    page: Page, session: Session, in_germany: None, watcher: Watcher
) -> None:
    dialog, card = page.locator("#capture-dialog"), page.locator("#safety-now > .safety-card")
    for address in ("/files/", path_of(session), "/"):
        await page.goto(address)
        await expect(page.locator("#safety-now")).to_have_count(1)
        await page.get_by_role("link", name="Capture a thought").click()
        await dialog.get_by_role("textbox").fill(DANGER)
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_be_hidden()
        await expect(card.get_by_role("link", name="Call 0800 1110111")).to_be_in_viewport()
        assert await serious_findings(page) == []
    await page.reload()
    await expect(page.locator("#captures .thought")).to_have_count(3)
    await expect(card).to_have_count(0)
    assert watcher.faults == []


async def test_the_card_is_above_the_settings(page: Page, in_germany: None) -> None:
    await page.set_viewport_size({"width": 1280, "height": 800})
    await page.goto("/settings/")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Settings saved.")).to_be_visible()
    await page.get_by_role("link", name="Capture a thought").click()
    dialog = page.locator("#capture-dialog")
    await dialog.get_by_role("textbox").fill(DANGER)
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator("#safety-now > .safety-card")).to_be_visible()
    tops = await page.evaluate(
        """() => [".flash", ".safety-card", ".settings-page", ".settings-nav"].map(
            (part) => document.querySelector(`main ${part}`).getBoundingClientRect().top)"""
    )
    assert tops == sorted(tops)
    assert tops[2] == tops[3], "the page and its list begin at one height"


async def test_a_calm_capture_right_after_doesnt_take_the_card_away(
    page: Page, in_germany: None, watcher: Watcher
) -> None:
    await page.goto("/capture/")
    field, thoughts = page.locator("#capture-text"), page.locator("#captures .thought")
    await page.evaluate(
        """([danger, calm]) => {
            const form = document.querySelector("form.quick");
            for (const words of [danger, calm]) {
                form.elements.namedItem("text").value = words;
                form.elements.namedItem("id").value = words;
                form.requestSubmit();
            }
        }""",
        [DANGER, "Call mum"],
    )
    await expect(thoughts).to_have_count(2)
    await expect(page.locator("#safety-now > .safety-card")).to_be_visible()
    await expect(field).to_have_value("")
    assert watcher.faults == []


async def test_without_a_script_a_capture_with_danger_brings_the_card(
    open_context: OpenContext, cookie: str, in_germany: None
) -> None:
    page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await page.goto("/")
    await page.locator("#capture-text").fill(DANGER)
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator("#captures .thought")).to_have_count(1)
    await expect(page.get_by_role("link", name="Call 0800 1110111")).to_be_in_viewport()


async def test_the_welcome_leads_into_life_mapping(page: Page, practice: PracticeServer) -> None:
    await page.goto("/welcome/")
    assert await serious_findings(page) == []
    await page.get_by_role("button", name="Map my life").click()
    await expect(page.locator(".chat-head")).to_contain_text("Life mapping")
    await expect(page.locator(".chat-empty")).to_contain_text("Eight parts of your life")
