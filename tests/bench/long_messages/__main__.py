"""Prints how fast another person's page is while others send messages of 20,000 characters.

Three threads of one person send, then four people; each sends every shape in turn (`shapes.py`), by the form
that waits for the answer. They do so with the practice model, which runs in the web process, and with another
model, which answers at a fixed rate. The web process has a core to itself, which PostgreSQL shares.
"""

import argparse
import asyncio
import itertools
import os
import re
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import psycopg

from tests.bench.long_messages.shapes import MESSAGES
from tests.bench.relay.load import percentile
from tests.bench.relay.machine import Machine, Server, free_port
from tests.bench.relay.product import Person, Product, open_product
from tests.printing import say

TOKEN = "t" * 32
LIMIT_SECONDS = 0.5
WATCH_SECONDS = 0.25
SETTLE_SECONDS = 90
RATE = "bench:50:100"
"""The other model's answer: 100 tokens, 50 in a second."""
_REFUSAL = re.compile(
    r"Please wait \d+ seconds? and send it again|Please wait for one to finish|You can stop it, or wait"
)


@dataclass(slots=True)
class Seen:
    """What the posters and the other person saw. Times in seconds."""

    answers: Counter[str] = field(default_factory=Counter)
    posts: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    acknowledged: list[str] = field(default_factory=list)


