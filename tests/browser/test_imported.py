"""An imported conversation in a browser: where it comes from, its files, other answers and other branches.

With `--pictures FOLDER` it keeps pictures of what it shows.
"""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.models import Document, Profile
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.page_layout import layout_faults
from tests.browser.test_accessibility import serious_findings
from tests.jobs.conftest import empty_queue
from tests.legacy.real_exports import chatgpt_2023, chatgpt_2024, chatgpt_2025, zipped
from tests.legacy.test_import_command import run_import

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SCREENS = ((1440, 900), (768, 1024), (360, 740))


@pytest.fixture
def imported(user: User, tmp_path: Path) -> User:
    for members in (chatgpt_2023(), chatgpt_2024(), chatgpt_2025()):
        path = tmp_path / "export.zip"
        path.write_bytes(zipped(members))
        run_import(path, user)
    empty_queue()
    return user


async def keep(page: Page, request: pytest.FixtureRequest, name: str) -> None:
    """Keep pictures of a page at three widths, in both schemes, if they are wanted."""
    folder = request.config.getoption("--pictures")
    if not folder:
        return
    for width, height in SCREENS:
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            await page.set_viewport_size({"width": width, "height": height})
            await page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png", full_page=True)


async def test_it_says_where_it_comes_from_and_has_its_files_answers_and_branches(
    page: Page, imported: User, watcher: Watcher, request: pytest.FixtureRequest
) -> None:
    bees = await in_database(Session.of(imported.pk).get, metadata__imported_id="c-2023")
    await page.goto(f"/chat/{bees.pk}/")
    await expect(page.locator(".chat-origin")).to_contain_text("From ChatGPT, ")
    link = page.locator(".chat-origin").get_by_role("link", name="Your imports")
    await expect(link).to_have_attribute("href", "/settings/import/")
    assert await serious_findings(page) == []
    assert await layout_faults(page) == []
    await keep(page, request, "bees")
    first = page.locator(".turn").first
    await first.get_by_text("1 of 2").wait_for()
    await first.get_by_role("link", name="Next answer").click()
    await expect(page.get_by_text("They sleep, more or less.")).to_be_visible()
    await page.goto(f"/chat/{bees.pk}/")
    await page.locator(".chat-origin").get_by_role("link", name="2").click()
    await expect(page.get_by_text("This is another branch of this conversation.")).to_be_visible()
    await keep(page, request, "branch")

    boiler = await in_database(Session.of(imported.pk).get, metadata__imported_id="c-2024")
    await page.goto(f"/chat/{boiler.pk}/")
    await expect(page.locator(".turn .attached")).to_contain_text("A warm boiler.webp")
    assert await serious_findings(page) == []
    assert await layout_faults(page) == []
    await keep(page, request, "boiler")
    await page.get_by_role("link", name="lease.pdf").click()
    await expect(page.get_by_text("From your ChatGPT export, imported on")).to_be_visible()
    assert await serious_findings(page) == []
    assert await layout_faults(page) == []
    await keep(page, request, "document")
    await page.goto("/settings/import/")
    for summary in await page.get_by_text("What was left behind").all():
        await summary.click()
    await expect(page.get_by_text("Sage doesn’t take recordings and videos.")).to_be_visible()
    assert await serious_findings(page) == []
    assert await layout_faults(page) == []
    await keep(page, request, "import")
    assert watcher.faults == []


@pytest.mark.parametrize("language", ["de", "es"])
async def test_its_pages_hold_together_in_other_languages(
    open_context: OpenContext, cookie: str, imported: User, language: str, request: pytest.FixtureRequest
) -> None:
    await in_database(
        Profile.of(imported.pk).update_or_create, user_id=imported.pk, defaults={"language": language}
    )
    page = await (await open_context(cookie)).new_page()
    bees = await in_database(Session.of(imported.pk).get, metadata__imported_id="c-2023")
    lease = await in_database(Document.of(imported.pk).get, name="lease.pdf")
    for name, address in (
        ("bees", f"/chat/{bees.pk}/"),
        ("document", f"/library/documents/{lease.pk}/"),
        ("import", "/settings/import/"),
    ):
        await page.goto(address)
        assert await layout_faults(page) == []
        await keep(page, request, f"{name}-{language}")
