"""Measures the pause that a reader sees while a tool saves, on disk and on a slow storage.

One reader at a time, a real web process with its own PostgreSQL, and the practice model without delay: the
time between the end of its first answer and its second request is ours. Everything listens on 127.0.0.1 only,
is bounded in count and time, and is ended by pid.
"""

import argparse
import asyncio
import http.client
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import websockets

from coaching.practice.api.records import ReceivedRequest
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from tests.bench.relay.load import percentile
from tests.bench.relay.machine import Machine, free_port
from tests.bench.relay.product import Person, Product, open_product
from tests.bench.relay.sockets import Address
from tests.printing import say

PEOPLE = 10
TURN_SECONDS = 30.0
RUN_SECONDS = 900.0
ANSWER_DELAY_SECONDS = 0.1
BUCKET = "bench"
CONTENT = "# Note\n\n" + "What was said about work, rest and the people that matter. " * 34
"""About 2 kB, the size of a usual file."""


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage and its limit for the pause's 95th percentile."""

    name: str
    bar_ms: float


DISK = Storage("disk", 100.0)
S3 = Storage("S3, each answer 100 ms late", 500.0)


@dataclass(slots=True)
class Pauses:
    """Measured milliseconds, at the model and at the reader."""

    upstream: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)


class SlowProxy:
    """In front of the S3 server: delays each byte of a response, including `100 Continue`."""

    def __init__(self, port: int, upstream_port: int) -> None:
        self.puts = 0
        self._port = port
        self._upstream_port = upstream_port

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        """Listen until left; end what uses it before."""
        server = await asyncio.start_server(self._connect, "127.0.0.1", self._port)
        try:
            yield
        finally:
            server.close()
            await server.wait_closed()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, upstream_writer = await asyncio.open_connection("127.0.0.1", self._upstream_port)
        await asyncio.gather(self._ask(reader, upstream_writer), _answer_late(upstream, writer))

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(65536):
            self.puts += chunk.startswith(b"PUT /")
            writer.write(chunk)
        writer.close()


async def _answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    while chunk := await reader.read(65536):
        loop.call_later(ANSWER_DELAY_SECONDS, writer.write, chunk)
    loop.call_later(ANSWER_DELAY_SECONDS, writer.close)


