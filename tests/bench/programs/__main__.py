"""Measures first words of other people without a flood of requests of one token, with it, and without again.

The flood is 300 requests a second; the default limit is 120 a minute. Before, it is sent to a server of
nothing: its sender shares a core with the people who write and with the model, which takes some milliseconds
by itself. Prints what became of the requests, the first words of each part, their ratios, and the CPU time of
a refused request.
"""

import argparse
import asyncio
import os
import random
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.programs.flood import Answers, flooding
from tests.bench.relay.load import first_token_ms, percentile
from tests.bench.relay.machine import Machine, Server, free_port
from tests.bench.relay.product import Product, open_product
from tests.bench.relay.sockets import Address
from tests.printing import say

ASKED_EVERY = 0.25
"""Mean seconds between two messages of other people. When each is sent is random: a rate of two requests a
second lets one pass every half second, which would meet either half of all messages or none."""
ELSEWHERE, FLOODED = "with the flood elsewhere", "with the flood"
PARTS = ("without", ELSEWHERE, FLOODED, "without again")
BEGINNING = 20
"""Messages while the flood begins, which are said apart: its first requests are within the rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """First words in milliseconds, and the CPU seconds of web process and database."""

    first_ms: Sequence[float]
    cpu: float
    seconds: float


def main() -> None:
    """Run the measurement and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.programs")
    parser.add_argument("--rate", type=int, default=300)
    parser.add_argument("--seconds", type=int, default=25)
    arguments = parser.parse_args()
    asked = int(arguments.seconds / ASKED_EVERY)
    with tempfile.TemporaryDirectory(prefix="sage-", ignore_cleanup_errors=True) as name:
        port, folder = free_port(), Path(name)
        with Machine(folder) as machine:
            upstream = ["-m", "tests.bench.relay.upstream", "--port", str(port)]
            machine.start("upstream", upstream, port=port, is_server=False)
            with open_product(
                folder, upstream_port=port, users=len(PARTS) * asked + 2 * BEGINNING, sessions=1, files=1
            ) as product:
                web = product.start_web(machine)
                elsewhere = free_port()
                program = ["-m", "tests.bench.programs.elsewhere", "--port", str(elsewhere)]
                machine.start("elsewhere", program, port=elsewhere, is_server=False)
                try:
                    asyncio.run(_measure(product, web, elsewhere, rate=arguments.rate, asked=asked))
                finally:
                    if "Traceback" in (log := web.log.read_text(errors="replace")):
                        say(log[-4000:])
                    machine.end(web)


async def _measure(product: Product, web: Server, elsewhere: int, *, rate: int, asked: int) -> None:
    secret = product.run("tests.bench.programs.seed")
    people = [person.addresses(web.port)[0] for person in product.chats]
    await first_token_ms(people[-2 * BEGINNING : -BEGINNING])
    parts: dict[str, Part] = {}
    answers, counted = Answers(), 0
    beginning = people[-BEGINNING:]
    for number, name in enumerate(PARTS):
        own = people[number * asked : (number + 1) * asked]
        if name == ELSEWHERE:
            async with flooding(elsewhere, secret, rate=rate):
                parts[name] = await _ask(product, web, own)
        elif name == FLOODED:
            async with flooding(web.port, secret, rate=rate) as flood:
                _say_part("as the flood begins", await _ask(product, web, beginning))
                counted = -await flood.count()
                parts[name] = await _ask(product, web, own)
                counted += await flood.count()
            answers = flood.answers
        else:
            parts[name] = await _ask(product, web, own)
        _say_part(name, parts[name])
        await asyncio.sleep(2)
    _say_flood(parts, answers, counted=counted)


def _say_part(name: str, part: Part) -> None:
    say(
        f"{name}: first words p50 {percentile(part.first_ms, 0.5):.1f} ms, "
        f"p95 {percentile(part.first_ms, 0.95):.1f} ms of {len(part.first_ms)}; "
        f"CPU {part.cpu:.1f} s in {part.seconds:.0f} s, load average {os.getloadavg()[0]:.1f}"
    )


def _say_flood(parts: dict[str, Part], answers: Answers, *, counted: int) -> None:
    before, elsewhere, during, after = (parts[name] for name in PARTS)
    say(f"the flood got {dict(sorted(answers.statuses.items()))}, without an answer {dict(answers.failures)}")
    say(f"refused without Retry-After: {answers.without_wait}")
    for share in (0.5, 0.95):
        rest = statistics.mean(percentile(part.first_ms, share) for part in (before, after))
        again = percentile(after.first_ms, share) / percentile(before.first_ms, share)
        ratio = percentile(during.first_ms, share) / rest
        sent = ratio * rest / percentile(elsewhere.first_ms, share)
        say(
            f"first words p{share:.0%}: with the flood × {ratio:.2f}, of those with the flood elsewhere × "
            f"{sent:.2f}; without again × {again:.2f}"
        )
    cost = during.cpu - (before.cpu + after.cpu) / 2
    say(f"CPU ms of a request of the flood: {cost * 1000 / max(1, counted):.2f}")


async def _ask(product: Product, web: Server, people: Sequence[Address]) -> Part:
    """Have people write one after another, each in a conversation of their own."""
    loop = asyncio.get_running_loop()
    began, cpu = loop.time(), web.cpu_seconds() + product.database_cpu_seconds()
    first_ms: list[float] = []
    sent = random.Random(len(people))
    for number, address in enumerate(people):
        due = began + (number + sent.random()) * ASKED_EVERY
        await asyncio.sleep(max(0.0, due - loop.time()))
        first_ms += await first_token_ms([address], warm_up=0)
    used = web.cpu_seconds() + product.database_cpu_seconds() - cpu
    return Part(first_ms=first_ms, cpu=used, seconds=loop.time() - began)


if __name__ == "__main__":
    main()
