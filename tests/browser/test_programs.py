"""A program connects: the official client registers, a person consents in Chromium."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.utils import timezone
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.types import TextContent
from playwright.async_api import Page, Request, expect

from coaching.programs.grants import grants_of
from sessions_app.database import in_database
from tests.browser.fixtures import Watcher
from tests.browser.test_accessibility import serious_findings
from tests.confirmed import sign_in_confirmed
from tests.live_sage import LiveSage
from tests.mcp.lives import fill

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

REDIRECT = "http://localhost:9/callback"


@pytest.fixture
def cookie(user: User) -> str:
    """A session whose person has just given their password, which a consent asks for."""
    client = Browser()
    sign_in_confirmed(client, user)
    return client.cookies["sessionid"].value


class Kept(TokenStorage):
    """What the client keeps between requests."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.info: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.info = client_info


class Person:
    """Answers the page of consent in Chromium, and hands over the address that it leads to."""

    def __init__(self, page: Page, answer: str) -> None:
        self.page = page
        self.answer = answer
        self.address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if request.url.startswith(REDIRECT) and not self.address.done():
            self.address.set_result(request.url)

    async def open(self, address: str) -> None:
        await self.page.goto(address)
        await expect(self.page.get_by_role("heading", level=1)).to_contain_text(
            "Let Test program use your Sage?"
        )
        await self.page.get_by_role("button", name=self.answer).click()

    async def come_back(self) -> AuthorizationCodeResult:
        answered = parse_qs(urlsplit(await asyncio.wait_for(self.address, 30)).query)
        return AuthorizationCodeResult(
            code=answered.get("code", [""])[0], state=answered["state"][0], iss=answered.get("iss", [None])[0]
        )


@asynccontextmanager
async def connected(
    sage: LiveSage, person: Person, kept: Kept
) -> AsyncIterator[tuple[Client, OAuthClientProvider]]:
    """Connect the official client, which finds out by itself how to get access."""
    metadata = OAuthClientMetadata(client_name="Test program", redirect_uris=[REDIRECT])
    auth = OAuthClientProvider(
        server_url=f"{sage.origin}/mcp",
        client_metadata=metadata,
        storage=kept,
        redirect_handler=person.open,
        callback_handler=person.come_back,
    )
    async with httpx2.AsyncClient(auth=auth, timeout=60) as http:
        transport = streamable_http_client(f"{sage.origin}/mcp", http_client=http)
        async with Client(transport, read_timeout_seconds=60) as client:
            yield client, auth


async def test_a_program_registers_gets_consent_and_reads(
    live_sage: LiveSage, page: Page, user: User, watcher: Watcher
) -> None:
    await in_database(fill, user, "quartz")
    person, kept = Person(page, "Allow"), Kept()
    async with connected(live_sage, person, kept) as (client, _auth):
        read = await client.call_tool("read_file", {"path": "life-map/career.md"})
        assert isinstance(read.content[0], TextContent)
        assert "quartz" in read.content[0].text
        first = kept.tokens
        assert first is not None
        assert first.refresh_token
        (grant,) = await in_database(grants_of, user.pk, now=timezone.now())
        assert (grant.name, list(grant.hosts)) == ("Test program", ["localhost:9"])
    assert not [fault for fault in watcher.faults if REDIRECT not in fault and "ERR_" not in fault]


async def test_a_person_who_says_no_gives_nothing(live_sage: LiveSage, page: Page, user: User) -> None:
    person, kept = Person(page, "Cancel"), Kept()
    with pytest.raises(BaseExceptionGroup):
        async with connected(live_sage, person, kept):
            pass
    assert "error=access_denied" in await person.address
    assert not await in_database(Token.objects.exists)


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
async def test_the_page_of_consent_is_readable(
    live_sage: LiveSage, page: Page, watcher: Watcher, scheme: Literal["light", "dark"], width: int
) -> None:
    async with httpx2.AsyncClient(base_url=live_sage.origin) as http:
        given = {
            "client_name": "A program with a long name that goes on and on to its end",
            "redirect_uris": [REDIRECT],
        }
        client_id = (await http.post("/oauth/register", json=given)).json()["client_id"]
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 800})
    query = (
        f"client_id={client_id}&redirect_uri={REDIRECT}&response_type=code&scope=capture+read+write&state=s"
        f"&code_challenge={'a' * 43}&code_challenge_method=S256&resource={live_sage.origin}/mcp"
    )
    await page.goto(f"{live_sage.origin}/oauth/authorize?{query}")
    await expect(page.get_by_text("Not verified")).to_be_visible()
    await expect(page.get_by_text("localhost:9", exact=True)).to_be_visible()
    await expect(page.get_by_label("Add captures")).to_be_checked()
    assert await serious_findings(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Allow").focus()
    await page.goto(f"{live_sage.origin}/oauth/authorize?client_id=nobody")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("This program can’t be connected")
    assert await serious_findings(page) == []
    assert not [fault for fault in watcher.faults if "400" not in fault]
