"""The palette by keyboard alone, on a phone, and in each of its states."""

import asyncio
import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, Route, expect

from coaching.clock.days import local_day
from coaching.library.clients import own_client
from coaching.models import ActionItem, Capture, DayPlan, FileType, Profile
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.fixtures import OpenContext
from tests.browser.page_layout import layout_faults
from tests.browser.test_accessibility import look, serious_findings
from tests.life.conftest import KeepFile, keep_file
from tests.recall.history import talk

__all__ = ["keep_file"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = {"width": 360, "height": 740}


def live(user: User) -> Session:
    session = talk(user, "Anna sold the red tandem", "How was that for her?")
    session.title = "Bicycles"
    session.save()
    ActionItem.of(user.pk).create(client=own_client(user.pk), title="Call Anna", state="open")
    return session


async def opened(page: Page) -> None:
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("combobox", name="Quick search")).to_be_focused()


async def chosen(page: Page) -> str:
    return await page.locator("#palette [aria-selected=true]").inner_text()


async def test_by_keyboard_alone_it_goes_searches_and_gives_the_focus_back(page: Page, user: User) -> None:
    session = await in_database(live, user)
    await page.goto("/files/")
    before = page.get_by_role("link", name="Home", exact=True)
    await before.focus()
    await opened(page)
    await expect(page.get_by_role("option", name="Bicycles")).to_be_visible()
    assert await serious_findings(page) == []
    await page.keyboard.press("Escape")
    await expect(before).to_be_focused()

    # A page by the beginning of its name.
    await opened(page)
    await page.keyboard.type("jour")
    await expect(page.locator("#palette [aria-selected=true]")).to_have_text("Journal")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url("/journal/")

    # What was said, by arrow keys.
    await opened(page)
    await page.keyboard.type("tandem")
    hit = page.locator(".palette-hit")
    await expect(hit).to_have_attribute("aria-selected", "true")
    await expect(page.locator("#palette-status")).to_have_text("1 result")
    await page.keyboard.press("ArrowDown")
    assert "Search everything" in await chosen(page)
    await page.keyboard.press("ArrowUp")
    field = page.get_by_role("combobox", name="Quick search")
    await expect(field).to_have_attribute("aria-activedescendant", await hit.get_attribute("id") or "")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(f"/chat/{session.id}/#message-1")
    await page.wait_for_load_state()  # a page that scrolls to its message takes the focus from its fields

    # From a field, too, whose words stay; the search is what is left where nothing is found.
    await page.locator("#composer-text").fill("unsent")
    await opened(page)
    await page.keyboard.type("heron")
    await expect(page.locator("#palette-status")).to_have_text("Nothing found. Try other words.")
    await page.keyboard.press("Control+k")
    await expect(page.locator("#composer-text")).to_be_focused()
    await expect(page.locator("#composer-text")).to_have_value("unsent")
    await opened(page)
    await page.keyboard.type("heron")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url("/search/?q=heron")


async def test_a_next_step_is_ticked_and_a_thought_captured_without_a_mouse(page: Page, user: User) -> None:
    await in_database(live, user)
    await page.goto("/")
    await opened(page)
    await page.keyboard.type("anna")
    option = page.get_by_role("option", name="Call Anna")
    await expect(page.locator(".palette-hit")).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("ArrowUp")
    await expect(option).to_have_attribute("aria-selected", "true")
    await page.keyboard.down("Enter")
    await expect(page.locator("#palette-status")).to_have_text("Done.")
    await page.keyboard.down("Enter")  # held
    await page.keyboard.up("Enter")
    await expect(option).to_contain_text("Undo")
    assert await in_database(ActionItem.unscoped.values_list("state", flat=True).get) == "done"
    await expect(page.locator("#main .tick")).to_have_attribute("aria-checked", "true")
    assert await serious_findings(page) == []
    await page.keyboard.press("Enter")
    await expect(page.locator("#palette-status")).to_have_text("Undone.")
    assert await in_database(ActionItem.unscoped.values_list("state", flat=True).get) == "open"
    await expect(page.locator("#main .tick")).to_have_attribute("aria-checked", "false")

    await page.keyboard.press("Control+a")
    await page.keyboard.type("a heron at dawn")
    await expect(page.locator("#palette-status")).not_to_be_empty()
    await page.keyboard.press("ArrowUp")
    assert "Capture a thought" in await chosen(page)
    await page.keyboard.press("Enter")
    await expect(page.locator("#capture-anywhere")).to_be_focused()
    await expect(page.locator("#capture-anywhere")).to_have_value("a heron at dawn")
    await page.keyboard.press("Enter")
    await expect(page.locator("#toast")).to_contain_text("Saved to your captures.")
    assert await in_database(Capture.of(user.pk).count) == 1


