"""The official client: over HTTP with a token, in both eras of the protocol, and over standard streams."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from coaching.models import ActionItem, ActionState, Capture
from coaching.programs.tokens import revoke_all
from coaching.tools import PROGRAM_TOOLS
from sessions_app.database import in_database
from tests.conftest import MakeUser
from tests.live_sage import LiveSage, url_of_test_database
from tests.mcp.lives import fill, token_of
from tests.sage.processes import PROJECT

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "quartz"


@asynccontextmanager
async def connected(sage: LiveSage, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    """Connect the official client by HTTP, with a token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{sage.origin}/mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=60) as client:
            yield client


def text_of(result: Any) -> str:
    return "".join(part.text for part in result.content)


async def use_all(client: Client, user: User) -> None:
    """List, read, search, capture and suggest."""
    tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == PROGRAM_TOOLS.keys()
    assert all(tool.input_schema["type"] == "object" and tool.description for tool in tools)
    hints = {tool.name: tool.annotations for tool in tools}
    assert (hint := hints["read_file"]) is not None
    assert hint.read_only_hint
    assert SECRET in text_of(await client.call_tool("read_file", {"path": "life-map/career.md"}))
    found = await client.call_tool("recall_context", {"query": "When does the lease end?"})
    assert SECRET in text_of(found)
    kept = json.loads(text_of(await client.call_tool("keep_capture", {"text": "From outside"})))
    assert kept["kept"] is True
    step = json.loads(text_of(await client.call_tool("create_action_item", {"title": "Sell the house"})))
    assert step["suggested"] is True
    wrong = await client.call_tool("read_file", {"path": "nowhere.md"})
    assert wrong.is_error
    item = await in_database(ActionItem.of(user.pk).get, id=step["id"])
    assert item.state == ActionState.PROPOSED
    assert await in_database(Capture.of(user.pk).exists)


@pytest.fixture
def ada(make_user: MakeUser) -> User:
    return make_user("ada")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_it_lists_reads_searches_captures_and_suggests_with_a_token(
    live_sage: LiveSage, ada: User, mode: str
) -> None:
    await in_database(fill, ada, SECRET)
    token = await in_database(token_of, ada, "capture", "read", "write")
    async with connected(live_sage, token, mode) as client:
        await use_all(client, ada)
        await in_database(revoke_all, ada.pk)
        with pytest.raises(Exception, match="error response"):
            await client.call_tool("read_file", {"path": "life-map/career.md"})


async def test_it_sees_the_tools_of_its_scopes(live_sage: LiveSage, ada: User) -> None:
    token = await in_database(token_of, ada, "capture")
    async with connected(live_sage, token) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["keep_capture"]
        assert (await client.call_tool("read_file", {"path": "x.md"})).is_error


async def test_it_works_over_standard_streams(ada: User) -> None:
    await in_database(fill, ada, SECRET)
    environment = {
        **os.environ,
        "DATABASE_URL": url_of_test_database(),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    server = StdioServerParameters(
        command=sys.executable, args=["manage.py", "mcp", "--user", "ada"], env=environment, cwd=PROJECT
    )
    async with Client(server, read_timeout_seconds=60) as client:
        await use_all(client, ada)


async def test_what_is_no_message_gets_an_answer(live_sage: LiveSage, ada: User) -> None:
    token = await in_database(token_of, ada, "read")
    bodies = [
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"jsonrpc":"2.0"}',
        '"text"',
        "\x00",
        '{"jsonrpc":"2.0","id":1,"method":"x"}',
    ]
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    async with httpx2.AsyncClient(base_url=live_sage.origin, headers=headers, timeout=60) as http:
        for body in bodies:
            for version in (
                {},
                {"MCP-Protocol-Version": "2026-07-28"},
                {"MCP-Protocol-Version": "1999-01-01"},
            ):
                answered = await http.post("/mcp", content=body, headers=version)
                assert answered.status_code < 500, (body[:20], version, answered.text)
        assert (await http.get("/mcp")).status_code == 405
        assert (await http.delete("/mcp")).status_code == 405
        large = await http.post("/mcp", content="x" * 1_100_000)
        assert large.status_code == 413
        foreign = await http.post("/mcp", content="{}", headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403
        assert "Access-Control-Allow-Origin" not in foreign.headers
