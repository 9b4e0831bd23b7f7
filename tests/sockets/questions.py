"""Questions that the practice model asks, and what it gets back."""

import json
from typing import Any

from coaching.practice.script import ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from tests.live_sage import (
    Frame,
    SocketClient,
)

PILLS = ToolUse(
    "show_options",
    {"prompt": "How are you?", "options": [{"label": "Fine"}, {"label": "Not so good", "value": "low"}]},
    id="toolu_pills",
)
PULSE = ToolUse("show_pulse_check", {"domains": ["career", "health"]}, id="toolu_pulse")


async def rows(queryset: object) -> list[Any]:
    return await in_database(list, queryset)  # type: ignore[arg-type]  # `list` of any iterable


async def ask(client: SocketClient, text: str = "Hello") -> list[Frame]:
    """Send a message and return the frames until the turn ends or waits."""
    await client.until("sync")
    await client.send(type="message", text=text)
    return await client.until("done")


def results_in(practice: PracticeServer, request: int) -> list[dict[str, Any]]:
    """Return the blocks of a request's last message."""
    last = practice.requests[request].body["messages"][-1]
    assert last["role"] == "user"
    blocks: list[dict[str, Any]] = last["content"]
    return blocks


def values_of(block: dict[str, Any]) -> dict[str, Any]:
    assert block["type"] == "tool_result"
    values: dict[str, Any] = json.loads(block["content"])
    return values


def assert_all_accepted(practice: PracticeServer, count: int) -> None:
    assert [request.status for request in practice.requests] == [200] * count
