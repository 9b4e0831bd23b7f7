"""The official client of MCP, which connects by OAuth, and a person who answers it in Chromium."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self
from urllib.parse import parse_qs, urlsplit

import httpx2
from django.utils import timezone
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from playwright.async_api import Page, Request, expect

from coaching.programs.clients import register
from sessions_app.database import in_database
from tests.live_sage import LiveSage

NAME = "Test program"
REDIRECT = "http://localhost:9/callback"
SECONDS = 30.0
"""For each wait, on a busy machine."""


class Kept(TokenStorage):
    """What the client keeps between requests; `statuses` are those of its calls."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.tokens: OAuthToken | None = None
        self.info: OAuthClientInformationFull | None = None

    @classmethod
    async def registered(cls) -> Self:
        """Return what a client keeps that has registered: an address may do that only so often."""
        client = await in_database(register, name=NAME, redirects=[REDIRECT], now=timezone.now())
        kept = cls()
        kept.info = OAuthClientInformationFull(
            client_id=client.id, redirect_uris=[REDIRECT], token_endpoint_auth_method="none"
        )
        return kept

    async def note(self, response: httpx2.Response) -> None:
        if response.request.url.path == "/mcp":
            self.statuses.append(response.status_code)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.info = client_info


class AskedAgainError(Exception):
    """A program asks for consent once more; it would wait for the answer for ever."""


class Person:
    """Answers the page of consent in Chromium once, and hands over the address that it leads to."""

    def __init__(self, page: Page, answer: str) -> None:
        self.page = page
        self.answer = answer
        self.has_answered = False
        self.address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if request.url.startswith(REDIRECT) and not self.address.done():
            self.address.set_result(request.url)

    async def open(self, address: str) -> None:
        """Answer the page. Raises `AskedAgainError`."""
        if self.has_answered:
            raise AskedAgainError
        self.has_answered = True
        await self.page.goto(address)
        await expect(self.page.get_by_role("heading", level=1)).to_contain_text(f"Let {NAME} use your Sage?")
        await self.page.get_by_role("button", name=self.answer).click()

    async def come_back(self) -> AuthorizationCodeResult:
        answered = parse_qs(urlsplit(await asyncio.wait_for(self.address, SECONDS)).query)
        return AuthorizationCodeResult(
            code=answered.get("code", [""])[0], state=answered["state"][0], iss=answered.get("iss", [None])[0]
        )


@asynccontextmanager
async def connected(
    sage: LiveSage, person: Person, kept: Kept
) -> AsyncIterator[tuple[Client, OAuthClientProvider]]:
    """Connect the official client, which finds out by itself how to get access."""
    metadata = OAuthClientMetadata(client_name=NAME, redirect_uris=[REDIRECT])
    auth = OAuthClientProvider(
        server_url=f"{sage.origin}/mcp",
        client_metadata=metadata,
        storage=kept,
        redirect_handler=person.open,
        callback_handler=person.come_back,
    )
    async with httpx2.AsyncClient(auth=auth, timeout=SECONDS, event_hooks={"response": [kept.note]}) as http:
        transport = streamable_http_client(f"{sage.origin}/mcp", http_client=http)
        async with Client(transport, read_timeout_seconds=SECONDS) as client:
            yield client, auth
