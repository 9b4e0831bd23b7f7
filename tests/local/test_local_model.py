"""Sage with a real model in llama.cpp: a conversation, a save, a document, and what a prompt takes."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.request import Request, urlopen

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.events import TextDelta
from coaching.engine.messages import ModelRequest
from coaching.engine.tools import ToolCall, ToolInput, ToolResult, Toolset
from coaching.management.commands.check_model import lines_of
from coaching.model_client.check import check_model
from coaching.model_client.context_size import context_tokens_of, is_compact
from coaching.model_client.patience import timeouts_within, turn_seconds
from coaching.model_client.servers import model_server
from coaching.models import DocumentState
from coaching.practice.server import PracticeServer
from sage.local_model import Address
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, TurnStatus
from tests.context.conftest import Talk
from tests.engine.upstream import Bench, Upstream
from tests.jobs.conftest import WorkOff
from tests.library.pipeline.conftest import references, upload
from tests.local.conftest import CONTEXT, MODEL, used
from tests.stored_turns import open_conversation

__all__ = ["references"]

# A document takes half a minute on a machine that does nothing else.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

MOST_BASE_TOKENS = 3_000
CALL = {"name": "save_note", "arguments": {"text": "buy milk"}}


class Note(ToolInput):
    """The input of a tool that saves a note."""

    text: str


def client_of(address: Address) -> AnthropicClient:
    return AnthropicClient(
        address.api_key, address.url, context_of=context_tokens_of, reuses_connections=False
    )


@pytest.fixture
async def client(plain: Address, practice: None) -> AsyncIterator[AnthropicClient]:
    async with client_of(plain) as client:
        yield client


async def test_a_message_is_answered_in_parts_and_its_tokens_are_counted(
    user: User, client: AnthropicClient
) -> None:
    session = await in_database(open_conversation, user)
    assert (context_tokens_of(MODEL), is_compact(MODEL), turn_seconds()) == (CONTEXT, True, 300)
    talk = Talk(PracticeServer(), client, client, session)
    done = await talk.say("Hallo, ich bin neu hier.")
    assert (done.status, bool(done.text)) == (TurnStatus.COMPLETED, True)
    usage = await in_database(ModelUsage.of(user.pk).get)
    assert 500 < usage.input_tokens + usage.cache_read_tokens < MOST_BASE_TOKENS
    assert 0 < usage.output_tokens <= 40


async def test_a_call_that_a_model_without_tools_writes_as_text_saves(
    client: AnthropicClient,
) -> None:
    bench = Bench(upstream=Upstream(), client=client)
    saved: list[str] = []

    async def save(_: ToolCall, values: Note) -> ToolResult:
        saved.append(values.text)
        return ToolResult.of(success=True)

    bench.tool("save_note", save, input_model=Note)
    words = f"Answer with this JSON and nothing else:\n{json.dumps(CALL)}"
    request = ModelRequest(
        model=MODEL,
        max_tokens=80,
        messages=[{"role": "user", "content": [{"type": "text", "text": words}]}],
        tools=Toolset(bench.tools).definitions(),
    )
    result = await bench.part(request=request, timeouts=timeouts_within(300), runs_written=lambda: True)
    assert result.outcome == "completed"
    assert saved == ["buy milk"]
    assert "save_note" not in bench.shown(TextDelta)


async def test_a_document_ends_in_a_state(user: User, references: None, work_off: WorkOff) -> None:
    (document,) = await upload(user, ("letter.txt", "Dear Ada, please pay 80 euros by Friday. Grace"))
    await work_off()
    await in_database(document.refresh_from_db)
    assert document.state in (DocumentState.FILED, DocumentState.REVIEW, DocumentState.FAILED)


async def test_the_base_and_the_tools_of_a_compact_request_take_few_tokens_by_the_models_own_count(
    user: User, with_tools: Address
) -> None:
    async with PracticeServer(keeps_bodies=True, tokens_per_second=0) as practice:
        session = await in_database(open_conversation, user)
        async with AnthropicClient("practice", practice.url) as client:
            with used(with_tools):
                await asyncio.to_thread(model_server)
                await Talk(practice, client, client, session).say("Hello")
        (body,) = [request.body for request in practice.requests]
    hello: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello"}]}
    base = {"system": body["system"][:1], "tools": body["tools"]}
    tokens = await asyncio.to_thread(counted, with_tools, {**hello, **base})
    assert 2_000 < tokens <= MOST_BASE_TOKENS
    assert (
        await asyncio.to_thread(counted, with_tools, {**hello, "system": body["system"][:1]}) < tokens - 500
    )


def counted(address: Address, body: dict[str, Any]) -> int:
    """Return how many tokens a prompt has."""
    request = Request(
        f"{address.url}/v1/messages/count_tokens",
        data=json.dumps({"model": MODEL, **body}).encode(),
        headers={"content-type": "application/json", "x-api-key": address.api_key},
    )
    with urlopen(request, timeout=60) as answer:
        return int(json.load(answer)["input_tokens"])


@pytest.mark.parametrize(("server", "has_tools"), [("plain", False), ("with_tools", True)])
async def test_check_model_tells_whether_tools_reach_the_model(
    server: str, has_tools: bool, request: pytest.FixtureRequest
) -> None:
    address: Address = request.getfixturevalue(server)
    with used(address):
        async with client_of(address) as client:
            found = await check_model(client, seconds=120)
    assert (found.is_reached, found.failure, found.server, found.is_local) == (True, "", "llama.cpp", True)
    assert (found.has_tools, found.context_tokens, found.is_streaming) == (has_tools, CONTEXT, True)
    assert any(each.startswith("Tools don't reach the model") for each in found.advice) is not has_tools
    assert found.tokens_read_per_second
    assert found.tokens_written_per_second
    assert any(
        line.startswith("tools       yes" if has_tools else "tools       no") for line in lines_of(found)
    )


async def test_check_model_says_that_the_practice_model_is_a_script() -> None:
    async with (
        PracticeServer(tokens_per_second=0) as practice,
        AnthropicClient("practice", practice.url) as client,
    ):
        with override_settings(IS_PRACTICE_MODEL=True):
            found = await check_model(client)
    assert (found.is_reached, found.server, found.is_local) == (True, "practice", False)
    assert found.advice == [
        "It is a script: for a model set ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL or SAGE_MODEL_FILE."
    ]
