"""A server that refuses every request of one token, and a client of it in another process.

Refusals aren't held back here. Django must be set up before this is imported.
"""

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

from django.conf import settings

from coaching.programs import early_counts as counts
from coaching.views.programs import PROGRAM_PATHS
from sage.http_limits import HttpLimits
from sage.launcher import Lifecycle, run_web_server
from sage.programs import refused_early

AUTHORIZATION = "Bearer sage_" + "A" * 43


def serve(*, seconds: float, rate: float) -> None:
    """Measure for some seconds, and print the figure."""
    counts.REFUSED_AT_ONCE = sys.maxsize
    counts.early_counts.learn(AUTHORIZATION, "bench")
    lifecycle = Lifecycle(
        service=_nothing,
        drain=lambda _: asyncio.sleep(0),
        on_ready=lambda port: threading.Thread(
            target=_measure, args=(port, seconds, rate), daemon=True
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
