"""The benchmark's rows: each measures the relay and the product in turn and compares them."""

import asyncio
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.bench.relay.browser import CHROMIUM, page_cost
from tests.bench.relay.load import Run, first_token_ms, idle_kb, percentile, run_chats
from tests.bench.relay.machine import Server
from tests.bench.relay.product import Product
from tests.bench.relay.sockets import Address

Say = Callable[[str], None]

MAX_LATER = 1.2
"""How much later the first token may come with a library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is measured."""

    repeats: int = 3
    tokens: int = 500
    crowd_tokens: int = 1000
    crowd_seconds: float = 10.0
    flood_chats: int = 16
    flood_tokens: int = 10_000
    first_tokens: int = 22
    idle_sockets: int = 500
    short_turns: int = 8
    bursts: int = 7


QUICK = Size(
    repeats=1,
    tokens=200,
    crowd_tokens=500,
    crowd_seconds=5.0,
    flood_tokens=3000,
    first_tokens=8,
    idle_sockets=200,
    short_turns=4,
    bursts=3,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    figure: str
    bar: str = ""
    is_met: bool | None = None


@dataclass(slots=True)
class Field:
    """The servers to compare."""

    relay: Server
    web: Server
    product: Product
    size: Size
    say: Say
    rows: list[Row] = field(default_factory=list)

    def relay_addresses(self, count: int) -> list[Address]:
        """Return sockets of the byte relay."""
        return [Address(self.relay.port, f"/ws/sessions/{number}/") for number in range(count)]

    def web_addresses(self, count: int, *, is_html: bool = False) -> list[Address]:
        """Return sessions of different people."""
        people = self.product.chats[:count]
        return [person.addresses(self.web.port, is_html=is_html)[0] for person in people]

    def add(self, name: str, figure: str, bar: str = "", is_met: bool | None = None) -> None:
        """Add a line and show it."""
        self.rows.append(Row(name, figure, bar, is_met))
        verdict = "" if is_met is None else ("  met" if is_met else "  NOT met")
        self.say(f"  {name}: {figure}" + (f"   [{bar}]{verdict}" if bar else ""))

    async def pairs(
        self, chats: int, *, rate: int, tokens: int, **options: float | bool
    ) -> list[tuple[Run, Run]]:
        """Run relay and product alternately; return the pairs."""
        pairs = []
        for _ in range(self.size.repeats):
            both = []
            for server, addresses, database in (
                (self.relay, self.relay_addresses(chats), None),
                (self.web, self.web_addresses(chats), self.product.database_cpu_seconds),
            ):
                run = await run_chats(
                    server,
                    addresses,
                    rate=rate,
                    tokens=tokens,
                    has_delays=bool(options.get("has_delays", False)),
                    window_seconds=float(options.get("window_seconds", 0.0)),
                    **({"database_cpu": database} if database else {}),
                )
                self.say_run("relay" if server is self.relay else "sage ", run)
                both.append(run)
            pairs.append((both[0], both[1]))
        return pairs

    def say_run(self, who: str, run: Run) -> None:
        """Show the figures of one run."""
        lost = "" if run.received == run.expected else f", LOST {run.expected - run.received}"
        self.say(
            f"    {who} {run.chats} chats: {run.received} tokens in {run.seconds:.1f} s, "
            f"{run.frames} frames, CPU {run.cpu:.2f} s ({run.cpu_per_thousand:.4f} / 1,000), "
            f"database {run.database_cpu:.2f} s, load {run.load_cpu:.2f} s{lost}"
        )
        for error in run.errors[:3]:
            self.say(f"      error: {error[:200]}")


async def measure_idle(field_: Field) -> None:
    """Memory of idle sockets; measured first, while the process is new."""
    count = field_.size.idle_sockets
    relay = await idle_kb(field_.relay, field_.relay_addresses(count))
    # A few per person, because of the socket limit.
    addresses = field_.web_addresses(count)
    web = await idle_kb(field_.web, (addresses * (count // len(addresses) + 1))[:count])
    field_.add(
        f"idle socket, KB each of {count}", f"{web:.1f} (byte relay {relay:.1f})", "≤ 35 KB", web <= 35
    )


async def measure_one_chat(field_: Field) -> None:
    """The latency of tokens and of the first one, with an empty and a long history."""
    size = field_.size
    pairs = await field_.pairs(1, rate=50, tokens=size.tokens, has_delays=True)
    relay, web = ([run.delays_us for run in runs] for runs in zip(*pairs, strict=True))
    p50, p99 = (_median_of(web, share) for share in (0.5, 0.99))
    field_.add(
        "1 chat, ms a token p50 / p99",
        f"{p50:.2f} / {p99:.2f} (byte relay {_median_of(relay, 0.5):.2f} / {_median_of(relay, 0.99):.2f})",
        "p50 ≤ 1.5 ms",
        p50 <= 1.5,
    )
    product, port, count = field_.product, field_.web.port, size.first_tokens
    bare = await first_token_ms(field_.relay_addresses(count))
    empty = await first_token_ms(product.fresh.addresses(port)[-count:])
    full = await first_token_ms(product.rich.addresses(port)[-count:])
    for name, times, most in (
        ("first token, empty history, ms p50 / max", empty, 15),
        ("first token, 500 sessions and 1,000 files, ms p50 / max", full, 40),
    ):
        middle = percentile(times, 0.5)
        figure = f"{middle:.1f} / {max(times):.1f} (byte relay {percentile(bare, 0.5):.1f})"
        field_.add(name, figure, f"≤ {most} ms", middle <= most)
    await _compare_library(field_)


async def _compare_library(field_: Field) -> None:
    """How much later the first token comes with 2,000 documents; the two people take turns."""
    product, port, count = field_.product, field_.web.port, 2 * field_.size.first_tokens
    pairs = zip(product.fresh.addresses(port)[:count], product.stocked.addresses(port)[:count], strict=True)
    times = [
        (await first_token_ms([without], warm_up=0), await first_token_ms([stocked], warm_up=0))
        for without, stocked in pairs
    ][2:]
    bare, full = (percentile([time for (time,) in found], 0.5) for found in zip(*times, strict=True))
    field_.add(
        "first token, 2,000 documents, × none",
        f"{full / bare:.2f} ({full:.1f} and {bare:.1f} ms)",
        f"≤ {MAX_LATER}",
        full / bare <= MAX_LATER,
    )


async def measure_fifty(field_: Field) -> None:
    """CPU per 1,000 tokens at a load that both sustain."""
    pairs = await field_.pairs(50, rate=50, tokens=field_.size.tokens)
    relay, web = zip(*pairs, strict=True)
    ratio = statistics.median(ours.cpu_per_thousand / theirs.cpu_per_thousand for theirs, ours in pairs)
    cpu = statistics.median(run.cpu_per_thousand for run in web)
    bare = statistics.median(run.cpu_per_thousand for run in relay)
    field_.add("50 chats, CPU s for 1,000 tokens", f"{cpu:.4f} (byte relay {bare:.4f})")
    field_.add("50 chats, × byte relay", f"{ratio:.2f}", "≤ 2.0, goal ≤ 1.6", ratio <= 2.0)
    database = statistics.median(run.database_cpu * 1000 / max(1, run.received) for run in web)
    field_.add("50 chats, PostgreSQL CPU s for 1,000 tokens", f"{database:.4f}")


async def measure_together(field_: Field) -> None:
    """The same ratio with relay and product running at the same time: a busy machine slows both alike."""
    tokens = field_.size.tokens
    ratios = []
    for _ in range(field_.size.repeats):
        theirs, ours = await asyncio.gather(
            run_chats(field_.relay, field_.relay_addresses(25), rate=50, tokens=tokens),
            run_chats(field_.web, field_.web_addresses(25), rate=50, tokens=tokens),
        )
        field_.say_run("relay", theirs)
        field_.say_run("sage ", ours)
        ratios.append(ours.cpu / theirs.cpu)
    ratio = statistics.median(ratios)
    field_.add(
        "25 chats each at the same time, CPU × byte relay", f"{ratio:.2f}", "≤ 2.0, goal ≤ 1.6", ratio <= 2.0
    )


async def measure_two_hundred(field_: Field) -> None:
    """The sustained share of 10,000 tokens a second."""
    size = field_.size
    pairs = await field_.pairs(200, rate=50, tokens=size.crowd_tokens, window_seconds=size.crowd_seconds)
    relay, web = ([run.window_tokens_per_second for run in runs] for runs in zip(*pairs, strict=True))
    ratio = statistics.median(ours / theirs for theirs, ours in zip(relay, web, strict=True))
    field_.add(
        "200 chats, of 10,000 tok/s",
        f"{statistics.median(web):,.0f} (byte relay {statistics.median(relay):,.0f})",
    )
    field_.add("200 chats, × byte relay", f"{ratio:.2f}", "≥ 0.95", ratio >= 0.95)


async def measure_flood(field_: Field) -> None:
    """Throughput without upstream delay."""
    size = field_.size
    pairs = await field_.pairs(size.flood_chats, rate=0, tokens=size.flood_tokens)
    relay, web = ([run.tokens_per_second for run in runs] for runs in zip(*pairs, strict=True))
    ratio = statistics.median(ours / theirs for theirs, ours in zip(relay, web, strict=True))
    field_.add(
        "no delay, tok/s", f"{statistics.median(web):,.0f} (byte relay {statistics.median(relay):,.0f})"
    )
    field_.add("no delay, × byte relay", f"{ratio:.2f}", "≥ 0.8", ratio >= 0.8)


async def measure_browser(field_: Field) -> None:
    """The cost of an answer on the chat page in Chromium."""
    if not CHROMIUM:
        field_.add("browser", "skipped: no Chromium here")
        return
    person = field_.product.chats[-1]
    costs = [await page_cost(person, field_.web.port, rate=100) for _ in range(field_.size.repeats)]
    share = statistics.median(cost.page_cpu_share for cost in costs)
    whole = statistics.median(cost.browser_cpu_share for cost in costs)
    longest = statistics.median(cost.longest_task_ms for cost in costs)
    shift = max(cost.layout_shift for cost in costs)
    field_.add(
        "browser, 500 tokens at 100/s: share of a core",
        f"page {share:.0%}, all of Chromium {whole:.0%}",
        "≤ 20 %",
        share <= 0.2,
    )
    for cost in costs:
        field_.say(
            f"    page {cost.page_cpu_share:.1%}, Chromium {cost.browser_cpu_share:.1%}, "
            f"{cost.long_tasks} long tasks, longest {cost.longest_task_ms:.0f} ms, "
            f"shift {cost.layout_shift:.4f}"
        )
    field_.add("browser, longest task over 50 ms", f"{longest:.0f} ms", "none", longest == 0)
    field_.add("browser, layout shift", f"{shift:.4f}", "≤ 0.02", shift <= 0.02)
    is_same = all(cost.is_same_after_reload for cost in costs)
    field_.add("browser, the same after a reload", "yes" if is_same else "no", "byte for byte", is_same)


def _median_of(runs: Sequence[Sequence[int]], share: float) -> float:
    return statistics.median(percentile(run, share) / 1000 for run in runs)
