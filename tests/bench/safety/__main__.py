"""Prints what the second look costs a turn's first token, and when its card comes.

Two web processes on one database, one of which takes no second look, are asked in turn. The model answers
turns at once and second looks after 600 ms; it runs in this process, on another core than theirs.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp

from coaching.practice.judge import judge_by_labels
from coaching.practice.script import Reply, Text
from coaching.practice.server import PracticeServer
from tests.bench.relay.load import percentile
from tests.bench.relay.machine import Machine
from tests.bench.relay.product import Person, Product, open_product
from tests.printing import say

MODEL = "claude-haiku-5-5"
LOOK_SECONDS = 0.6
MAX_CARD_SECONDS = 1.0
MAX_LATER_MS = 5.0
ANSWER_SECONDS = 30
WARM_UP = 5
HINT = "Ma ei tea, kas ma homme enam siin olen."
"""Danger without a word that the rules know: Estonian for "I don't know if I'll still be here tomorrow"."""
PLAIN = "We talked about the garden again, and about who waters it in July."


class Upstream(PracticeServer):
    """Answers every turn alike."""

    def default_answer(self, body: dict[str, Any]) -> Reply:
        """Answer at once."""
        return Reply.of(Text("Tell me more about it."), tokens_per_second=0.0)


def main() -> None:
    """Run the measurement and print its rows."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.safety")
    parser.add_argument("--turns", type=int, default=60, help="for each of the two, and as many cards")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sage-", ignore_cleanup_errors=True) as name:
        asyncio.run(_measure(Path(name), turns=arguments.turns + WARM_UP))


async def _measure(folder: Path, *, turns: int) -> None:
    async with Upstream(tokens_per_second=0) as upstream:
        upstream.judge = judge_by_labels({HINT: "immediate"}, seconds=LOOK_SECONDS)
        port = int(upstream.url.rsplit(":", 1)[1])
        with Machine(folder) as machine:
            loop = asyncio.get_running_loop()
            opened = open_product(folder, upstream_port=port, users=turns, sessions=1, files=1)
            product = await loop.run_in_executor(None, opened.__enter__)
            try:
                await _ask(machine, product)
            finally:
                await loop.run_in_executor(None, opened.__exit__, None, None, None)


async def _ask(machine: Machine, product: Product) -> None:
    looking = replace(product, environment={**product.environment, "SAGE_SAFETY_MODEL": MODEL})
    off = await asyncio.to_thread(product.start_web, machine, "web without")
    on = await asyncio.to_thread(looking.start_web, machine, "web with")
    try:
        without: list[float] = []
        with_look: list[float] = []
        cards: list[float] = []
        async with aiohttp.ClientSession() as client:
            pairs = [(off.port, without), (on.port, with_look)]
            for person in product.chats:
                pairs.reverse()  # a session's first turn takes longer
                for port, firsts in pairs:
                    firsts.append((await _times(client, port, person, PLAIN))["text"])
                cards.append((await _times(client, on.port, person, HINT, until="safety"))["safety"])
                await asyncio.sleep(0.05)
    finally:
        machine.end(on)
        machine.end(off)
    _report(without[WARM_UP:], with_look[WARM_UP:], cards[WARM_UP:])


async def _times(
    client: aiohttp.ClientSession, port: int, person: Person, text: str, *, until: str = "done"
) -> dict[str, float]:
    """Send a message; return the seconds to the first frame of each kind, up to `until` and the end."""
    url = f"http://localhost:{port}/ws/sessions/{person.sessions[0]}/"
    headers = {"Cookie": person.cookie, "Origin": f"http://localhost:{port}"}
    times: dict[str, float] = {}
    async with client.ws_connect(url, headers=headers, protocols=["sage.json"]) as chat:
        async with asyncio.timeout(ANSWER_SECONDS):
            while "sync" not in await _frame(chat):
                pass
            sent = time.monotonic()
            await chat.send_str(json.dumps({"type": "message", "text": text}))
            while not {until, "done"} <= times.keys():
                for kind in await _frame(chat):
                    times.setdefault(kind, time.monotonic() - sent)
    return times


async def _frame(chat: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    frame: dict[str, Any] = json.loads(await chat.receive_str())
    return frame


def _report(without: Sequence[float], with_look: Sequence[float], cards: Sequence[float]) -> None:
    rows = {"first token without it": without, "first token with it": with_look, "card": cards}
    say(f"{len(cards)} turns each, load average {os.getloadavg()[0]:.2f}")
    for name, times in rows.items():
        middle, late = percentile(times, 0.5) * 1000, percentile(times, 0.95) * 1000
        say(f"{name}, ms after the message: p50 {middle:.1f}, p95 {late:.1f}, max {max(times) * 1000:.1f}")
    later = (statistics.median(with_look) - statistics.median(without)) * 1000
    say(f"first token later by {later:.1f} ms (at most {MAX_LATER_MS:g})")
    in_time = sum(seconds <= MAX_CARD_SECONDS for seconds in cards)
    say(f"{in_time} of {len(cards)} cards within {MAX_CARD_SECONDS:g} s")


if __name__ == "__main__":
    main()
