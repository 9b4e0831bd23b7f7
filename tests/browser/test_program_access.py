"""A connected program's access: the official client renews it, and the person ends it in Chromium."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import httpx2
import pytest
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone
from mcp.types import TextContent
from playwright.async_api import Page, expect

from coaching.models import ActionItem
from sessions_app.database import in_database
from tests.browser.oauth_client import SECONDS, AskedAgainError, Kept, Person, connected
from tests.browsers import confirmed_browser_of
from tests.live_sage import LiveSage
from tests.mcp.lives import fill

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TABLE = "coaching_actionitem"


@pytest.fixture
def cookie(user: User) -> str:
    """A session whose person has just given their password, which a consent asks for."""
    return confirmed_browser_of(user).cookies["sessionid"].value


def expire_access() -> None:
    """Let the hour of all access tokens be over."""
    ended = timezone.now() - timedelta(seconds=1)
    assert Token.objects.filter(type=Token.Type.ACCESS_TOKEN).update(expires_at=ended) == 1


async def ask(sage: LiveSage, kept: Kept, refresh_token: str) -> httpx2.Response:
    """Send a refresh token of the client."""
    assert kept.info is not None
    sent = {
        "grant_type": "refresh_token",
        "client_id": kept.info.client_id,
        "refresh_token": refresh_token,
        "resource": f"{sage.origin}/mcp",
    }
    async with httpx2.AsyncClient(timeout=SECONDS) as http:
        return await http.post(f"{sage.origin}/oauth/token", data=sent)


async def call(sage: LiveSage, access_token: str) -> int:
    """List the tools with an access token; return the status."""
    headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    async with httpx2.AsyncClient(timeout=SECONDS, headers=headers) as http:
        return int((await http.post(f"{sage.origin}/mcp", json=message)).status_code)


async def test_the_client_renews_its_access_and_an_old_refresh_token_is_refused(
    live_sage: LiveSage, page: Page, user: User
) -> None:
    await in_database(fill, user, "quartz")
    kept = await Kept.registered()
    async with (
        asyncio.timeout(2 * SECONDS),
        connected(live_sage, Person(page, "Allow"), kept) as (client, auth),
    ):
        first = kept.tokens
        assert first is not None
        assert first.refresh_token is not None
        await in_database(expire_access)
        assert await call(live_sage, first.access_token) == 401
        auth.context.token_expiry_time = time.time() - 1  # what its own clock says after an hour
        kept.statuses.clear()
        read = await client.call_tool("read_file", {"path": "life-map/career.md"})
        assert isinstance(read.content[0], TextContent)
        assert "quartz" in read.content[0].text
        assert set(kept.statuses) == {200}, "it renewed its access before the call"
        second = kept.tokens
        assert second is not None
        assert second.refresh_token not in (None, first.refresh_token)
        assert second.access_token != first.access_token
        again = await ask(live_sage, kept, first.refresh_token)
        assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
        assert not (await client.call_tool("read_file", {"path": "life-map/career.md"})).is_error


@asynccontextmanager
async def held_back() -> AsyncIterator[None]:
    """Let whoever writes next steps wait, while pages read them."""
    is_held, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {TABLE} IN SHARE MODE")
            is_held.set()
            is_over.wait(SECONDS)

    holding = asyncio.ensure_future(in_database(hold))
    try:
        assert await asyncio.to_thread(is_held.wait, SECONDS)
        yield
    finally:
        is_over.set()
        await holding


def is_waited_for() -> bool:
    """Whether somebody waits to write next steps."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = %s::regclass", [TABLE])
        return cursor.fetchone() is not None


@transaction.atomic
def steps_when_all_have_written(user: User) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {TABLE} IN EXCLUSIVE MODE")
    return ActionItem.of(user.pk).count()


async def test_a_person_ends_a_programs_access_while_its_call_runs(
    live_sage: LiveSage, page: Page, user: User
) -> None:
    kept = await Kept.registered()
    settings = await page.context.new_page()

    async def disconnect() -> None:
        while not await in_database(is_waited_for):  # noqa: ASYNC110 - nothing tells it
            await asyncio.sleep(0.02)
        await settings.goto("/settings/programs/")
        await settings.get_by_role("button", name="Disconnect “Test program”").click()
        await expect(settings.get_by_text("“Test program” can’t reach Sage any more.")).to_be_visible()

    async with asyncio.timeout(2 * SECONDS), held_back():
        # The client is told 401, and would ask the person anew: this ends it.
        with pytest.RaisesGroup(AskedAgainError, flatten_subgroups=True):
            async with connected(live_sage, Person(page, "Allow"), kept) as (client, _auth):
                kept.statuses.clear()
                disconnecting = asyncio.create_task(disconnect())
                await client.call_tool("create_action_item", {"title": "Written too late"})
        await disconnecting
        assert kept.statuses == [401]
    assert await in_database(steps_when_all_have_written, user) == 0
    assert kept.tokens is not None
    assert await call(live_sage, kept.tokens.access_token) == 401
    assert (await ask(live_sage, kept, str(kept.tokens.refresh_token))).status_code == 400
