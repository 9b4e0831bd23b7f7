"""Runs the relay benchmark and prints a table: figure, limit, and whether it is met.

Everything listens on 127.0.0.1 only, is bounded in count and time, and is ended by pid.
"""

import argparse
import asyncio
import os
import platform
import sys
import tempfile
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import psutil

from tests.bench.relay.machine import Machine, Server, free_port
from tests.bench.relay.product import open_product
from tests.bench.relay.rows import (
    QUICK,
    Field,
    Row,
    Size,
    measure_browser,
    measure_fifty,
    measure_flood,
    measure_idle,
    measure_one_chat,
    measure_together,
    measure_two_hundred,
)
from tests.bench.relay.turn_rows import measure_burst, measure_medium, measure_short
from tests.bench.relay.upstream import fast_run
from tests.printing import say

MEASURES: Mapping[str, Callable[[Field], Awaitable[None]]] = {
    "idle": measure_idle,
    "one": measure_one_chat,
    "short": measure_short,
    "burst": measure_burst,
    "medium": measure_medium,
    "fifty": measure_fifty,
    "together": measure_together,
    "crowd": measure_two_hundred,
    "flood": measure_flood,
    "browser": measure_browser,
}


def main() -> None:
    """Run the requested measurements and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.relay")
    parser.add_argument("--quick", action="store_true", help="one short repeat of everything")
    parser.add_argument("--rows", nargs="*", choices=[*MEASURES], default=[*MEASURES])
    parser.add_argument(
        "--relay-client",
        choices=["httpx", "aiohttp"],
        default="httpx",
        help="the byte relay's HTTP client: the SDK's default, or the faster one that the product uses",
    )
    parser.add_argument("--repeats", type=int)
    arguments = parser.parse_args()
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        sys.exit("The byte relay needs its own packages: uv run --group bench python -m tests.bench.relay")
    size = QUICK if arguments.quick else Size()
    if arguments.repeats:
        size = Size(
            **{**{name: getattr(size, name) for name in size.__slots__}, "repeats": arguments.repeats}
        )
    with tempfile.TemporaryDirectory(prefix="sage-", ignore_cleanup_errors=True) as name:
        rows = _measured(Path(name), arguments.rows, size, relay_client=arguments.relay_client)
    say("\n" + _table(rows))


def _measured(folder: Path, names: Sequence[str], size: Size, *, relay_client: str) -> list[Row]:
    port = free_port()
    with Machine(folder) as machine:
        say(_conditions(machine))
        upstream = ["-m", "tests.bench.relay.upstream", "--port", str(port)]
        machine.start("upstream", upstream, port=port, is_server=False)
        counts = {"users": 200, "sessions": 500, "files": 1_000, "documents": 2_000}
        with open_product(folder, upstream_port=port, **counts) as product:
            relay = _start_relay(machine, port, relay_client)
            web = product.start_web(machine)
            field = Field(relay=relay, web=web, product=product, size=size, say=say)
            try:
                _run(field, names)
            finally:
                log = field.web.log.read_text(errors="replace")
                if "Traceback" in log:
                    say(log[-4000:])
                # Before the database stops.
                machine.end(web)
    return field.rows


def _run(field: Field, names: Sequence[str]) -> None:
    fast_run()(_measure(field, [name for name in names if name != "browser"]))
    if "browser" in names:
        # Playwright's child process wants the standard loop.
        asyncio.run(_measure(field, ["browser"]))


async def _measure(field: Field, names: Sequence[str]) -> None:
    for name in names:
        say(f"{name} …")
        await MEASURES[name](field)
        await asyncio.sleep(0.5)


def _start_relay(machine: Machine, upstream_port: int, client: str) -> Server:
    port = free_port()
    return machine.start(
        "relay",
        [
            *("-m", "uvicorn", "tests.bench.relay.byte_relay:app", "--port", str(port)),
            *("--loop", "asyncio", "--log-level", "warning", "--backlog", "1024"),
        ],
        port=port,
        is_server=True,
        environment={
            **os.environ,
            "BENCH_UPSTREAM": f"http://127.0.0.1:{upstream_port}",
            "BENCH_RELAY_CLIENT": client,
        },
    )


def _conditions(machine: Machine) -> str:
    now = datetime.now(UTC)
    cores = machine.cores
    return (
        f"{now:%Y-%m-%d %H:%M} UTC, Python {platform.python_version()}, {psutil.cpu_count()} cores "
        f"(server on {cores.server}, load on {cores.load}), load average {os.getloadavg()[0]:.2f}"
    )


def _table(rows: Sequence[Row]) -> str:
    verdicts = {None: "", True: "yes", False: "NO"}
    lines = [("figure", "measured", "bar", "met")]
    lines += [(row.name, row.figure, row.bar, verdicts[row.is_met]) for row in rows]
    widths = [max(_width(line[column]) for line in lines) for column in range(4)]
    shown = [
        "| " + " | ".join(_padded(cell, width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    shown.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(shown)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


if __name__ == "__main__":
    main()
