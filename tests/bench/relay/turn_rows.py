"""The rows about what a turn costs before its first and after its last token, whatever its length.

CPU is that of all processes, PostgreSQL's too, which runs on the server's core meanwhile. Each row is
measured for the byte relay, for JSON frames and for HTML fragments, in the same sessions.
"""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.relay.load import Clock, Run, opened_chats, percentile, run_chats
from tests.bench.relay.machine import Server
from tests.bench.relay.rows import Field
from tests.bench.relay.sockets import Address, Chat, Tally

SHORT_CHATS = 25
BURST_CHATS = 50
TURN_SECONDS = 30.0
SHORT_TURN = "Please measure. bench:50:2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of those that are compared, and its bars: for a short turn, a burst, and a longer turn."""

    name: str
    server: Server
    addresses: Sequence[Address]
    database_cpu: Clock = lambda: 0.0
    most_turn_ms: float | None = None
    most_first_ms: float | None = None
    most_ratio: float | None = None

    def cpu_seconds(self) -> float:
        """Return the CPU time of all its processes so far."""
        return self.server.cpu_seconds() + self.database_cpu()


def _sides(field: Field, chats: int) -> list[Side]:
    cpu = field.product.database_cpu_seconds
    return [
        Side(name="byte relay", server=field.relay, addresses=field.relay_addresses(chats)),
        Side(
            name="JSON",
            server=field.web,
            addresses=field.web_addresses(chats),
            database_cpu=cpu,
            most_turn_ms=8,
            most_first_ms=400,
            most_ratio=1.6,
        ),
        Side(
            name="HTML",
            server=field.web,
            addresses=field.web_addresses(chats, is_html=True),
            database_cpu=cpu,
            most_turn_ms=10,
            most_first_ms=400,
            most_ratio=1.6,
        ),
    ]


async def measure_short(field: Field) -> None:
    """CPU of a turn of two tokens: one turn after another, over sockets that are open already."""
    sides = _sides(field, SHORT_CHATS)
    costs: dict[str, list[float]] = {side.name: [] for side in sides}
    with field.product.database_on_core_of(field.web):
        for _ in range(field.size.repeats):
            for side in sides:
                field.product.cover_with_briefs()
                costs[side.name].append(await _cpu_ms_of_a_turn(side, turns=field.size.short_turns))
                field.say(f"    {side.name}: {costs[side.name][-1]:.2f} ms a turn")
    for side in sides:
        cost, most = statistics.median(costs[side.name]), side.most_turn_ms
        bar, is_met = (f"≤ {most:g} ms", cost <= most) if most else ("", None)
        field.add(f"turn of 2 tokens, CPU ms of all processes, {side.name}", f"{cost:.1f}", bar, is_met)


async def _cpu_ms_of_a_turn(side: Side, *, turns: int) -> float:
    async with opened_chats(side.addresses, Tally()) as chats:
        for chat in chats:  # what is done once for a socket isn't a turn's
            await _one_turn(chat)
        await asyncio.sleep(0.3)
        before = side.cpu_seconds()
        for _ in range(turns):
            for chat in chats:
                await _one_turn(chat)
        await asyncio.sleep(0.3)
        return (side.cpu_seconds() - before) * 1000 / (turns * len(chats))


async def _one_turn(chat: Chat) -> None:
    chat.ask(SHORT_TURN)
    async with asyncio.timeout(TURN_SECONDS):
        await chat.done
    if chat.errors or chat.tokens != 2:
        raise RuntimeError(f"{chat.tokens} tokens instead of 2: {chat.errors}")


async def measure_burst(field: Field) -> None:
    """Time until the first token where 50 people write in the same moment, over open sockets."""
    sides = _sides(field, BURST_CHATS)
    with field.product.database_on_core_of(field.web):
        for side in sides:
            field.product.cover_with_briefs()
            middles, latest = zip(*await _bursts(side, field.size.bursts), strict=True)
            middle, most = statistics.median(middles), side.most_first_ms
            bar, is_met = (f"p50 ≤ {most:g} ms", middle <= most) if most else ("", None)
            figure = f"{middle:.0f} / {statistics.median(latest):.0f}"
            field.add(f"50 started at once, first token, ms p50 / max, {side.name}", figure, bar, is_met)


async def _bursts(side: Side, count: int) -> list[tuple[float, float]]:
    """Return the middle and the longest time to the first token of each burst; the first one warms up."""
    bursts = []
    async with opened_chats(side.addresses, Tally()) as chats:
        for _ in range(count + 1):
            for chat in chats:
                chat.ask(SHORT_TURN)
            await asyncio.wait([chat.done for chat in chats], timeout=TURN_SECONDS)
            times = [(chat.first_at - chat.sent_at) / 1000 for chat in chats if chat.first_at is not None]
            if len(times) < len(chats):
                raise RuntimeError(f"no answer: {[error for chat in chats for error in chat.errors][:3]}")
            bursts.append((percentile(times, 0.5), max(times)))
            await asyncio.sleep(1)
    return bursts[1:]


async def measure_medium(field: Field) -> None:
    """CPU for 1,000 tokens of 50 chats whose answers have 150 tokens, against the byte relay's."""
    sides = _sides(field, BURST_CHATS)
    runs: dict[str, list[Run]] = {side.name: [] for side in sides}
    with field.product.database_on_core_of(field.web):
        for _ in range(field.size.repeats):
            for side in sides:
                field.product.cover_with_briefs()
                run = await run_chats(
                    side.server, side.addresses, rate=50, tokens=150, database_cpu=side.database_cpu
                )
                field.say_run(side.name, run)
                runs[side.name].append(run)
    costs = {
        name: [(run.cpu + run.database_cpu) * 1000 / run.received for run in each]
        for name, each in runs.items()
    }
    relay = costs[sides[0].name]
    for side in sides:
        own = costs[side.name]
        ratio = statistics.median(ours / theirs for ours, theirs in zip(own, relay, strict=True))
        figure = f"{statistics.median(own):.3f} ({ratio:.2f} × byte relay)"
        most = side.most_ratio
        bar, is_met = (f"≤ {most:g} ×", ratio <= most) if most else ("", None)
        name = f"50 chats of 150 tokens, CPU s of all processes for 1,000, {side.name}"
        field.add(name, figure, bar, is_met)
