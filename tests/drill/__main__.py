"""The drill: a whole installation under load, each part killed, frozen and restarted, and then a soak.

  python -m tests.drill                              ten minutes, all parts, 200 sockets
  python -m tests.drill --minutes 1 --sockets 30 --short      one part of each kind
  python -m tests.drill --only web-1 postgres        only these parts
  python -m tests.drill --minutes 1 --soak 30 --only none     without a disruption: 1 + 6 + 30 minutes

It starts nginx with the site of deploy/, four web processes, two workers, PostgreSQL, Redis, an S3 server and
a model in a temporary folder, and ends them. Prints tables; the exit code is 1 if a limit was missed.
"""

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import django

from tests.drill.disruptions import WAYS, Disruption, chosen, disrupt
from tests.drill.installation import Installation, opened
from tests.drill.load import SETTLED_SECONDS, Load
from tests.drill.measure import Meter, read_rows
from tests.drill.parts import Part
from tests.drill.people import Person
from tests.drill.site import Site
from tests.printing import say

WARM_UP_SECONDS = 20.0
LAST_ANSWER_SECONDS = 5.0
"""Until the last answer of the calm time has begun."""
CALM_SHARE = 0.3
"""Of the minutes, before the first disruption."""


def main(arguments: Sequence[str]) -> int:
    """Run the drill and print its tables."""
    options = read_options(arguments)
    folder = Path(tempfile.mkdtemp(prefix="sage-drill-"))
    try:
        with opened(folder) as installation:
            os.environ.update(installation.environment)
            django.setup()
            say(f"{installation.origin}, seed {options.seed}, in {folder}")
            report, is_met = asyncio.run(_run(installation, options))
            say(report)
            return 0 if is_met else 1
    finally:
        if options.keep:
            shutil.copytree(folder, options.keep, ignore=shutil.ignore_patterns("postgres", "*.lock"))
        shutil.rmtree(folder, ignore_errors=True)


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.drill",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="of load, at least (default: 10)")
    parser.add_argument("--soak", type=float, default=0.0, help="minutes without disruptions, after them")
    parser.add_argument("--sockets", type=int, default=200, help="open pages (default: 200)")
    parser.add_argument("--rate", type=float, default=1.3, help="messages a second of all (default: 1.3)")
    parser.add_argument("--short", action="store_true", help="one part of each kind")
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="PART", help="like web, web-1, postgres, none"
    )
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS), help="of disrupting a part")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the logs are copied at the end")
    return parser.parse_args(arguments)


async def _run(installation: Installation, options: argparse.Namespace) -> tuple[str, bool]:
    # Imported late, because they need Django's models.
    parts = chosen(installation.broken, options.only, is_short=options.short)
    seed, audit, report = (import_module(f"tests.drill.{name}") for name in ("seed", "audit", "report"))
    rng = random.Random(options.seed)
    site = Site(installation.origin)
    entries = await asyncio.to_thread(seed.seed, options.sockets)
    people = [Person(site, session_id, cookie, rng) for session_id, cookie in entries]
    load = Load(site, people, options.rate, rng)
    meter = Meter(installation.parts, installation.database.server.url)
    measured: dict[str, Any] = {"load": load, "meter": meter, "soak": None, "rows": None}
    async with site.opened(), load.opened(), meter.running():
        say(f"{len(people)} pages are open")
        async with load.running():
            await _disturb(parts, load, options, measured)
        if options.soak:
            await _soak(installation, load, options.soak * 60, measured)
        await asyncio.to_thread(audit.wait_for_documents, load.documents, SETTLED_SECONDS)
        measured["ended"] = asyncio.get_running_loop().time()
    found = await asyncio.to_thread(audit.audit, load.said, load.documents)
    drill = report.Drill(**measured, audit=found)
    return report.write(drill), all(one.is_met is not False for one in report.figures(drill))


async def _disturb(
    parts: Sequence[Part], load: Load, options: argparse.Namespace, measured: dict[str, Any]
) -> None:
    loop = asyncio.get_running_loop()
    await asyncio.sleep(WARM_UP_SECONDS)
    began = loop.time()
    ends = began + options.minutes * 60
    await asyncio.sleep((ends - began) * (CALM_SHARE if parts else 1.0))
    measured["calm"] = (began, loop.time())
    say(f"calm: {len(load.said)} messages")
    await asyncio.sleep(LAST_ANSWER_SECONDS if parts else 0.0)
    done: list[Disruption] = []
    for part in parts:
        for how in options.ways:
            done.append(await disrupt(part, how, load, say))  # noqa: PERF401 - awaited one after another
    measured["disruptions"] = done
    await asyncio.sleep(max(0.0, ends - loop.time()))


async def _soak(installation: Installation, load: Load, seconds: float, measured: dict[str, Any]) -> None:
    loop = asyncio.get_running_loop()
    url = installation.database.server.url
    async with load.running():
        # What was restarted is warm again, and windows are full.
        await asyncio.sleep(seconds / 5)
        began = loop.time()
        before = await asyncio.to_thread(read_rows, url)
        await asyncio.sleep(seconds)
        measured["soak"] = (began, loop.time())
        measured["rows"] = (before, await asyncio.to_thread(read_rows, url))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