def main() -> int:
    """Measure both storages, print the table, and return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.tool_pause")
    parser.add_argument("--calls", type=int, default=100, help="turns with one call, on each storage")
    calls = parser.parse_args().calls
    if calls < 1:
        parser.error("--calls must be at least 1")
    say(_conditions())
    with tempfile.TemporaryDirectory(prefix="sage-", ignore_cleanup_errors=True) as name:
        measured = _measured(Path(name), calls)
    say(f"load average {os.getloadavg()[0]:.2f} at the end\n")
    say("| storage | pause | p50 ms | p95 ms | max ms | bar | met |\n|---|---|---|---|---|---|---|")
    are_met = [_show(storage, pauses) for storage, pauses in measured.items()]
    return 0 if all(are_met) else 1


def _measured(folder: Path, calls: int) -> dict[Storage, Pauses]:
    model_port, s3_port = free_port(), free_port()
    with Machine(folder) as machine:
        moto = ["-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(s3_port)]
        machine.start("s3", moto, port=s3_port, is_server=False)
        _make_bucket(s3_port)
        with open_product(folder, upstream_port=model_port, users=2 * PEOPLE, sessions=1, files=1) as product:
            run = _measure_both(product, machine, model_port=model_port, s3_port=s3_port, calls=calls)
            return asyncio.run(asyncio.wait_for(run, RUN_SECONDS))


async def _measure_both(
    product: Product, machine: Machine, *, model_port: int, s3_port: int, calls: int
) -> dict[Storage, Pauses]:
    proxy_port = free_port()
    proxy = SlowProxy(proxy_port, s3_port)
    async with (
        PracticeServer(keeps_bodies=True, port=model_port, tokens_per_second=0, answer=_answer) as model,
        proxy.serve(),
    ):
        on_disk = await _measure(product, machine, model, product.chats[:PEOPLE], calls)
        if proxy.puts:
            raise RuntimeError("the disk's run wrote to S3")
        product.environment |= {
            "SAGE_S3_BUCKET": BUCKET,
            "SAGE_S3_ENDPOINT_URL": f"http://127.0.0.1:{proxy_port}",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_REGION": "eu-central-1",
        }
        on_s3 = await _measure(product, machine, model, product.chats[PEOPLE:], calls)
        if proxy.puts < calls:
            raise RuntimeError(f"only {proxy.puts} of {calls} objects went to S3")
        say(f"{calls} objects took {proxy.puts} PUT requests to S3")
    return {DISK: on_disk, S3: on_s3}


async def _measure(
    product: Product, machine: Machine, model: PracticeServer, people: list[Person], calls: int
) -> Pauses:
    """Let each of the people take a share of the turns, one after another."""
    web = await asyncio.to_thread(product.start_web, machine)
    pauses = Pauses()
    try:
        for place, person in enumerate(people):
            turns = len(range(place, calls, len(people)))
            await _converse(person.addresses(web.port)[0], model, turns, pauses)
    except BaseException:
        say(web.log.read_text(errors="replace")[-4000:])
        raise
    finally:
        # Before the database and the proxy stop.
        await asyncio.to_thread(machine.end, web)
    return pauses


async def _converse(address: Address, model: PracticeServer, turns: int, pauses: Pauses) -> None:
    async with websockets.connect(
        f"ws://localhost:{address.port}{address.path}",
        origin=websockets.Origin(f"http://localhost:{address.port}"),
        additional_headers={"Cookie": address.cookie},
        subprotocols=[websockets.Subprotocol("sage.json")],
        proxy=None,
    ) as connection:
        for number in range(turns):
            model.log.clear()
            async with asyncio.timeout(TURN_SECONDS):
                pauses.shown.append(await _take_turn(connection, f"Please write note {number} down."))
            pauses.upstream.append(_pause_ms(model.requests))


async def _take_turn(connection: websockets.ClientConnection, text: str) -> float:
    """Ask, read to the end, and return the milliseconds from `toolCall` to `toolDone`."""
    called_at: dict[str, float] = {}
    done_at: dict[str, float] = {}
    await connection.send(json.dumps({"type": "message", "text": text}))
    while True:
        frame = json.loads(await connection.recv())
        if "toolCall" in frame:
            called_at[frame["toolCall"]["id"]] = time.monotonic()
        elif "toolDone" in frame:
            done_at[frame["toolDone"]["id"]] = time.monotonic()
        elif "error" in frame:
            raise RuntimeError(f"the turn failed: {frame}")
        elif "done" in frame:
            break
    if len(called_at) != 1 or called_at.keys() != done_at.keys():
        raise RuntimeError(f"the turn had {len(called_at)} calls, {len(done_at)} of them done")
    ((tool_use_id, began_at),) = called_at.items()
    return (done_at[tool_use_id] - began_at) * 1000


def _pause_ms(records: list[ReceivedRequest]) -> float:
    """Return what lies between the turn's two rounds, by the practice model's own records."""
    # Background requests (summaries) have no tools.
    rounds = [record for record in records if record.body.get("tools")]
    if len(rounds) != 2 or rounds[0].finished_at is None:
        raise RuntimeError(f"the turn had {len(rounds)} rounds")
    results = _results(rounds[1].body)
    if len(results) != 1 or results[0].get("is_error") or "version" not in json.dumps(results[0]):
        raise RuntimeError(f"nothing was saved: {results}")
    return (rounds[1].received_at - rounds[0].finished_at) * 1000


def _answer(body: dict[str, Any]) -> Reply:
    """Save in the first round of a turn, close in the second."""
    if not body.get("tools"):
        return Reply.of("They talked about notes.")
    if _results(body):
        return Reply.of("It is written down.")
    return Reply.of(
        "I'll write that down.", ToolUse("save_file", {"file_type": "capture", "content": CONTENT})
    )


def _results(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return []
    return [block for block in content if block["type"] == "tool_result"]


def _make_bucket(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("PUT", f"/{BUCKET}")
    status = connection.getresponse().status
    connection.close()
    if status != 200:
        raise RuntimeError(f"the S3 server made no bucket: {status}")


def _show(storage: Storage, pauses: Pauses) -> bool:
    """Print the rows of one storage and return whether its bar is met."""
    p95 = percentile(pauses.upstream, 0.95)
    is_met = p95 < storage.bar_ms
    bar = f"p95 < {storage.bar_ms:.0f} ms | {'yes' if is_met else 'NO'}"
    say(f"| {storage.name} | answer's end to next request | {_figures(pauses.upstream)} | {bar} |")
    say(f"| {storage.name} | `toolCall` to `toolDone` | {_figures(pauses.shown)} | | |")
    return is_met


def _figures(values: list[float]) -> str:
    figures = (percentile(values, 0.5), percentile(values, 0.95), max(values))
    return " | ".join(f"{figure:.1f}" for figure in figures)


def _conditions() -> str:
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {platform.python_version()}, "
        f"{psutil.cpu_count()} cores, load average {os.getloadavg()[0]:.2f} at the start"
    )


if __name__ == "__main__":
    sys.exit(main())