def main() -> None:
    """Run the phases and print a row for each; exit 1 if one misses a limit."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.long_messages")
    parser.add_argument("--seconds", type=int, default=60, help="of each phase")
    parser.add_argument("--models", nargs="+", default=["practice", "other"], choices=["practice", "other"])
    parser.add_argument("--rate-limit", default="20/60s", help="SAGE_RATE_LIMIT of the web process")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sage-", ignore_cleanup_errors=True) as name:
        is_met = asyncio.run(_measure(Path(name), arguments))
    sys.exit(0 if is_met else 1)


async def _measure(folder: Path, arguments: argparse.Namespace) -> bool:
    port = free_port()
    with Machine(folder) as machine:
        machine.start(
            "upstream", ["-m", "tests.bench.relay.upstream", "--port", str(port)], port=port, is_server=False
        )
        loop = asyncio.get_running_loop()
        opened = open_product(folder, upstream_port=port, users=4, sessions=3, files=10)
        product = await loop.run_in_executor(None, opened.__enter__)
        try:
            met = [await _phases(machine, product, model, arguments) for model in arguments.models]
        finally:
            await loop.run_in_executor(None, opened.__exit__, None, None, None)
    return all(met)


async def _phases(machine: Machine, product: Product, model: str, arguments: argparse.Namespace) -> bool:
    environment = product.environment | {"SAGE_RATE_LIMIT": arguments.rate_limit}
    if model == "practice":
        del environment["ANTHROPIC_BASE_URL"], environment["ANTHROPIC_API_KEY"]
    served = replace(product, environment=environment)
    server = await asyncio.to_thread(served.start_web, machine, f"web-{model}")
    threads = [(product.fresh, session) for session in product.fresh.sessions]
    people = [(person, person.sessions[0]) for person in product.chats]
    is_met = True
    try:
        with served.database_on_core_of(server):
            await _warm_up(server.port, product.rich)
            for name, posters in (("three threads of one person", threads), ("four people", people)):
                is_met &= await _phase(served, server, f"{model}, {name}", posters, arguments.seconds)
    finally:
        await asyncio.to_thread(machine.end, server)
    return is_met


async def _phase(
    product: Product, server: Server, name: str, posters: Sequence[tuple[Person, str]], seconds: int
) -> bool:
    seen = Seen()
    late = _late_beats(server)
    cpu, began = server.cpu_seconds(), time.monotonic()
    watching = asyncio.ensure_future(_watch(server.port, product.rich, seen))
    texts = itertools.cycle(MESSAGES)
    try:
        await asyncio.gather(
            *(_post(server.port, *poster, texts, seen, until=began + seconds) for poster in posters)
        )
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    share = (server.cpu_seconds() - cpu) / (time.monotonic() - began)
    lost = await _lost(product, seen.acknowledged)
    late = _late_beats(server)[len(late) :]
    _report(name, seen, share=share, late=late, lost=lost)
    times = (percentile(seen.pages, 0.95), percentile(seen.health, 0.95))
    return max(times) <= LIMIT_SECONDS and not (late or lost or seen.refused)


async def _post(port: int, person: Person, session: str, texts: Any, seen: Seen, *, until: float) -> None:
    path = f"/chat/{session}/message/"
    async with _client(port, person) as client:
        while time.monotonic() < until:
            client_id = str(uuid.uuid4())
            # The other model reads its rate from the message.
            fields = {"text": f"{next(texts)[: -len(RATE) - 1]} {RATE}", "id": client_id}
            began = time.monotonic()
            async with client.post(path, data=fields, allow_redirects=False) as response:
                page = (await response.read()).decode(errors="replace")
                seen.posts.append(time.monotonic() - began)
                seen.answers[str(response.status)] += 1
                if response.status == 303:
                    seen.acknowledged.append(client_id)
                elif found := _REFUSAL.search(page):
                    seen.answers[f"“{re.sub(r'[0-9]+', 'N', found[0])}”"] += 1
                else:
                    seen.answers["without a reason"] += 1
            if response.status != 303:
                await asyncio.sleep(0.2)


async def _warm_up(port: int, person: Person) -> None:
    """Let the web process import its client and compile its templates."""
    async with _client(port, person) as client:
        fields = {"text": f"Hello. {RATE}", "id": str(uuid.uuid4())}
        for session in person.sessions:
            async with client.post(f"/chat/{session}/message/", data=fields) as response:
                response.raise_for_status()
                await response.read()


async def _watch(port: int, person: Person, seen: Seen) -> None:
    async with _client(port, person) as client:
        for paths in itertools.cycle([("/", seen.pages), (f"/chat/{person.sessions[0]}/", seen.pages)]):
            for path, times in (paths, ("/healthz", seen.health)):
                began = time.monotonic()
                async with client.get(path, allow_redirects=False) as response:
                    await response.read()
                    times.append(time.monotonic() - began)
                    if response.status not in {200, 302}:
                        seen.refused[f"{path} {response.status}"] += 1
            await asyncio.sleep(WATCH_SECONDS)


def _client(port: int, person: Person) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        f"http://localhost:{port}",
        headers={"Cookie": f"csrftoken={TOKEN}; {person.cookie}", "X-CSRFToken": TOKEN},
        cookie_jar=aiohttp.DummyCookieJar(),
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=120),
    )


async def _lost(product: Product, acknowledged: Sequence[str]) -> int:
    """Return how many acknowledged messages have no completed turn after a while."""
    query = """
        SELECT count(*) FROM sessions_app_message m JOIN sessions_app_turn t ON t.id = m.turn_id
        WHERE m.client_id = ANY(%s) AND t.status = 'completed'
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    async with await psycopg.AsyncConnection.connect(
        product.environment["DATABASE_URL"], autocommit=True
    ) as connection:
        while True:
            row = await (await connection.execute(query, [list(acknowledged)])).fetchone()
            lost = len(acknowledged) - int(row[0] if row else 0)
            if not lost or time.monotonic() > deadline:
                return lost
            await asyncio.sleep(0.5)


def _late_beats(server: Server) -> list[str]:
    return [line for line in server.log.read_text(errors="replace").splitlines() if "late_heartbeat" in line]


def _report(name: str, seen: Seen, *, share: float, late: Sequence[str], lost: int) -> None:
    say(f"{name}: load average {os.getloadavg()[0]:.1f}, web process {share:.0%} of a core")
    for what, times in (("page", seen.pages), ("/healthz", seen.health), ("post", seen.posts)):
        middle, nearly, most = (percentile(times, part) * 1000 for part in (0.5, 0.95, 1.0))
        say(f"  {what}, ms: p50 {middle:.0f}, p95 {nearly:.0f}, max {most:.0f} of {len(times)}")
    answers = ", ".join(f"{count} × {answer}" for answer, count in sorted(seen.answers.items()))
    say(f"  posts: {answers}; answers lost: {lost}")
    say(f"  others refused: {dict(seen.refused) or 'none'}; late heartbeats: {len(late)}")
    for line in late:
        say(f"    {line[:200]}")


if __name__ == "__main__":
    main()
