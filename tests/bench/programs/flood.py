"""A program that sends requests at a fixed rate, whatever becomes of them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp

CONNECTIONS = 400
"""Most refusals come a second later: with fewer connections, fewer than 300 a second would arrive."""
TIMEOUT = aiohttp.ClientTimeout(total=30)


@dataclass(slots=True)
class Answers:
    """What a flood got: statuses, refusals without `Retry-After`, and requests without an answer."""

    statuses: Counter[int] = field(default_factory=Counter)
    without_wait: int = 0
    failures: Counter[str] = field(default_factory=Counter)


@asynccontextmanager
async def flooding(port: int, secret: str, *, rate: int) -> AsyncIterator[Answers]:
    """Send `rate` requests a second in the background until the block ends; then wait for the answers."""
    answers, sent = Answers(), set[asyncio.Task[None]]()
    headers = {"Authorization": f"Bearer {secret}"}
    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    origin = f"http://localhost:{port}"
    async with aiohttp.ClientSession(origin, headers=headers, connector=connector, timeout=TIMEOUT) as client:
        sending = asyncio.create_task(_send_all(client, answers, sent, rate=rate))
        try:
            yield answers
        finally:
            sending.cancel()
            await asyncio.gather(sending, *sent, return_exceptions=True)


async def _send_all(
    client: aiohttp.ClientSession, answers: Answers, sent: set[asyncio.Task[None]], *, rate: int
) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        task = loop.create_task(_send(client, answers))
        sent.add(task)
        task.add_done_callback(sent.discard)
        due += 1 / rate
        await asyncio.sleep(max(0.0, due - loop.time()))


async def _send(client: aiohttp.ClientSession, answers: Answers) -> None:
    try:
        async with client.get("/api/files?limit=1") as response:
            await response.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        answers.failures[type(error).__name__] += 1
        return
    answers.statuses[response.status] += 1
    if response.status >= 400 and "Retry-After" not in response.headers:
        answers.without_wait += 1
