"""What is sent in a tab whose session has ended: the text waits for the same person's sign-in.

`known_user` comes first: a new password ends the session of a cookie from before it.
"""

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_done
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

UNSENT = "Nobody has read this yet."


async def sign_in(page: Page, address: str) -> None:
    await page.get_by_label("Email or username").fill(address)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def sign_out_elsewhere(page: Page) -> None:
    other = await page.context.new_page()
    await other.goto("/accounts/logout/")
    await other.locator("main form button").click()
    await expect(other.get_by_label("Password", exact=True)).to_be_visible()
    await other.close()


async def test_after_the_sign_in_it_is_in_the_field_of_its_conversation(
    known_user: User, practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script(["Heard.", "Heard again."])
    field = page.get_by_label("Your message")
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_done(page)
    await sign_out_elsewhere(page)
    await expect(page.locator("#connection")).to_contain_text("You’ve been signed out")
    await say(page, UNSENT)
    await sign_in(page, known_user.email)
    await page.wait_for_url(f"**{path_of(session)}")
    await expect(field).to_have_value(UNSENT)
    await field.press("Enter")
    await until_done(page, 2)
    await expect(page.locator("#messages .said-text")).to_have_text(["Hello", UNSENT])
    await page.reload()
    await expect(field).to_have_value("")


async def test_nobody_else_who_signs_in_there_gets_it(
    known_user: User, page: Page, session: Session, other_user: User
) -> None:
    other_user.password = known_user.password
    await in_database(other_user.save)
    await page.goto(path_of(session))
    await sign_out_elsewhere(page)
    await expect(page.locator("#connection")).to_contain_text("You’ve been signed out")
    await say(page, UNSENT)
    await sign_in(page, other_user.email)
    await expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    assert UNSENT not in await page.content()
    await page.goto("/")
    await expect(page.locator("#composer-text")).to_have_value("")
    assert UNSENT not in await page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")


async def test_a_form_of_a_page_from_before_the_sign_in_keeps_its_text(
    known_user: User, practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script(["Heard."])
    await page.goto(path_of(session))
    await sign_out_elsewhere(page)
    await expect(page.locator("#connection")).to_contain_text("You’ve been signed out")
    other = await page.context.new_page()
    await other.goto("/accounts/login/")
    await sign_in(other, known_user.email)
    await expect(other.locator("#composer-text")).to_be_visible()
    await say(page, UNSENT)
    await expect(page.get_by_text("the page was open for too long")).to_be_visible()
    await page.goto(path_of(session))
    await expect(page.get_by_label("Your message")).to_have_value(UNSENT)
