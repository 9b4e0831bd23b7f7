"""A form that ends on an error page: its text is in the field again."""

import pytest
from django.template.loader import render_to_string
from playwright.async_api import Page, Route, expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

UNSENT = "Nobody has read this yet."
NEW = "**/chat/new/"


async def send(page: Page) -> None:
    await page.locator("#composer-text").fill(UNSENT)
    await page.keyboard.press("Enter")


@pytest.mark.parametrize("template", ["busy.html", "500.html"])
async def test_behind_a_page_without_scripts_the_text_is_in_the_field(page: Page, template: str) -> None:
    async def refuse(route: Route) -> None:
        await route.fulfill(status=503, content_type="text/html", body=shown)

    shown = render_to_string(template, {"title": "Busy", "message": "Please wait."})
    await page.route(NEW, refuse)
    await page.goto("/")
    await send(page)
    await page.get_by_role("link", name="Go to the home page").click()
    await expect(page.locator("#composer-text")).to_have_value(UNSENT)


async def test_back_from_the_browsers_own_error_page_the_text_is_in_the_field(page: Page) -> None:
    async def cut(route: Route) -> None:
        await route.abort()

    await page.route(NEW, cut)
    await page.goto("/")
    await send(page)
    await page.wait_for_function("() => location.protocol === 'chrome-error:'")
    await page.go_back()
    await expect(page.locator("#composer-text")).to_have_value(UNSENT)


@pytest.mark.parametrize(
    ("change", "heading"),
    [
        ("(form) => { form.elements.id.value = 'x'.repeat(1000); }", "Sage couldn’t read that request"),
        (
            "(form) => { form.action = '/chat/00000000-0000-4000-8000-000000000000/message/'; }",
            "Page not found",
        ),
    ],
    ids=["400", "404"],
)
async def test_after_a_refusal_with_a_page_the_text_is_in_the_field(
    page: Page, change: str, heading: str
) -> None:
    await page.goto("/")
    await page.locator("#composer").evaluate(change)
    await send(page)
    await expect(page.get_by_role("heading", name=heading)).to_be_visible()
    await page.get_by_role("link", name="Go to the home page").click()
    await expect(page.locator("#composer-text")).to_have_value(UNSENT)
