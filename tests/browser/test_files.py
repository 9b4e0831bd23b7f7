"""Files in a browser: editing with a preview, in two tabs at once, and after a lost page."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.models import FileType, UserFile, UserFileVersion
from sessions_app.database import in_database
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.tabbing import tab_faults
from tests.browser.test_accessibility import look, serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FILE = "/files/life-map/career.md"
BODY = "First.\n\nSecond.\n\nThird."


def keep(user: User, body: str) -> None:
    file = UserFile.unscoped.create(
        user=user,
        path="life-map/career.md",
        file_type=FileType.DOMAIN,
        version_number=1,
        frontmatter={"preview_line": "\u202eturned"},
    )
    UserFileVersion.unscoped.create(
        file=file,
        number=1,
        content=f"---\ntype: domain\nstatus: good\n---\n\n{body}\n",
        size=len(body),
        sha256="",
        storage_key="career",
        source="tool",
    )


def keep_notes(user: User, folder: str = "notes") -> None:
    for number in range(5):
        file = UserFile.unscoped.create(
            user=user, path=f"{folder}/{number}.md", file_type=FileType.NOTE, version_number=1
        )
        UserFileVersion.unscoped.create(
            file=file,
            number=1,
            content="Words",
            size=5,
            sha256="",
            storage_key=f"{folder}/{number}",
            source="user",
        )


def without_refusals(faults: list[str]) -> list[str]:
    """Ignore the browser's console errors for refused saves."""
    return [fault for fault in faults if "status of 409" not in fault]


async def test_a_text_is_previewed_and_saved_and_two_tabs_lose_nothing(
    page: Page, open_context: OpenContext, cookie: str, user: User, watcher: Watcher
) -> None:
    await in_database(keep, user, BODY)
    await page.goto(FILE)
    await page.get_by_role("link", name="Edit").click()
    text = page.get_by_label("Text")
    await expect(page.locator("#preview .prose")).to_contain_text("Second.")
    await text.fill(BODY.replace("First.", "First, and **mine**."))
    await expect(page.locator("#preview strong")).to_have_text("mine")
    await expect(page.locator("#file-count")).to_contain_text("of 100,000 characters")
    await expect(page.get_by_role("button", name="Preview")).to_be_hidden()
    other = await (await open_context(cookie)).new_page()
    await other.goto(f"{FILE}/edit/")
    await other.get_by_label("Text").fill(f"{BODY}\n\nFourth.")
    await other.get_by_label("Status").select_option("thriving")
    await other.keyboard.press("Tab")
    await other.get_by_role("button", name="Save").press("Enter")
    await expect(other.get_by_role("status")).to_contain_text("Saved as version 2.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("this file was changed in another tab")
    assert await serious_findings(page) == []
    await page.get_by_role("button", name="Save merged text").click()
    await expect(page.get_by_role("status")).to_contain_text("Saved as version 3.")
    await expect(page.locator(".prose")).to_contain_text("First, and mine.")
    await expect(page.locator(".prose")).to_contain_text("Fourth.")
    await expect(page.locator(".facts")).to_contain_text("Thriving")
    assert page.url.endswith(FILE)
    await page.get_by_role("link", name="Version history").click()
    await page.get_by_role("link", name="What changed in version 3").click()
    await expect(page.locator(".difference ins")).to_have_text([", and **mine**"])
    assert await look(page) == []
    await page.get_by_role("button", name="Restore version 2").click()
    await expect(page.get_by_role("status")).to_contain_text("Version 2 was restored as version 4.")
    assert without_refusals(watcher.faults) == []


async def test_a_box_is_ticked_and_a_file_found_renamed_deleted_and_restored(
    page: Page, open_context: OpenContext, cookie: str, user: User, watcher: Watcher
) -> None:
    await page.goto("/files/new/")
    await page.get_by_label("Name").fill("A list: work/life?")
    await page.get_by_label("Text").fill("- [ ] Call Ben\n- [x] Walk\n\n- [ ] Rest")
    assert await serious_findings(page) == []
    await page.get_by_role("button", name="Save").click()
    call, rest = (page.get_by_role("checkbox", name=name) for name in ("Call Ben", "Rest"))
    await expect(page.get_by_role("checkbox", checked=True)).to_have_count(1)
    other = await (await open_context(cookie)).new_page()
    await other.goto(page.url)
    assert await serious_findings(page) == []
    await call.click()
    await rest.press("Space")
    await expect(page.locator("#version-list")).to_contain_text("Version 3")
    await expect(page.get_by_role("checkbox", checked=True)).to_have_count(3)
    await expect(rest).to_be_focused()
    # The other page is two versions behind: its tick reaches the same line.
    await other.get_by_role("checkbox", name="Walk").click()
    await expect(other.locator("#version-list")).to_contain_text("Version 4")
    await expect(other.get_by_role("checkbox", checked=True)).to_have_count(2)
    await page.reload()
    await expect(page.get_by_role("checkbox", name="Walk")).not_to_be_checked()
    await page.get_by_text("Rename", exact=True).click()
    await page.get_by_label("Name of this file").fill("Mondays")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Mondays")
    await page.get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("“Mondays” was deleted.")).to_be_visible()
    await page.get_by_role("link", name="Deleted files (1)").click()
    assert await look(page) == []
    await page.go_back()
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Mondays")
    await page.goto("/files/")
    await page.get_by_label("Search names and contents").fill("Ben")
    await page.keyboard.press("Enter")
    await expect(page.locator("mark")).to_have_text("Ben")
    assert await serious_findings(page) == []
    assert watcher.faults == []


