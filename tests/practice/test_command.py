"""`python -m coaching.practice`: it serves alone, at a rate, and stops on a signal."""

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import orjson
import pytest

from tests.patience import patience
from tests.practice.conftest import HEADERS, request_body


@asynccontextmanager
async def running(*arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Run the command; yield its process and URL."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "coaching.practice", *arguments, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        match = re.fullmatch(r"practice model on (http://127\.0\.0\.1:\d+)\n", line)
        assert match, line
        yield process, match[1]
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def stream(url: str) -> tuple[bytes, float]:
    """Return the bytes of one streamed answer, and how many seconds it took."""
    body = orjson.dumps(request_body(stream=True))
    begun = asyncio.get_running_loop().time()
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/messages", data=body, headers=HEADERS) as answer,
    ):
        raw = await answer.read()
    return raw, asyncio.get_running_loop().time() - begun


@pytest.mark.parametrize("rate", ["0", "50"])
async def test_it_streams_at_a_rate_and_stops_on_sigterm(rate: str) -> None:
    async with running("--rate", rate) as (process, url):
        raw, elapsed = await stream(url)
        assert raw.count(b"text_delta") > 10
        assert raw.endswith(b'data: {"type":"message_stop"}      \n\n')
        assert elapsed > 0.5 if rate != "0" else elapsed < 0.5 * patience()
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_a_port_in_use_is_said_in_one_line() -> None:
    async with running() as (_, url):
        port = url.rsplit(":", 1)[1]
        second = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "coaching.practice", "--port", port, stderr=asyncio.subprocess.PIPE
        )
        _, said = await asyncio.wait_for(second.communicate(), 60)
    assert second.returncode == 1
    assert said.decode().count("\n") == 1
    assert port in said.decode()
