"""The conversations next to the open one: as a column, as a drawer, with a mouse and by keyboard alone."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import Page, expect

from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from sessions_app.titles import store_title
from tests.browser.chat_page import path_of, say, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.test_accessibility import serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = {"width": 360, "height": 740}


def store_others(user: User) -> None:
    """Store what the list shows of an earlier life: 100 conversations over some months."""
    now = timezone.now()
    rows = [
        Session(
            user_id=user.pk,
            title=f"Talk {number} about what I would do if I had more time",
            last_message_number=1,
            last_active_at=now - timedelta(days=number + 1),
        )
        for number in range(100)
    ]
    Session.unscoped.bulk_create(rows)


async def choose(page: Page, title: str, what: str) -> None:
    """Choose from the menu of a row; deleting asks once more."""
    await page.get_by_role("button", name=f"More options for: {title}").click()
    menu = page.locator("#session-menu")
    await menu.get_by_text(what, exact=True).click()
    if what == "Delete":
        await menu.get_by_role("button", name="Delete conversation").click()


async def test_conversations_are_found_and_kept_in_order_without_leaving_the_page(
    practice: PracticeServer, page: Page, watcher: Watcher, session: Session, user: User
) -> None:
    await in_database(store_others, user)
    practice.script(["What keeps you awake?"])
    rows, links = page.locator(".sidebar-row"), page.locator(".sidebar-row > a")
    await page.goto(path_of(session))
    await expect(rows).to_have_count(40)
    await expect(page.locator(".sidebar-group").first).to_have_text("Yesterday")
    await page.evaluate("window.isSamePage = true")

    # A new conversation enters the list with its first words, and gets its title by itself.
    await say(page, "I sleep badly")
    await until_done(page)
    await expect(links.first).to_have_text("I sleep badly")
    await expect(links.first).to_have_attribute("aria-current", "page")
    await in_database(store_title, user_id=user.pk, session_id=session.id, title="Sleep", numbers=[1, 2])
    await expect(links.first).to_have_text("Sleep")

    # Further down the list goes on.
    await rows.last.scroll_into_view_if_needed()
    await expect(rows).to_have_count(80)
    await rows.last.scroll_into_view_if_needed()
    await expect(rows).to_have_count(101)
    await expect(page.locator(".sidebar-more")).to_have_count(0)

    await choose(page, "Talk 3 about", "Rename")
    field = page.get_by_label("Title of this conversation")
    await field.press("Escape")
    await expect(page.get_by_role("button", name="More options for: Talk 3 about")).to_be_focused()
    await choose(page, "Talk 3 about", "Rename")
    await field.fill("A plan <b>")
    await field.press("Enter")
    await expect(links.nth(4)).to_have_text("A plan <b>")
    await expect(rows.nth(4)).to_be_focused()
    await choose(page, "Sleep", "Rename")
    await field.fill("Nights")
    await field.press("Enter")
    await expect(page.locator("#chat-title")).to_have_text("Nights")

    await choose(page, "A plan <b>", "Archive")
    await expect(page.locator(".sidebar-row.is-gone")).to_contain_text("Archived.")
    await page.get_by_role("button", name="Undo: A plan <b>").click()
    await expect(page.locator(".sidebar-row.is-gone")).to_have_count(0)
    await choose(page, "A plan <b>", "Delete")
    await page.get_by_role("button", name="Undo: A plan <b>").click()
    await expect(links.nth(4)).to_have_text("A plan <b>")
    await page.get_by_role("button", name="More options for: A plan <b>").click()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="More options for: A plan <b>")).to_be_focused()
    await choose(page, "A plan <b>", "Pin to top")
    await expect(page.locator(".sidebar-group").first).to_have_text("Pinned")
    await expect(links.first).to_have_text("A plan <b>")
    assert await serious_findings(page) == []
    assert await page.evaluate("window.isSamePage")

    # Folders stand above the conversations.
    await choose(page, "A plan <b>", "Move to a folder")
    await page.get_by_label("Name of a new folder").fill("Work")
    await page.get_by_role("button", name="Move", exact=True).click()
    await expect(page.locator(".sidebar-folders a")).to_have_text("Work")
    await expect(page.locator("#toast")).to_have_text("Moved to the folder “Work”.")
    assert await page.evaluate("window.isSamePage")

    # A closed column stays closed on the next page.
    toggle = page.locator("#sidebar-toggle")
    await expect(toggle).to_have_attribute("aria-expanded", "true")
    await toggle.click()
    await expect(toggle).to_have_attribute("aria-expanded", "false")
    await page.reload()
    await expect(page.locator("#sidebar")).to_be_hidden()
    await toggle.click()
    await expect(links.first).to_be_visible()

    # The page of a deleted conversation is gone; the list can restore it.
    await choose(page, "Nights", "Delete")
    await expect(page).to_have_url("/chat/")
    await expect(page.locator(".deleted-row")).to_contain_text("Nights")
    assert watcher.faults == []


async def test_what_sticks_has_the_whole_window_where_the_header_scrolls_away(
    page: Page, session: Session
) -> None:
    panel = """() => {
        document.querySelector("main").style.minBlockSize = "2000px";
        scrollTo({ top: 600, behavior: "instant" });
        const { top, bottom } = document.querySelector(".sidebar .sidebar-panel").getBoundingClientRect();
        return [top, bottom];
    }"""
    for height, top in ((800, 60), (400, 0)):
        await page.set_viewport_size({"width": 1280, "height": height})
        await page.goto(path_of(session))
        assert await page.evaluate(panel) == [top, height]


async def test_on_a_narrow_screen_they_are_a_drawer_that_holds_the_focus(
    open_context: OpenContext, cookie: str, watcher: Watcher, session: Session, user: User
) -> None:
    await in_database(store_others, user)
    context = await open_context(cookie, viewport=NARROW)
    page = await context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    await page.goto(path_of(session))
    drawer, toggle = page.locator("#drawer"), page.locator("#sidebar-toggle")
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    assert not [url for url in requests if "/chat/sidebar/" in url]
    await toggle.focus()
    await page.keyboard.press("Enter")
    await expect(drawer.locator(".sidebar-row")).to_have_count(40)
    assert await serious_findings(page) == []
    for _ in range(8):
        await page.keyboard.press("Tab")
        # Past the last element the focus is with the browser's own buttons.
        assert await page.evaluate("document.activeElement.matches('body, #drawer *')")
    await choose(page, "Talk 1 about", "Rename")
    assert await serious_findings(page) == []
    await page.keyboard.press("Escape")
    await expect(drawer).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(drawer).to_be_hidden()
    await expect(toggle).to_be_focused()
    await expect(toggle).to_have_attribute("aria-expanded", "false")
    await toggle.click()
    await page.set_viewport_size({"width": 1200, "height": 740})
    await expect(page.locator("#sidebar .sidebar-row")).to_have_count(40)
    await expect(drawer).to_be_hidden()
    assert watcher.faults == []


async def test_a_list_that_does_not_arrive_can_be_asked_for_again(
    page: Page, session: Session, user: User
) -> None:
    await in_database(store_others, user)
    await page.route("**/chat/sidebar/", lambda route: route.abort())
    await page.goto(path_of(session))
    again = page.locator("#sidebar-list").get_by_role("button", name="Try again")
    await expect(again).to_be_visible()
    await page.unroute("**/chat/sidebar/")
    await again.click()
    await expect(page.locator(".sidebar-row")).to_have_count(40)


@pytest.mark.usefixtures("practice")
async def test_a_conversation_of_taps_alone_enters_the_list_without_a_reload(page: Page) -> None:
    rows, links = page.locator(".sidebar-row"), page.locator(".sidebar-row > a")
    await page.goto("/chat/")
    await page.locator('main form:has(input[name="kind"][value="open_conversation"]) button').first.click()
    await page.locator('.call.is-pending .pill[value="recall"]').wait_for()
    await expect(page.locator(".sidebar-empty")).to_be_visible()
    await page.locator('.call.is-pending .pill[value="recall"]').click()
    await expect(rows).to_have_count(1)

    # An arc is in it from its opening, by its kind and day.
    await page.goto("/chat/")
    await page.locator('main button[name="kind"][value="close_day"]').first.click()
    await expect(rows).to_have_count(2)
    await expect(links.first).to_contain_text("Closing the day · ")
    await expect(links.first).to_have_attribute("aria-current", "page")