async def test_several_files_are_selected_by_keyboard_deleted_and_brought_back(
    page: Page, user: User, watcher: Watcher
) -> None:
    await in_database(keep_notes, user)
    await page.goto("/files/")
    await page.get_by_role("link", name="Select", exact=True).press("Enter")
    boxes, count = page.locator(".choice input"), page.locator("#chosen-count")
    await expect(count).to_have_text("Nothing selected")
    await expect(page.get_by_role("button", name="Delete")).to_be_disabled()
    await boxes.nth(1).press("Space")
    await expect(count).to_have_text("1 selected")
    await boxes.nth(3).click(modifiers=["Shift"])
    await expect(count).to_have_text("3 selected")
    whole = page.get_by_label("Select all 5")
    await expect(whole).to_have_js_property("indeterminate", value=True)
    assert await look(page) == []
    await page.set_viewport_size({"width": 1280, "height": 800})
    await page.get_by_role("button", name="Delete").press("Enter")
    await expect(page.get_by_text("3 files were deleted.")).to_be_visible()
    await expect(page.locator(".ledger-row")).to_have_count(2)
    await page.get_by_role("button", name="Undo").press("Enter")
    await expect(page.get_by_role("status")).to_contain_text("3 files restored.")
    await page.goto("/files/?folder=notes&page=1&select=1")
    await page.get_by_label("Select all 5").press("Space")
    await expect(count).to_have_text("5 selected")
    await page.keyboard.press("Escape")
    await expect(page).to_have_url(re.compile(r"/files/\?folder=notes&page=1$"))
    await expect(boxes).to_have_count(0)
    assert watcher.faults == []


async def test_a_range_leaves_closed_folders_out_and_escape_ends_what_it_closes_first(
    page: Page, user: User, watcher: Watcher
) -> None:
    for folder in ("letters", "notes", "weekly-reviews"):
        await in_database(keep_notes, user, folder)
    await page.goto("/files/?select=1")
    boxes, count = page.locator(".choice input"), page.locator("#chosen-count")
    await page.locator("summary", has=page.get_by_role("heading", name="Notes")).click()
    await boxes.nth(3).click()
    await boxes.nth(11).click(modifiers=["Shift"])
    await expect(count).to_have_text("4 selected")
    await page.get_by_label("Your account").click()
    await page.keyboard.press("Escape")
    await page.get_by_role("searchbox").press("Escape")
    await page.wait_for_timeout(200)
    await expect(count).to_have_text("4 selected")
    await boxes.nth(3).press("Escape")
    await expect(boxes).to_have_count(0)
    assert watcher.faults == []


