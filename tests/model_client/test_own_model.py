"""A turn with a tool call through a translating proxy, LiteLLM's, to a server with OpenAI's API.

The proxy is a program of its own: `uv tool install 'litellm[proxy]'`.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.engine.anthropic_client import AnthropicClient
from coaching.models import UserFile
from coaching.practice.server import PracticeServer
from coaching.tools import CHAT_TOOLS
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.context.conftest import Talk
from tests.groups import require
from tests.stored_turns import open_conversation

START_SECONDS = 240
MODEL = "own-model"
SAVED = {"file_type": "overview", "content": "# All of it\n\nFine, mostly."}
KEY = "sk-" + secrets.token_hex(16)


class Upstream:
    """A server with OpenAI's API: it saves a file, then says so. `bodies` are the requests."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        deltas: list[tuple[dict[str, Any], str | None]]
        if body["messages"][-1]["role"] == "tool":
            deltas = [
                ({"content": "It is saved."}, None),
                ({}, "stop"),
            ]
        else:
            call = {"name": "save_file", "arguments": json.dumps(SAVED)}
            deltas = [
                ({"role": "assistant", "content": "I'll write it down."}, None),
                ({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}, None),
                ({}, "tool_calls"),
            ]
        for delta, finish in deltas:
            await response.write(chunk([{"index": 0, "delta": delta, "finish_reason": finish}]))
        usage = {"prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230}
        await response.write(chunk([], usage=usage) + b"data: [DONE]\n\n")
        return response


def chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
    values = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "tiny"}
    return b"data: " + json.dumps({**values, "choices": choices, **more}).encode() + b"\n\n"


@pytest.fixture
async def upstream() -> AsyncIterator[tuple[Upstream, str]]:
    """The server with OpenAI's API, and its address."""
    upstream = Upstream()
    app = web.Application(client_max_size=10_000_000)
    app.router.add_post("/v1/chat/completions", upstream.answer)
    async with TestServer(app) as server:
        yield upstream, str(server.make_url("/v1"))


@pytest.fixture
def proxy(upstream: tuple[Upstream, str], tmp_path: Path) -> Iterator[str]:
    """The proxy's address."""
    program = shutil.which("litellm")
    require("litellm", program is not None, "LiteLLM's proxy on the path: uv tool install 'litellm[proxy]'")
    assert program
    route = {"model": "hosted_vllm/tiny", "api_base": upstream[1], "api_key": "none"}
    config = {
        "model_list": [{"model_name": MODEL, "litellm_params": route}],
        "litellm_settings": {"drop_params": True, "telemetry": False},
    }
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    with (tmp_path / "proxy.log").open("w") as log:
        process = subprocess.Popen(
            [program, "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)],
            cwd=tmp_path,
            env={**environment, "LITELLM_MASTER_KEY": KEY},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _await_port(port, process, tmp_path / "proxy.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"the proxy didn't start:\n{log.read_text()}")


@pytest.mark.django_db(transaction=True)
async def test_a_turn_with_a_tool_call_goes_through_a_translating_proxy(
    proxy: str, upstream: tuple[Upstream, str], user: User, settings: Settings
) -> None:
    settings.SAGE_MODEL = MODEL
    session = await in_database(open_conversation, user)
    async with PracticeServer() as practice, AnthropicClient(KEY, proxy) as client:
        talk = Talk(practice=practice, client=client, brief_client=client, session=session)
        done = await talk.say("Please write down that I'm fine, mostly.")
    assert done.status == "completed"
    assert done.text == "I'll write it down.\n\nIt is saved."
    file = await in_database(UserFile.of(user.pk).get)
    assert (file.path, file.version_number) == ("life-map/_overview.md", 1)
    first, second = upstream[0].bodies
    assert {tool["function"]["name"] for tool in first["tools"]} == set(CHAT_TOOLS.names())
    assert first["messages"][0]["role"] == "system"
    assert "cache_control" not in first, "a server with OpenAI's API may refuse it"
    assert second["messages"][-1]["role"] == "tool"
    assert '"success": true' in json.dumps(second["messages"][-1]).replace('\\"', '"')
    usage = await in_database(list, ModelUsage.unscoped.values_list("model", "cost_micro_usd"))
    assert usage == [(MODEL, None)] * 2, "an unknown model has no price"
