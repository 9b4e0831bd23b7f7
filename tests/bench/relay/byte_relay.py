"""The baseline: a relay that forwards the upstream's bytes to the socket.

No parsing, storage or sign-in: the least that a Python relay can do. The upstream's address is in the
environment (`BENCH_UPSTREAM`); `BENCH_RELAY_CLIENT` selects the HTTP client.
"""

import asyncio
import json
import os
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

UPSTREAM = os.environ.get("BENCH_UPSTREAM", "http://127.0.0.1:1")
_CLIENTS = {"httpx": anthropic.DefaultAsyncHttpxClient, "aiohttp": anthropic.DefaultAioHttpClient}


def _client() -> Any:
    make = _CLIENTS[os.environ.get("BENCH_RELAY_CLIENT", "httpx")]
    return make(base_url=UPSTREAM, limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=200))


@asynccontextmanager
async def _lifespan(app: Starlette) -> Any:
    app.state.client = _client()
    yield
    await app.state.client.aclose()


async def relay(websocket: WebSocket) -> None:
    """Answer each message with the bytes of an upstream stream."""
    await websocket.accept("sage.json")
    await websocket.send_text('{"sync": {"status": "idle"}}')
    try:
        while True:
            frame = json.loads(await websocket.receive_text())
            await _relay_one(websocket, frame["text"])
    except (WebSocketDisconnect, asyncio.CancelledError):
        return


async def _relay_one(websocket: WebSocket, text: str) -> None:
    request = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 8192,
        "stream": True,
        "messages": [{"role": "user", "content": text}],
    }
    async with websocket.app.state.client.stream("POST", "/v1/messages", json=request) as response:
        async for chunk in response.aiter_raw():
            await websocket.send_text(chunk.decode())
    await websocket.send_text('{"done": {}}')


app = Starlette(routes=[WebSocketRoute("/ws/sessions/{session}/", relay)], lifespan=_lifespan)