async def test_a_tick_is_seen_though_the_palette_is_closed_and_tried_again_where_it_was_lost(
    page: Page, user: User, keep_file: KeepFile
) -> None:
    def live_by_plan() -> None:
        now = datetime.now(UTC)
        day = str(local_day(now, Profile.unscoped.create(user=user, timezone="Europe/Berlin").zone))
        keep_file(user, FileType.DAY_PLAN, name=day, intention="Slow", priorities=["Swim"], now=now)
        ActionItem.of(user.pk).create(pk=1, client=own_client(user.pk), title="Call Anna", state="open")

    def is_done() -> tuple[bool, bool]:
        (priority,) = DayPlan.unscoped.get().priorities
        return ActionItem.unscoped.get().state == "done", priority["is_done"]

    await in_database(live_by_plan)
    await page.goto("/")
    swim, anna = page.locator("#plan .tick"), page.locator("#action-1 .tick")
    held = asyncio.Event()

    async def hold(route: Route) -> None:
        await held.wait()
        await route.continue_()

    await page.route("**/library/actions/1/", hold)
    await opened(page)
    await page.get_by_role("option", name="Call Anna").click()
    await page.keyboard.press("Escape")
    held.set()
    await expect(page.locator("#toast")).to_have_text("Done.")
    await expect(anna).to_have_attribute("aria-checked", "true")
    await expect(swim).to_have_attribute("aria-checked", "false")
    assert await in_database(is_done) == (True, False)
    await page.unroute("**/library/actions/1/")

    await in_database(lambda: ActionItem.unscoped.update(state="open", done_at=None))
    await page.goto("/")

    async def fail(route: Route) -> None:
        await route.fulfill(status=503)

    await page.route("**/library/actions/1/", fail)
    await opened(page)
    await page.get_by_role("option", name="Call Anna").click()
    await expect(page.locator("#palette-status")).to_contain_text("didn’t go through")
    await page.unroute("**/library/actions/1/")
    await page.get_by_role("button", name="Try again").click()
    await expect(page.locator("#palette-status")).to_have_text("Done.")
    assert await in_database(is_done) == (True, False)


async def test_words_to_capture_are_never_lost_to_a_draft_or_a_dialog(page: Page, user: User) -> None:
    await page.goto("/settings/")
    await page.locator("h1").click()
    field = page.locator("#capture-anywhere")

    async def capture(words: str) -> None:
        await opened(page)
        await page.keyboard.type(words)
        await page.keyboard.press("ArrowUp")
        assert "Capture a thought" in await chosen(page)
        await page.keyboard.down("Enter")
        await expect(field).to_be_focused()
        await page.keyboard.down("Enter")  # held
        await page.keyboard.up("Enter")

    await page.keyboard.press("c")
    await field.fill("an old draft")
    await capture("zzheron")
    await expect(field).to_have_value("an old draft\nzzheron")
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await expect(page.locator("#keys-dialog")).to_be_visible()
    await capture("zzowl")
    await expect(field).to_have_value("an old draft\nzzheron\nzzowl")


async def test_it_says_when_it_waits_fails_is_offline_or_signed_out(page: Page, user: User) -> None:
    await in_database(live, user)
    await page.goto("/settings/")
    status, again = page.locator("#palette-status"), page.get_by_role("button", name="Try again")
    held = asyncio.Event()

    async def hold(route: Route) -> None:
        await held.wait()
        await route.continue_()

    await page.route("**/palette/?q=tandem", hold)
    await opened(page)
    await page.keyboard.type("tandem")
    await expect(status).to_have_text("Searching…")
    held.set()
    await expect(status).to_have_text("1 result")

    async def fail(route: Route) -> None:
        await route.fulfill(status=503)

    await page.route("**/palette/?q=tandem+a", fail)
    await page.keyboard.type(" a")
    await expect(status).to_contain_text("couldn’t search right now")
    assert await serious_findings(page) == []
    await page.unroute("**/palette/?q=tandem+a")
    await again.click()
    await expect(status).to_have_text("1 result")

    await page.context.set_offline(True)
    await page.keyboard.type("b")
    await expect(status).to_contain_text("You’re offline")
    await page.context.set_offline(False)
    await again.click()
    await expect(status).to_have_text("1 result")

    await page.context.clear_cookies()
    await page.keyboard.type("c")
    await expect(status).to_have_text("You’ve been signed out.")
    await expect(page.locator("#palette-sign-in")).to_have_attribute(
        "href", re.compile("next=%2Fsettings%2F$")
    )


