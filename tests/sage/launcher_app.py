"""A process with Sage's launcher and a small ASGI application, for tests of the launcher.

Arguments: the time limits for slow readers and for requests, in seconds.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sage.http_limits import HttpLimits
from sage.http_requests import Refusal, Sender
from sage.launcher import Lifecycle, run_web_server
from tests.printing import say

KILOBYTE = 1024
FLOOD_FRAMES = 400
UPLOAD_BYTES = 8 << 20
HELD_OF_ONE = 50
SPOOLED_BYTES = 2 * UPLOAD_BYTES
FLOOD_FRAME = "x" * (256 * KILOBYTE)


class Application:
    """Echoes frames; `flood` sends a flood; `work SECONDS` delays a drain; `nap SECONDS` stops reading.

    `burden SECONDS` holds up the loop again and again.
    """

    def __init__(self) -> None:
        self.running: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Serve one connection."""
        if scope["type"] == "http" and scope["path"] == "/":
            await self.answer(send)
        elif scope["type"] == "http" and scope["path"] == "/slow/":
            say("slow")
            await asyncio.sleep(1)
            await self.count(receive, send)
        elif scope["type"] == "http":
            await self.count(receive, send)
        else:
            await self.converse(receive, send)

    async def answer(self, send: Any) -> None:
        """Answer a request with 100 MB."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(FLOOD_FRAMES):
            await send({"type": "http.response.body", "body": FLOOD_FRAME.encode(), "more_body": True})
            say(f"body {number}")
        await send({"type": "http.response.body", "body": b""})

    async def count(self, receive: Any, send: Any) -> None:
        """Answer with the size of the body and of its largest piece."""
        sizes = []
        has_more = True
        while has_more:
            message = await receive()
            if message["type"] == "http.disconnect":
                say("gone")
                return
            sizes.append(len(message.get("body", b"")))
            has_more = message.get("more_body", False)
        answer = f"{sum(sizes)} {max(sizes)}".encode()
        headers = [(b"Content-Length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    async def converse(self, receive: Any, send: Any) -> None:
        """Serve a socket."""
        await receive()
        await send({"type": "websocket.accept"})
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                say(f"disconnected {message['code']}")
                return
            text = message.get("text") or ""
            if text == "flood":
                for number in range(FLOOD_FRAMES):
                    await send({"type": "websocket.send", "text": FLOOD_FRAME})
                    say(f"frame {number}")
            elif text.startswith("work "):
                task = asyncio.create_task(self.work(float(text.split()[1])))
                self.running.add(task)
                await send({"type": "websocket.send", "text": "started"})
            elif text.startswith("burden "):
                say("is burdened")
                await self.burden(float(text.split()[1]))
            elif text.startswith("nap "):
                say("naps")
                await asyncio.sleep(float(text.split()[1]))
            elif text == "close":
                await send({"type": "websocket.close", "code": 1008, "reason": "as asked"})
            elif text == "close and send":
                await send({"type": "websocket.close"})
                await send({"type": "websocket.send", "text": "too late"})
            else:
                await send({"type": "websocket.send", "text": str(len(text))})

    async def work(self, seconds: float) -> None:
        """Work for some time, like a turn."""
        await asyncio.sleep(seconds)
        say("work is done")

    async def burden(self, seconds: float) -> None:
        """Let every round of the loop take long."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            time.sleep(0.1)  # noqa: ASYNC251 - the loop is to be held up
            await asyncio.sleep(0)

    async def drain(self, seconds: float) -> None:
        """Wait for the work."""
        if self.running:
            await asyncio.wait(self.running, timeout=seconds)
        say("drained")


def refused(sender: Sender) -> Refusal | None:
    """Refuse a program, after the seconds that it sends as `Authorization`."""
    if not (by := sender.authorization):
        return None
    return Refusal(seconds=1, body=b"{}", delay=float(by), by=by.encode())


@asynccontextmanager
async def service() -> AsyncIterator[None]:
    """Report when the service starts and ends."""
    say("service begins")
    yield
    say("service ends")


if __name__ == "__main__":
    application = Application()
    run_web_server(
        application,
        host="127.0.0.1",
        port=0,
        slow_reader_seconds=float(sys.argv[1]),
        limits=HttpLimits(
            uploads={"/upload/": UPLOAD_BYTES},
            programs=("/programs/",),
            refused=refused,
            spooled_bytes=SPOOLED_BYTES,
            uploader_bytes=UPLOAD_BYTES,
            held_of_one=HELD_OF_ONE,
            uploader_of=lambda cookies: cookies.removeprefix("person="),
            translated=lambda sentence, accepted: accepted + sentence,
            request_seconds=float(sys.argv[2]),
            idle_seconds=2 * float(sys.argv[2]),
        ),
        lifecycle=Lifecycle(
            service=service,
            drain=application.drain,
            on_ready=lambda port: say(f"port {port}"),
        ),
    )
