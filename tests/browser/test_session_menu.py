"""The menu of a conversation, folders, feedback and the page to print, in a browser.

With `--pictures FOLDER` it keeps pictures of what it shows.
"""

import io
import re

import pytest
from django.contrib.auth.models import User
from PIL import Image
from playwright.async_api import FilePayload, Page, expect

from coaching.models import AnswerFeedback
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from sessions_app.session_folders import make_folder
from tests.browser.chat_page import path_of, say, until, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.page_layout import layout_faults
from tests.browser.test_accessibility import serious_findings
from tests.browser.test_imported import keep
from tests.jobs.conftest import queue
from tests.library.pipeline.conftest import references

__all__ = ["queue", "references"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("queue", "references"),
]

MORE = "More options for this conversation"


async def look(page: Page, request: pytest.FixtureRequest, name: str) -> None:
    """Check a page, and keep pictures of it if they are wanted."""
    assert await serious_findings(page) == []
    assert await layout_faults(page) == []
    await keep(page, request, name)
    await page.set_viewport_size({"width": 1280, "height": 800})


async def test_the_menu_of_a_page_is_used_by_keyboard_and_files_a_conversation(
    practice: PracticeServer,
    page: Page,
    watcher: Watcher,
    session: Session,
    user: User,
    request: pytest.FixtureRequest,
) -> None:
    practice.script(["What keeps you awake?"])
    for name in ("Work", "A folder with quite a long name, as people write them"):
        await in_database(make_folder, user_id=user.pk, name=name)
    await page.goto(path_of(session))
    await say(page, "I sleep badly")
    await until_done(page)
    await page.evaluate("window.isSamePage = true")
    another = await in_database(Session.of(user.pk).create, title="Another", last_message_number=1)
    tab = await page.context.new_page()
    await tab.goto(path_of(another))
    await expect(tab.locator(".sidebar-row")).to_have_count(2)
    button, menu = page.get_by_role("button", name=MORE), page.locator("#session-menu")
    await button.focus()
    await page.keyboard.press("Enter")
    await expect(button).to_have_attribute("aria-expanded", "true")
    await expect(menu.get_by_role("link", name="What Sage remembers")).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(menu.get_by_role("link", name="What Sage remembers")).to_be_focused()
    await look(page, request, "menu")
    await menu.get_by_text("Delete", exact=True).click()
    await expect(menu).to_contain_text("Sage wrote no files in it")
    await look(page, request, "menu-delete")
    await menu.get_by_text("Move to a folder").click()
    await expect(menu.get_by_text("Sage wrote no files in it")).to_be_hidden()
    await look(page, request, "menu-folder")
    await menu.get_by_label("Folder", exact=True).select_option("Work")
    await menu.get_by_role("button", name="Move", exact=True).click()
    await expect(page.locator("#toast")).to_have_text("Moved to the folder “Work”.")
    await expect(menu).to_be_hidden()
    await expect(button).to_have_attribute("aria-expanded", "false")
    await expect(button).to_be_focused()
    await button.click()
    await menu.get_by_role("button", name="Pin to top").click()
    for each in (page, tab):
        await expect(each.locator(".sidebar-group").first).to_have_text("Pinned")
    await button.click()
    await expect(menu.get_by_role("button", name="Unpin")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(menu).to_be_hidden()
    # The other row's button opens the other's menu at once.
    await button.click()
    await page.get_by_role("button", name="More options for: I sleep badly").click()
    await expect(menu.get_by_role("button", name="Unpin")).to_be_visible()
    await expect(button).to_have_attribute("aria-expanded", "false")
    await page.keyboard.press("Escape")
    assert await page.evaluate("window.isSamePage")

    async with page.expect_download() as download:
        await button.click()
        await menu.get_by_role("link", name="Export as Markdown").click()
    assert (await download.value).suggested_filename.endswith(".md")
    await menu.get_by_role("link", name="Print or save as PDF").click()
    await expect(page.get_by_role("button", name="Print or save as PDF")).to_be_visible()
    await look(page, request, "print")
    await page.goto("/chat/")
    await look(page, request, "list")
    await page.locator(".folder-list").get_by_text("Work").click()
    await expect(page.locator(".ledger-title")).to_have_text("I sleep badly")
    await page.get_by_text("Rename folder").click()
    await page.get_by_text("Delete folder", exact=True).first.click()
    await look(page, request, "folder")
    await page.get_by_role("button", name="Delete folder").click()
    await expect(page.locator(".flash")).to_contain_text("Folder deleted.")
    assert watcher.faults == []


async def test_without_scripts_the_menu_is_a_page(
    open_context: OpenContext, cookie: str, practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script(["What keeps you awake?"])
    await page.goto(path_of(session))
    await say(page, "I sleep badly")
    await until_done(page)
    plain = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await plain.goto(path_of(session))
    await plain.get_by_role("link", name=MORE).click()
    await plain.get_by_text("Move to a folder").click()
    await plain.get_by_label("Name of a new folder").fill("Work")
    await plain.get_by_role("button", name="Move", exact=True).click()
    await expect(plain.get_by_role("heading", level=1)).to_have_text("Work")
    await plain.locator(".ledger-row").click()
    await plain.get_by_role("button", name="Not a helpful answer").click()
    await plain.get_by_label("What was good or wrong?").fill("It asked too soon")
    await plain.get_by_role("button", name="Save").click()
    await expect(plain.get_by_role("button", name="Not a helpful answer")).to_have_attribute(
        "aria-pressed", "true"
    )


async def test_feedback_is_given_below_an_answer_and_a_picture_is_shown_small(
    practice: PracticeServer,
    page: Page,
    watcher: Watcher,
    session: Session,
    user: User,
    request: pytest.FixtureRequest,
) -> None:
    practice.script(["A garden, I think.", "And another."])
    await page.goto(path_of(session))
    await attach_picture(page)
    await say(page, "What is this?")
    await until_done(page)
    small = page.locator(".said .attached-picture img")
    await expect(small).to_be_visible()
    await until(page, "() => document.querySelector('.attached-picture img').naturalWidth === 480")
    assert await small.evaluate("(image) => image.naturalWidth") == 480
    await say(page, "And this?")
    await until_done(page, 2)
    turn = page.locator(".turn").first
    good = turn.get_by_role("button", name="Helpful answer", exact=True)
    bad = turn.get_by_role("button", name="Not a helpful answer", exact=True)
    await bad.click()
    await expect(bad).to_have_attribute("aria-pressed", "true")
    await expect(turn.get_by_label("What was good or wrong?")).to_be_focused()
    await turn.get_by_label("What was good or wrong?").fill("It’s a balcony")
    await look(page, request, "feedback")
    await good.click()
    await expect(good).to_have_attribute("aria-pressed", "true")
    await bad.click()
    await expect(bad).to_have_attribute("aria-pressed", "true")
    await expect(turn.get_by_label("What was good or wrong?")).to_have_value("It’s a balcony")
    await turn.get_by_role("button", name="Save").click()
    await expect(page.locator("#toast")).to_have_text("Your feedback is saved. Thank you.")
    await expect(turn.locator(".feedback-form")).to_have_count(0)
    await expect(bad).to_be_focused()
    stored = await in_database(AnswerFeedback.of(user.pk).get)
    assert (stored.rating, stored.note, stored.is_shared) == ("down", "It’s a balcony", False)
    await page.reload()
    await expect(bad).to_have_attribute("aria-pressed", "true")
    await good.click()
    await expect(turn.get_by_label("What was good or wrong?")).to_have_value("It’s a balcony")
    await turn.get_by_role("button", name="Delete feedback").click()
    await expect(page.locator("#toast")).to_have_text("Your feedback is deleted.")
    await expect(good).to_have_attribute("aria-pressed", "false")
    assert watcher.faults == []


async def attach_picture(page: Page) -> None:
    written = io.BytesIO()
    Image.effect_noise((900, 600), 90).convert("RGB").save(written, "JPEG")
    async with page.expect_file_chooser() as chooser:
        await page.locator("label[for=attach]").click()
    picture = FilePayload(name="garden.jpg", mimeType="image/jpeg", buffer=written.getvalue())
    await (await chooser.value).set_files(picture)
    await expect(page.locator(".attachment")).to_have_attribute("data-id", re.compile(r"\d"))
