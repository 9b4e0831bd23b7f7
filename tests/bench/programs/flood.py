"""A program that sends requests at a fixed rate, whatever becomes of them.

It has a process of its own: in that of the people who write, it would delay what is measured there.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp

CONNECTIONS = 400
"""Most refusals come a second later: with fewer connections, fewer than 300 a second would arrive."""
TIMEOUT = aiohttp.ClientTimeout(total=30)


@dataclass
class Answers:
    """What a flood got: statuses, refusals without `Retry-After`, and requests without an answer."""

    statuses: Counter[int] = field(default_factory=Counter)
    without_wait: int = 0
    failures: Counter[str] = field(default_factory=Counter)


class Flood:
    """A running flood, and what it has got so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.answers = Answers()

    async def count(self) -> int:
        """Return how many requests were answered so far."""
        assert self._process.stdin
        self._process.stdin.write(b"\n")
        await self._read()
        return self.answers.statuses.total()

    async def end(self) -> None:
        """Send nothing more, and take what the rest got."""
        assert self._process.stdin
        self._process.stdin.close()
        await self._read()
        await self._process.wait()

    async def _read(self) -> None:
        assert self._process.stdout
        got = json.loads(await self._process.stdout.readline())
        statuses = Counter({int(status): count for status, count in got["statuses"].items()})
        self.answers = Answers(statuses, got["without_wait"], Counter(got["failures"]))


@asynccontextmanager
async def flooding(port: int, secret: str, *, rate: int) -> AsyncIterator[Flood]:
    """Send `rate` requests a second from another process until the block ends; then wait for the answers."""
    program = ("-m", "tests.bench.programs.flood", "--port", str(port), "--rate", str(rate))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *program, stdin=pipe, stdout=pipe)
    assert process.stdin
    process.stdin.write(f"{secret}\n".encode())
    flood = Flood(process)
    try:
        yield flood
    finally:
        await flood.end()


async def _main(port: int, rate: int) -> None:
    """Read the token, then say what was got at each further line, and at the end of the input."""
    secret = (await _line()).strip()
    async with _sending(port, secret, rate=rate) as answers:
        while await _line():
            _say(answers)
    _say(answers)


async def _line() -> str:
    return await asyncio.to_thread(sys.stdin.readline)


def _say(answers: Answers) -> None:
    sys.stdout.write(json.dumps(vars(answers)) + "\n")
    sys.stdout.flush()


@asynccontextmanager
async def _sending(port: int, secret: str, *, rate: int) -> AsyncIterator[Answers]:
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.programs.flood")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rate", type=int, required=True)
    arguments = parser.parse_args()
    asyncio.run(_main(arguments.port, arguments.rate))
