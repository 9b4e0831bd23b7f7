"""A practice server without delay, the real SDK, and plain HTTP for what the SDK won't send."""

import io
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import orjson
import pytest
from anthropic import AsyncAnthropic, DefaultAioHttpClient

from coaching.practice import PracticeServer
from coaching.practice.api.wire import whole_message
from coaching.practice.coach import acts, known_scenes, on_list, requested, thread
from coaching.safety import danger
from tests.forked_run import FORKS

MODEL = "claude-sonnet-5-5"
HEADERS = {"x-api-key": "practice", "anthropic-version": "2023-06-01", "content-type": "application/json"}
SAVE_FILE: dict[str, Any] = {
    "name": "save_file",
    "description": "Write something down.",
    "input_schema": {
        "type": "object",
        "properties": {
            "file_type": {"$ref": "#/$defs/FileType"},
            "file_name": {"type": "string"},
            "content": {"type": "string"},
        },
        "required": ["file_type", "content"],
        "$defs": {"FileType": {"enum": ["domain", "overview", "sage-context", "capture"]}},
    },
}
READ_FILE: dict[str, Any] = {"name": "read_file", "input_schema": {"type": "object"}}


def request_body(*texts: str, **changes: Any) -> dict[str, Any]:
    """Build a minimal valid body: user and assistant texts in turn, then `changes`."""
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts or ("Hello there",))]
    return {"model": MODEL, "max_tokens": 1000, "messages": messages, **changes}


def user(*blocks: Any) -> dict[str, Any]:
    """Build a user message of blocks; a string is a text block."""
    return {"role": "user", "content": _blocks(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    """Build an assistant message of blocks; a string is a text block."""
    return {"role": "assistant", "content": _blocks(blocks)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def call(call_id: str, name: str = "save_file", **values: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": values}


def result(call_id: str, content: str = "done", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def _blocks(blocks: Sequence[Any]) -> list[Any]:
    return [text(block) if isinstance(block, str) else block for block in blocks]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile once, before they are forked, what processes with talks would each compile."""
    if FORKS in session.config.stash:
        danger.read_words()
        acts.act_patterns()
        known_scenes.patterns()
        requested.request_patterns()
        thread.patterns()
        on_list.list_patterns()


class Http:
    """Sends what the SDK would never send; opens the server with the first request over a socket."""

    def __init__(self, server: PracticeServer) -> None:
        self._server = server
        self._opened = AsyncExitStack()
        self._session: aiohttp.ClientSession | None = None

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the message that answers a body, in this process; raises `ApiError` if it is refused."""
        exchange = self._server._exchanges.open(body, betas=frozenset(), api_key="practice")
        message: dict[str, Any] = orjson.loads(orjson.dumps(whole_message(exchange.answer)))
        return message

    async def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            if self._server._runner is None:
                await self._opened.enter_async_context(self._server)
            self._session = await self._opened.enter_async_context(aiohttp.ClientSession())
        return self._session

    async def close(self) -> None:
        """Close what was opened."""
        await self._opened.aclose()

    async def post(
        self, body: Any, path: str = "/v1/messages", headers: dict[str, str] | None = None
    ) -> tuple[int, Any, dict[str, str]]:
        """Post JSON, or bytes as they are; return status, parsed answer and headers."""
        data = io.BytesIO(body if isinstance(body, bytes) else orjson.dumps(body))
        chosen = HEADERS if headers is None else headers
        session = await self._open()
        async with session.post(self._server.url + path, data=data, headers=chosen) as answer:
            return answer.status, orjson.loads(await answer.read()), dict(answer.headers)

    async def stream(self, body: Any) -> bytes:
        """Post a streaming request and return the whole body as it came."""
        data = orjson.dumps({**body, "stream": True})
        session = await self._open()
        async with session.post(self._server.url + "/v1/messages", data=data, headers=HEADERS) as answer:
            return await answer.read()

    async def get(self, path: str) -> tuple[int, Any]:
        """Get a path; return status and parsed answer."""
        session = await self._open()
        async with session.get(self._server.url + path) as answer:
            return answer.status, orjson.loads(await answer.read())


class Clock:
    """Seconds that only pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def closed_server(clock: Clock) -> PracticeServer:
    """A practice server without a socket."""
    return PracticeServer(keeps_bodies=True, tokens_per_second=0, clock=clock)


@pytest.fixture
async def server(closed_server: PracticeServer) -> AsyncIterator[PracticeServer]:
    async with closed_server:
        yield closed_server


@pytest.fixture
async def client(server: PracticeServer, caplog: pytest.LogCaptureFixture) -> AsyncIterator[AsyncAnthropic]:
    caplog.set_level("WARNING", logger="httpx2")  # leave a line per request out of the report
    # Loading the CA certificates takes 60 ms, and there is no TLS here.
    http_client = DefaultAioHttpClient(verify=False)
    async with AsyncAnthropic(
        base_url=server.url, api_key="practice", max_retries=0, http_client=http_client
    ) as opened:
        yield opened


@pytest.fixture
async def http(closed_server: PracticeServer) -> AsyncIterator[Http]:
    opened = Http(closed_server)
    yield opened
    await opened.close()
