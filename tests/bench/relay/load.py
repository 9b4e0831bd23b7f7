"""Runs of chats against one server: received tokens, delays, and cost."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.bench.relay.machine import Server
from tests.bench.relay.sockets import Address, Chat, Tally

RUN_SECONDS = 90.0

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The results of one run of chats. Times in seconds unless named otherwise."""

    chats: int
    expected: int
    received: int
    frames: int
    seconds: float
    cpu: float
    database_cpu: float
    load_cpu: float
    window_tokens_per_second: float
    delays_us: tuple[int, ...]
    errors: tuple[str, ...]

    @property
    def cpu_per_thousand(self) -> float:
        """The server's CPU seconds per 1,000 tokens, including the start and end of turns."""
        return self.cpu * 1000 / max(1, self.received)

    @property
    def tokens_per_second(self) -> float:
        """Tokens received over the whole run."""
        return self.received / self.seconds


@asynccontextmanager
async def opened_chats(addresses: Sequence[Address], tally: Tally) -> AsyncIterator[list[Chat]]:
    """Open sockets, a few at a time, and finally close them all."""
    chats: list[Chat] = []
    try:
        for start in range(0, len(addresses), 20):
            opening = [Chat.open(address, tally) for address in addresses[start : start + 20]]
            chats += await asyncio.gather(*opening)
        yield chats
    finally:
        for chat in chats:
            chat.close()
        await asyncio.sleep(0.2)


async def run_chats(
    server: Server,
    addresses: Sequence[Address],
    *,
    rate: int,
    tokens: int,
    has_delays: bool = False,
    window_seconds: float = 0.0,
    database_cpu: Clock = lambda: 0.0,
) -> Run:
    """Ask once in every chat at the same time, and wait for the answers.

    With `window_seconds` the throughput is also measured over that time, after the last chat has started.
    """
    tally = Tally(has_delays=has_delays)
    async with opened_chats(addresses, tally) as chats:
        cpu, database, load = server.cpu_seconds(), database_cpu(), sum(os.times()[:2])
        began = time.monotonic()
        for chat in chats:
            chat.ask(f"Please measure. bench:{rate}:{tokens}")
        window_rate = await _window_rate(chats, tally, window_seconds) if window_seconds else 0.0
        await asyncio.wait([chat.done for chat in chats], timeout=RUN_SECONDS)
        seconds = time.monotonic() - began
        # Include the work after a turn's last frame.
        await asyncio.sleep(0.3)
        return Run(
            chats=len(chats),
            expected=len(chats) * tokens,
            received=tally.tokens,
            frames=tally.frames,
            seconds=seconds,
            cpu=server.cpu_seconds() - cpu,
            database_cpu=database_cpu() - database,
            load_cpu=sum(os.times()[:2]) - load,
            window_tokens_per_second=window_rate,
            delays_us=tuple(tally.delays_us),
            errors=tuple(error for chat in chats for error in chat.errors),
        )


async def _window_rate(chats: Sequence[Chat], tally: Tally, seconds: float) -> float:
    await asyncio.wait([chat.first for chat in chats], timeout=20)
    before, began = tally.tokens, time.monotonic()
    await asyncio.sleep(seconds)
    return (tally.tokens - before) / (time.monotonic() - began)


async def first_token_ms(addresses: Sequence[Address], *, warm_up: int = 2) -> list[float]:
    """Ask once in each session, one after another; return the times from message to first text.

    The upstream sends its first delta at once, so all of the time is the server's (and the machine's).
    """
    times = []
    for address in addresses:  # a person may open only a few at once
        async with opened_chats([address], Tally()) as (chat,):
            chat.ask("Please measure. bench:50:3")
            async with asyncio.timeout(30):
                await chat.done
            if chat.first_at is None:
                raise RuntimeError(f"no answer: {chat.errors}")
            times.append((chat.first_at - chat.sent_at) / 1000)
    return times[warm_up:]


async def idle_kb(server: Server, addresses: Sequence[Address]) -> float:
    """Return the server's memory per idle socket."""
    warm = addresses[:50]
    async with opened_chats(warm, Tally()):
        pass
    await asyncio.sleep(1)
    before = server.memory_kb()
    async with opened_chats(addresses, Tally()):
        await asyncio.sleep(1)
        return (server.memory_kb() - before) / len(addresses)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie; nan without values."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