async def test_what_is_typed_only_asks_after_a_pause_and_drops_older_answers(page: Page, user: User) -> None:
    await in_database(live, user)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/palette/" in request.url else None)
    await page.goto("/settings/")
    await opened(page)
    await expect(page.get_by_role("option", name="Bicycles")).to_be_visible()
    await page.keyboard.type("tandem", delay=20)
    await expect(page.locator("#palette-status")).to_have_text("1 result")
    assert [address.partition("?q=")[2] for address in asked] == ["", "tandem"]
    assert any("dist/palette" in name for name in await names_loaded(page))


async def names_loaded(page: Page) -> list[str]:
    names: list[str] = await page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    return names


async def test_on_a_phone_it_opens_by_its_button_and_fits(
    open_context: OpenContext, cookie: str, user: User
) -> None:
    await in_database(live, user)
    context = await open_context(cookie, viewport=NARROW, has_touch=True)
    page = await context.new_page()
    await page.goto("/")
    assert not any("dist/palette" in name for name in await names_loaded(page)), "only once it is opened"
    await page.get_by_role("link", name="Quick search").tap()
    await expect(page.get_by_role("option", name="Bicycles")).to_be_visible()
    await page.get_by_role("combobox", name="Quick search").fill("tandem")
    await expect(page.locator(".palette-hit")).to_be_visible()
    assert await layout_faults(page, ((360, 740),)) == []
    await page.locator(".palette-hit").tap()
    await expect(page).to_have_url(re.compile("/chat/"))


async def test_keys_wait_for_the_palettes_code_and_enter_searches_without_it(page: Page, user: User) -> None:
    await in_database(live, user)
    arrives = asyncio.Event()

    async def hold(route: Route) -> None:
        await arrives.wait()
        await route.continue_()

    async def lose(route: Route) -> None:
        await route.abort()

    await page.route("**/dist/palette*.js", hold)
    await page.goto("/settings/")
    await opened(page)
    await page.keyboard.type("new")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    arrives.set()
    await expect(page.locator("#composer-text")).to_be_visible()

    await page.unroute("**/dist/palette*.js")
    await page.route("**/dist/palette*.js", lose)
    await page.goto("/settings/")
    await opened(page)
    await page.keyboard.type("new")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url("/search/?q=new")


async def test_other_keys_go_on_working_and_a_new_conversation_begins_from_it(page: Page, user: User) -> None:
    await in_database(live, user)
    await page.goto("/settings/")
    await page.locator("h1").click()
    await page.keyboard.press("/")
    await expect(page).to_have_url("/search/")
    await page.locator("#search-q").fill("k")
    await page.locator("#search-q").press("k")
    await expect(page.locator("#palette")).to_be_hidden()
    assert await look(page) == []
    await opened(page)
    await page.keyboard.type("new")
    await page.keyboard.press("Enter")
    await expect(page.locator("#composer-text")).to_be_visible()


async def test_it_says_that_nothing_was_found_only_where_no_page_is_meant(page: Page, user: User) -> None:
    await page.goto("/files/")
    status, entries = page.locator("#palette-status"), page.locator("#palette-list")
    await opened(page)
    for words, said in (("sett", ""), ("settzz", "Nothing found. Try other words."), ("sett", "")):
        async with page.expect_response(f"**/palette/?q={words}"):
            await page.get_by_role("combobox", name="Quick search").fill(words)
        await expect(entries).not_to_have_attribute("aria-busy", "true")
        await expect(status).to_have_text(said)
    await expect(page.get_by_role("option", name="Settings", exact=True)).to_be_visible()
