"""Measures the CPU time of a refused request alone: `python -m tests.bench.programs.refusals`.

The server runs in this process without a database, a client in another one. Refusals aren't held back here.
"""

import argparse
import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
django.setup()

# The settings can be read now, not before.
from sage.launcher import Lifecycle, run_web_server  # isort: skip  # noqa: E402 - chooses the reactor
from django.conf import settings  # noqa: E402 - needs Django set up

from coaching.programs import early_counts as counts  # noqa: E402 - needs Django set up
from coaching.views.programs import PROGRAM_PATHS  # noqa: E402 - needs Django set up
from sage.http_limits import HttpLimits  # noqa: E402 - needs Django set up
from sage.programs import refused_early  # noqa: E402 - needs Django set up

AUTHORIZATION = "Bearer sage_" + "A" * 43


def main() -> None:
    """Measure, and print the figure."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.programs.refusals")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; 0: as many as possible")
    given = parser.parse_args()
    counts.REFUSED_AT_ONCE = counts.REFUSED_OPEN = sys.maxsize
    counts.early_counts.learn(AUTHORIZATION, "bench")
    lifecycle = Lifecycle(
        service=_nothing,
        drain=lambda _: asyncio.sleep(0),
        on_ready=lambda port: threading.Thread(
            target=_measure, args=(port, given.seconds, given.rate), daemon=True
        ).start(),
    )
    limits = HttpLimits(programs=PROGRAM_PATHS, refused=refused_early)
    run_web_server(_answer, host="127.0.0.1", port=0, limits=limits, lifecycle=lifecycle)


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


async def _answer(_scope: object, receive: object, send: object) -> None:
    raise AssertionError("all requests are refused, but for a few when a new period begins")


def _measure(port: int, seconds: float, rate: float) -> None:
    for _ in range(settings.SAGE_API_RATE.turns):
        counts.early_counts.count(AUTHORIZATION, "")
    module = ["-m", "tests.bench.programs.asking"]
    options = [str(port), AUTHORIZATION, str(seconds), str(rate)]
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.monotonic()
    done = subprocess.run([sys.executable, *module, *options], capture_output=True, text=True, check=True)
    after, took = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - began
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sys.stdout.write(
        f"{done.stdout} refusals in {took:.1f} s: {used * 1000 / int(done.stdout):.3f} ms of CPU each\n"
    )
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
