"""The page of programs by keyboard, and the description of the interface."""

import os

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.models import ProgramToken
from coaching.programs.tokens import find_caller
from sessions_app.database import in_database
from tests.browser.fixtures import OpenContext
from tests.browser.test_accessibility import look
from tests.browsers import confirmed_browser_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


async def confirmed_cookie(user: User) -> str:
    """Sign a person in who has just given their password."""
    return (await in_database(confirmed_browser_of, user)).cookies["sessionid"].value


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SAGE_PROGRAM_PICTURES"):
        await page.screenshot(path=f"{folder}/{name}.png", full_page=True)


async def test_a_token_is_made_shown_once_and_revoked_by_keyboard(
    open_context: OpenContext, user: User
) -> None:
    page = await (await open_context(await confirmed_cookie(user))).new_page()
    await page.goto("/settings/programs/")
    await page.get_by_label("Name of the program").fill("Shortcut")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Space")
    await expect(page.get_by_label("Add captures")).to_be_checked()
    await picture(page, "form")
    await page.get_by_label("Name of the program").press("Enter")
    secret = await page.locator(".program-secret code").inner_text()
    caller = await in_database(find_caller, secret)
    assert (caller.name, caller.user_id) == ("Shortcut", user.pk)
    findings = await look(page)
    await picture(page, "made")
    await page.set_viewport_size({"width": 360, "height": 800})
    await picture(page, "made-phone")
    await page.emulate_media(color_scheme="dark")
    await picture(page, "made-dark")
    await page.goto("/settings/programs/")
    assert secret not in await page.content()
    await page.get_by_role("button", name="Revoke “Shortcut”").press("Enter")
    await expect(page.get_by_text("“Shortcut” can’t reach Sage any more.")).to_be_visible()
    assert not await in_database(ProgramToken.of(user.pk).exists)
    await page.goto("/api/docs")
    await picture(page, "docs-phone")
    assert findings + await look(page) == []
