"""A hostile page in the person's own browser, whose requests to Sage bring the cookies of their session.

It has another origin, but is on the same host: cookies with `SameSite=Lax` go along, so what refuses it here
are the checks of origins and of forms' tokens, and the policy against frames.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from aiohttp import web
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.utils import timezone
from django.utils.http import urlencode
from playwright.async_api import Page, Response, expect

from coaching.models import Capture, ProgramToken
from coaching.programs.clients import register
from sessions_app.database import in_database
from tests.browser.fixtures import OpenContext
from tests.browsers import confirmed_browser_of, sign_in_confirmed
from tests.conftest import MakeUser
from tests.live_sage import LiveSage
from tests.oauth.program import request_of, signed

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WORDS = "Written by a hostile page"
REDIRECT = "http://localhost:9/callback"
FETCH = """async ([address, type, body]) => {
  const request = { method: "POST", credentials: "include", mode: "no-cors", body };
  if (type) request.headers = { "Content-Type": type };
  await fetch(address, request);
}"""
READ = """async (address) => {
  try {
    return await (await fetch(address, { credentials: "include" })).text();
  } catch (error) {
    return error.name;
  }
}"""
SUBMIT = """([address, fields]) => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = address;
  for (const [name, value] of Object.entries(fields)) {
    const field = document.createElement("input");
    Object.assign(field, { name, value });
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}"""
FRAME = """(address) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.src = address;
  frame.onload = () => resolve();
  document.body.append(frame);
})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """A page of another origin. Its twin at another port notes the names of the cookies that it gets."""

    address: str
    twin: str
    noted: list[str]


@pytest_asyncio.fixture(loop_scope="session")
async def hostile() -> AsyncIterator[Hostile]:
    """Serve the page and its twin."""
    noted: list[str] = []

    async def show(_request: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><title>You have won</title>", content_type="text/html")

    async def note(request: web.Request) -> web.Response:
        noted.extend(request.cookies)
        return web.Response()

    app = web.Application()
    app.router.add_get("/", show)
    app.router.add_post("/", note)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    for _ in range(2):
        await web.TCPSite(runner, "127.0.0.1", 0).start()
    address, twin = (f"http://localhost:{port}/" for _host, port in runner.addresses)
    yield Hostile(address=address, twin=twin, noted=noted)
    await runner.cleanup()


def answer_of_somebody_else(user: User, client_id: str, sage: LiveSage) -> dict[str, str]:
    """Return an answer to a page of consent that its author has got for their own account."""
    browser = Browser(headers={"Host": urlsplit(sage.origin).netloc})
    sign_in_confirmed(browser, user)
    asked = request_of(client_id, redirect_uri=REDIRECT, resource=f"{sage.origin}/mcp")
    page = browser.get("/oauth/authorize", asked)
    return {"request": signed(page), "scopes": "read", "action": "grant"}


async def cookies_of(user: User) -> str:
    """Return a session of somebody who has just given their password."""
    return (await in_database(confirmed_browser_of, user)).cookies["sessionid"].value


async def submit(page: Page, address: str, fields: dict[str, str]) -> Response:
    """Send a form from the page, and follow it."""
    async with page.expect_navigation(url=f"{address}**") as navigation:
        await page.evaluate(SUBMIT, [address, fields])
    answered: Response = await navigation.value
    return answered


async def test_a_hostile_page_captures_shares_and_allows_nothing(
    live_sage: LiveSage, open_context: OpenContext, hostile: Hostile, user: User, make_user: MakeUser
) -> None:
    sage = live_sage.origin
    page = await (await open_context(await cookies_of(user))).new_page()
    program = await in_database(register, name="Mallory", redirects=[REDIRECT], now=timezone.now())
    mallory = await in_database(make_user, "mallory")
    consent = await in_database(answer_of_somebody_else, mallory, program.id, live_sage)
    forms = {
        "/capture/": {"text": WORDS, "id": "1"},
        "/share/keep/": {"text": WORDS, "id": "2"},
        "/settings/programs/": {"name": "Theirs", "scopes": "read", "days": "30"},
        "/oauth/authorize": consent,
    }
    await page.goto(hostile.address)
    answers: dict[str, int] = {}

    def note(response: Response) -> None:
        answers[urlsplit(response.url).path] = response.status

    page.on("response", note)
    for path, fields in forms.items():
        await page.evaluate(FETCH, [sage + path, "application/x-www-form-urlencoded", urlencode(fields)])
    call = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    await page.evaluate(FETCH, [f"{sage}/mcp", "text/plain", call])
    await page.evaluate(FETCH, [f"{sage}/api/captures", "text/plain", f'{{"text": "{WORDS}"}}'])
    refused = {**dict.fromkeys(forms, 403), "/mcp": 403, "/api/captures": 401}
    assert answers == refused
    await page.evaluate(FETCH, [hostile.twin, "", ""])
    assert "sessionid" in hostile.noted, "Chromium sends the session along: Sage's own checks have refused"
    assert await page.evaluate(READ, f"{sage}/capture/") == "TypeError"

    asked = request_of(program.id, redirect_uri=REDIRECT, resource=f"{sage}/mcp")
    await page.evaluate(FRAME, f"{sage}/oauth/authorize?{urlencode(asked)}")
    assert page.frames[1].url.startswith("chrome-error:")

    for path, fields in forms.items():
        await page.goto(hostile.address)
        assert (await submit(page, sage + path, fields)).status == 403, path
    for model in (Capture.unscoped, ProgramToken.unscoped, Token.objects):
        assert not await in_database(model.exists), model

    await page.goto(hostile.address)
    assert (await submit(page, f"{sage}/share/", {"text": WORDS})).status == 200
    await expect(page.get_by_label("What you share")).to_have_value(WORDS)
    assert not await in_database(Capture.unscoped.exists)
    await page.get_by_role("button", name="Save to captures").click()
    await expect(page.get_by_text("from “Share menu”")).to_be_visible()
