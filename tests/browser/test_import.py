"""The import page in a browser: upload, progress without a reload, undo; small screens and no JavaScript."""

import asyncio
import json
from pathlib import Path
from typing import NoReturn

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, Route, expect

from coaching.legacy.imports import job_steps
from coaching.library.pipeline.batch import Services
from coaching.library.pipeline.claims import claim_uploads
from coaching.library.pipeline.reading import read_batch
from coaching.models import Import, ImportState
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.test_accessibility import serious_findings
from tests.legacy.real_exports import claude_2024, zipped
from tests.legacy.test_import_command import run_import
from tests.legacy.test_imported_notes import chatgpt

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/settings/import/"
EXPORT = json.dumps(
    [chatgpt("c-1", about="I keep bees.", memories="y" * 200, day=1) | {"horoscope": 1, "title": "x" * 200}]
).encode()
IMPORTED = "1 conversation, 1 other branch, 6 messages, 1 other answer"
NAME = f"conversations-{'x' * 120}.json"


def do_the_job(user: User) -> None:
    """Do what a worker would."""
    for _ in job_steps(Import.of(user.pk).filter(state__in=["waiting", "undoing"]).get().pk):
        pass


async def upload(page: Page) -> None:
    await page.goto(PAGE)
    await choose(page)
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_text("Waiting to start.")).to_be_visible()


async def choose(page: Page) -> None:
    await page.get_by_label("File").set_input_files(
        {"name": NAME, "mimeType": "application/json", "buffer": EXPORT}
    )


async def lose_an_upload(page: Page) -> None:
    """Send a file whose request gets no answer."""
    lost = asyncio.Event()

    async def lose(route: Route) -> None:
        await lost.wait()
        await route.abort()

    await page.goto(PAGE)
    await page.route(f"**{PAGE}", lose)
    await choose(page)
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_label(f"Uploading {NAME}")).to_be_visible()
    await expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    lost.set()
    await expect(page.get_by_role("alert")).to_have_text(
        "The upload didn’t go through. Check your connection and add the file again."
    )
    await page.unroute(f"**{PAGE}")


async def test_an_upload_shows_its_progress_and_is_undone(page: Page, watcher: Watcher, user: User) -> None:
    await lose_an_upload(page)
    watcher.faults.clear()  # the request that was lost
    await upload(page)
    assert await serious_findings(page) == []
    await in_database(do_the_job, user)
    await expect(page.get_by_text(IMPORTED)).to_be_visible()
    await expect(page.get_by_label("File")).to_be_visible()
    for width in (360, 1440):
        await page.set_viewport_size({"width": width, "height": 900})
        await page.get_by_text("What was skipped or changed").click()
        await page.get_by_text("What was left behind").click()
        await page.get_by_text("What ChatGPT knew about you").click()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await serious_findings(page) == []
    await page.get_by_label("Undo the import of").click()
    await page.get_by_role("button", name="Yes, undo it").click()
    await expect(page.get_by_text("This import is being undone.")).to_be_visible()
    await in_database(do_the_job, user)
    await expect(page.get_by_text("Undone. Everything this import added has been removed.")).to_be_visible()
    assert not await in_database(Session.of(user.pk).exists)
    assert watcher.faults == []


async def make_searchable(user: User) -> None:
    """Do what a worker would: no model is asked."""

    async def no_model() -> NoReturn:
        raise AssertionError

    while claim := await in_database(claim_uploads, user_id=user.pk, reader="lane:0"):
        await read_batch(claim, Services(client=no_model))


async def test_files_wait_until_their_person_lets_sage_read_them(
    page: Page, watcher: Watcher, user: User, tmp_path: Path
) -> None:
    export = tmp_path / "export.zip"
    export.write_bytes(zipped(claude_2024()))
    await in_database(run_import, export, user)
    await page.goto(PAGE)
    await expect(page.get_by_text("2 files are being made searchable.")).to_be_visible()
    await make_searchable(user)
    # The part of the page loads itself anew.
    await expect(page.get_by_text("2 files are in your library")).to_be_visible(timeout=20_000)
    opened = page.get_by_text("Let Sage read the files…")
    await opened.click()
    asked = page.get_by_text("Sage will file them in your library")
    await expect(asked).to_contain_text("Estimated cost: $0.03.")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        for width in (360, 1440):
            await page.set_viewport_size({"width": width, "height": 900})
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert await serious_findings(page) == []
    await page.get_by_role("button", name="Yes, read the files").press("Enter")
    await expect(page.get_by_text("Sage is reading 2 files.")).to_be_visible()
    await expect(opened).to_be_hidden()
    assert watcher.faults == []


async def test_it_works_without_javascript(
    open_context: OpenContext, cookie: str, user: User, tmp_path: Path
) -> None:
    context = await open_context(cookie, java_script_enabled=False, viewport={"width": 360, "height": 800})
    page = await context.new_page()
    await upload(page)
    await in_database(do_the_job, user)
    # The page reloads by itself, after some seconds.
    await expect(page.locator("meta[http-equiv=refresh]")).to_have_attribute("content", f"6; url={PAGE}")
    await page.goto(PAGE)
    await expect(page.get_by_text(IMPORTED)).to_be_visible()
    await page.get_by_label("Undo the import of").click()
    await page.get_by_role("button", name="Yes, undo it").click()
    assert await in_database(lambda: Import.of(user.pk).get().state) == ImportState.UNDOING