async def test_the_bar_of_a_selection_covers_no_focus_and_leaves_room_for_rows(
    page: Page, user: User
) -> None:
    for folder in ("letters", "notes", "weekly-reviews"):
        await in_database(keep_notes, user, folder)
    for width, height in ((1280, 700), (640, 400), (320, 640), (320, 256)):
        await page.set_viewport_size({"width": width, "height": height})
        await page.goto("/files/?select=1")
        assert await tab_faults(page) == []
        share = await page.evaluate("() => document.querySelector('.chosen-bar').offsetHeight / innerHeight")
        position = await page.evaluate(
            "() => getComputedStyle(document.querySelector('.chosen-bar')).position"
        )
        assert share < 0.25 or position == "static", (width, height)


async def test_what_was_written_outlives_a_sign_out_and_what_is_too_long_stays(
    page: Page, user: User, cookie: str, watcher: Watcher
) -> None:
    await in_database(keep, user, BODY)
    await page.goto(f"{FILE}/edit/")
    await page.get_by_label("Text").fill("\U0001f33f" * 100_001)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert").first).to_contain_text("1 characters too long")
    await page.get_by_label("Text").fill("Mine, unsaved.")
    cookies = await page.context.cookies()
    await page.context.clear_cookies(name="sessionid")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    await page.context.add_cookies(cookies)  # type: ignore[arg-type]
    await page.goto(f"{FILE}/edit/")
    await expect(page.get_by_label("Text")).to_have_value(BODY)
    await page.get_by_role("button", name="Restore draft").click()
    await expect(page.get_by_label("Text")).to_have_value("Mine, unsaved.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".prose")).to_have_text("Mine, unsaved.")
    await page.get_by_role("link", name="Edit").click()
    await expect(page.locator("#draft")).to_be_hidden()
    assert watcher.faults == []


async def test_text_from_right_to_left_turns_nothing_around_it(
    page: Page, user: User, watcher: Watcher
) -> None:
    await in_database(keep, user, "\u202eturned\n\n\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd")
    goes_right = """(node) => {
        const text = document.createTreeWalker(node, NodeFilter.SHOW_TEXT).nextNode();
        const at = (index) => {
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + 1);
            return range.getBoundingClientRect().left;
        };
        return at(0) < at(3);
    }"""
    for address, places in (
        ("/files/", ["h1", ".ledger-more", ".ledger-meta"]),
        (FILE, ["h1", ".version-head a", ".version-more time", ".file-head .quiet"]),
        (f"{FILE}/edit/", ["h1", "#preview-title", ".editor-acts .quiet, .editor-text > .quiet"]),
    ):
        await page.goto(address)
        for place in places:
            assert await page.locator(place).first.evaluate(goes_right), (address, place)
    await page.goto(FILE)
    paragraphs = page.locator(".prose p")
    assert not await paragraphs.nth(0).evaluate(goes_right)
    assert await paragraphs.nth(1).evaluate("(node) => getComputedStyle(node).unicodeBidi") == "plaintext"
    assert watcher.faults == []


async def test_a_long_address_widens_no_editor(
    open_context: OpenContext, cookie: str, user: User, watcher: Watcher
) -> None:
    await in_database(keep, user, f"https://example.org/{'a' * 300}")
    phone = await (await open_context(cookie, viewport={"width": 360, "height": 740})).new_page()
    await phone.goto(f"{FILE}/edit/")
    text = phone.get_by_label("Text")
    short = await text.evaluate("(field) => field.clientHeight")
    assert await phone.evaluate("() => document.documentElement.scrollWidth") <= 360
    await text.fill("Line.\n" * 30)
    assert await text.evaluate("(field) => field.clientHeight") > short, "it grows with its text"
    assert watcher.faults == []
