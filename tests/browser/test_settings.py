"""Settings in a browser: time zone, export, and deleting the account."""

import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.models import Profile
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, UsagePurpose
from tests.browser.fixtures import OpenContext
from tests.conftest import PASSWORD
from tests.live_sage import LiveSage, open_socket
from tests.stored_turns import open_conversation

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


async def test_who_signs_up_is_where_their_browser_is_and_may_move(
    live_sage: LiveSage, open_context: OpenContext
) -> None:
    page = await (await open_context(timezone_id="America/Sao_Paulo")).new_page()
    await page.goto("/accounts/signup/")
    await page.get_by_label("Email", exact=True).fill("new@example.org")
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_label("Password again").fill(PASSWORD)
    await page.get_by_role("button", name="Create account").click()
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    profile = await in_database(Profile.unscoped.get, user__email="new@example.org")
    assert (profile.timezone, profile.timezone_source) == ("America/Sao_Paulo", "browser")

    state = await page.context.storage_state()
    travelling = await open_context(timezone_id="Asia/Tokyo", storage_state=state)
    page = await travelling.new_page()
    await page.goto("/settings/")  # this page reports its time zone, the next one knows it
    await page.goto("/")
    await page.get_by_role("button", name="Use Tokyo").click()
    await expect(page.get_by_text("Sage now uses the time in Tokyo.")).to_be_visible()
    await expect(page.locator(".offer")).to_have_count(0)
    await page.get_by_label("Your account").click()
    await page.get_by_role("banner").get_by_role("link", name="Settings").click()
    await expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    await page.get_by_label("Time zone").fill("Nowhere")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("Sage doesn’t know “Nowhere”.")
    await page.get_by_label("Time zone").fill("berlin")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Settings saved.")).to_be_visible()
    await expect(page.get_by_text("Your browser is set to another time zone: Tokyo.")).to_be_visible()


async def test_everything_is_taken_along_and_then_left(
    live_sage: LiveSage, known_user: User, open_context: OpenContext, cookie: str, tmp_path: Path
) -> None:
    session = await in_database(open_conversation, known_user)
    page: Page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await page.goto("/settings/data/")
    await page.get_by_role("button", name="Download everything").click()
    await page.get_by_label("Password").fill(PASSWORD)
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Continue").click()
    out = tmp_path / "ada.zip"
    await (await downloading.value).save_as(out)
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
        assert any(name.endswith("/README.md") for name in archive.namelist())

    await page.goto("/settings/data/")
    await page.get_by_role("link", name="Delete my account").click()
    await page.get_by_label("Type your email address").fill("ada@example.org")
    await page.get_by_label("Your password").fill("not this one")
    await page.get_by_role("button", name="Delete my account").click()
    await expect(page.get_by_text("That isn’t your password.")).to_be_visible()
    async with open_socket(live_sage, session.id, f"sessionid={cookie}") as socket:
        await socket.next_frame()
        await page.get_by_label("Your password").fill(PASSWORD)
        await page.get_by_role("button", name="Delete my account").click()
        await expect(page.get_by_role("heading", name="Goodbye")).to_be_visible()
        assert await socket.closed_with() == 4403
    await page.goto("/")
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_the_usage_table_fits_the_page(live_sage: LiveSage, page: Page, user: User) -> None:
    rows = [
        ModelUsage(
            user=user,
            purpose=purpose,
            model="claude-sonnet-5-5",
            input_tokens=12_345_678,
            output_tokens=1_098_765,
            cost_micro_usd=1_234_560_000,
        )
        for purpose in UsagePurpose.values
    ]
    await in_database(ModelUsage.unscoped.bulk_create, rows)
    await page.goto("/settings/usage/")
    table = page.locator(".usage")
    await expect(table.locator("tbody tr")).to_have_count(len(rows))
    for width in (360, 768, 1440):
        await page.set_viewport_size({"width": width, "height": 800})
        overflow = await page.evaluate(
            """() => [".table-scroll:has(.usage)", "html"].map((name) => {
                const element = document.querySelector(name);
                return element.scrollWidth - element.clientWidth;
            })"""
        )
        assert overflow == [0, 0], width
