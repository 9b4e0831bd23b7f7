"""Passkeys in a browser, with Chromium's virtual authenticator."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.async_api import CDPSession, Page, expect

from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.test_accessibility import look, serious_findings
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


async def device_of(page: Page) -> tuple[CDPSession, dict[str, Any]]:
    """Give a page a device with a fingerprint reader."""
    device = await page.context.new_cdp_session(page)
    await device.send("WebAuthn.enable")
    return device, await device.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})


async def test_a_passkey_is_added_and_signs_in_without_a_password(
    known_user: User, open_context: OpenContext, cookie: str, watcher: Watcher
) -> None:
    page = await (await open_context(cookie)).new_page()
    device, at = await device_of(page)
    await page.goto("/settings/sign-in/")
    await page.get_by_role("link", name="Two-step sign-in").click()
    findings = await serious_findings(page)
    await page.get_by_role("link", name="Add a passkey").click()
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Continue").click()
    findings += await serious_findings(page)
    create = page.get_by_role("button", name="Create passkey")
    # A finger that the device doesn't know.
    await device.send("WebAuthn.setUserVerified", {**at, "isUserVerified": False})
    await create.click()
    await expect(page.get_by_role("alert")).to_contain_text("That didn’t work, or it was cancelled.")
    await device.send("WebAuthn.setUserVerified", {**at, "isUserVerified": True})
    await page.get_by_label("Name").fill("My phone")
    await create.click()
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    await expect(page.locator(".factor-codes li")).to_have_count(10)
    findings += await look(page)
    await page.get_by_role("link", name="Back to two-step sign-in").click()
    await expect(page.locator(".factor-name")).to_have_text("My phone")
    await page.get_by_role("link", name="Add a passkey").click()
    await create.click()
    await expect(page.get_by_role("alert")).to_contain_text("already has a passkey")

    await page.get_by_label("Your account").click()
    await page.get_by_role("button", name="Sign out").click()
    await page.get_by_label("Email or username").fill("ada")
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("heading", name="Second step")).to_be_visible()
    findings += await look(page)
    await device.send("WebAuthn.setUserVerified", {**at, "isUserVerified": False})
    await page.get_by_role("button", name="Use a passkey").click()
    await expect(page.get_by_role("alert")).to_contain_text("That didn’t work, or it was cancelled.")
    await device.send("WebAuthn.setUserVerified", {**at, "isUserVerified": True})
    await page.get_by_role("button", name="Back to sign in").click()
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_label("Your account")).to_be_visible()
    assert findings == []
    assert watcher.faults == []
