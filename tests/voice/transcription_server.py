"""A transcription server on a real socket: it keeps what it gets, and answers what the test says."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

PATH = "/v1/audio/transcriptions"
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request: its form without the file, the file's bytes, and its headers."""

    form: dict[str, str]
    audio: bytes
    headers: dict[str, str]


@dataclass
class TranscriptionServer:
    """Answers `texts` one after another, then the last again; or `body` with `status` as they are.

    With `recognise`, it answers what that returns for the file.
    """

    texts: list[str] = field(default_factory=lambda: ["marked words"])
    usage: dict[str, Any] | None = None
    status: int = 200
    body: str | None = None
    recognise: Callable[[bytes], str] | None = None
    content_type: str = "application/json"
    requests: list[Request] = field(default_factory=list)
    url: str = ""
    refuses: str = ""
    """A `response_format` that is answered with 400."""
    waits: asyncio.Event | None = None
    """If set, each request is answered only once this is."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        self.requests.append(Request(form=fields, audio=file.file.read(), headers=dict(request.headers)))
        self.begun.set()
        if self.waits is not None:
            await self.waits.wait()
        if self.recognise is not None:
            text = await asyncio.to_thread(self.recognise, self.requests[-1].audio)
            return web.json_response({"text": text})
        headers = {"Location": "/elsewhere"} if self.status in (301, 302, 307) else {}
        if self.refuses and fields.get("response_format") == self.refuses:
            return web.Response(status=400)
        return web.Response(
            text=self._text(), status=self.status, content_type=self.content_type, headers=headers
        )

    def _text(self) -> str:
        if self.body is not None:
            return self.body
        text = self.texts[min(len(self.requests), len(self.texts)) - 1]
        return json.dumps({"text": text} | ({"usage": self.usage} if self.usage else {}))


@asynccontextmanager
async def transcription_server(port: int = 0) -> AsyncIterator[TranscriptionServer]:
    """Serve on a port of this machine."""
    server = TranscriptionServer()
    app = web.Application(client_max_size=MOST_BYTES)
    app.router.add_post(PATH, server.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        if server.waits is not None:
            server.waits.set()
        await runner.cleanup()
