"""Liveness and readiness.

Each dependency is checked in its own thread with a short deadline, so that one that hangs can't hide the
others or block anything else: while it hangs it isn't checked again, however many requests ask. The response
names the failing dependency, or a loop of this process that keeps failing; the reason is logged. The
sandbox's state never makes a process unready.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
import structlog
from django.core.cache import caches
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from coaching.sandbox.layers import known_missing
from coaching.sandbox.trial import missing_layers
from coaching.supervision import supervisor
from sage.shared_cache import SharedCache

PART_SECONDS = 3
FAILING = "failing"

log = structlog.get_logger(__name__)


async def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer that the process lives, without checking anything."""
    return HttpResponse("ok\n", content_type="text/plain")


async def readyz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 when database, storage and all loops work, otherwise 503, with the names of what doesn't.

    Without the cache each process counts by itself and all pages work, so it is only degraded: otherwise a
    load balancer would take out all processes.
    """
    parts = await read_health()
    failing = {name for name, state in parts.items() if state == FAILING}
    is_ready = not failing - DISPENSABLE
    status = "failing" if not is_ready else "degraded" if failing else "ok"
    return JsonResponse({"status": status, **parts}, status=200 if is_ready else 503)


async def read_health() -> Mapping[str, str]:
    """Return for each part `ok` or `failing`, and for the sandbox what `_sandbox` says.

    Of this process's loops only those are named that can't be kept running.
    """
    *verdicts, sandbox = await asyncio.gather(*(part.is_working() for part in _parts), _sandbox())
    parts = {name: "ok" if is_working else FAILING for name, is_working in zip(PARTS, verdicts, strict=True)}
    loops = {f"loop_{name}": FAILING for name in supervisor.failing()}
    return {**parts, **loops, "sandbox": str(sandbox)}


def read_health_here() -> Mapping[str, str]:
    """Return the same to a thread in which no event loop runs. Blocks, for a few seconds at most."""
    return asyncio.run(read_health())


def ask_database() -> None:
    """Open a separate connection: a busy pool isn't a dead database."""
    parameters = connection.get_connection_params() | {"connect_timeout": PART_SECONDS - 1}
    with psycopg.connect(**parameters) as database:
        database.execute("SELECT 1")


def ask_cache() -> None:
    """Write a value and read it back."""
    key = f"readyz-{uuid4()}"
    shared = caches["default"]
    if isinstance(shared, SharedCache):
        is_kept = shared.ask_redis(key)
    else:
        shared.set(key, "1", timeout=10)
        is_kept = shared.get(key) == "1"
    if not is_kept:
        raise OSError("the cache has lost a value")


def ask_storage() -> None:
    """Request a missing object from S3; on disk, check that files can be written."""
    if not isinstance(default_storage, FileSystemStorage):
        default_storage.exists("readyz")
        return
    Path(default_storage.location).mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(default_storage.location, os.R_OK | os.W_OK | os.X_OK):
        raise PermissionError("the files' folder can't be written")


async def _sandbox() -> str:
    """Return `full` if readers of untrusted files lose all rights; `partial` without one of the layers."""
    missing = known_missing()
    if missing is None:
        missing = await asyncio.get_running_loop().run_in_executor(_trial, missing_layers)
    return "unknown" if missing is None else "partial" if missing else "full"


PARTS: dict[str, Callable[[], None]] = {"database": ask_database, "cache": ask_cache, "storage": ask_storage}
DISPENSABLE = frozenset({"cache"})


class _Part:
    """A dependency with its checking thread. Concurrent requests share one check."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"health {name}")
        self._lock = threading.Lock()
        self._asked: Future[None] | None = None
        self._asked_at = 0.0

    async def is_working(self) -> bool:
        """Start or join a check, and return whether it succeeded in time."""
        question, seconds_left = self._ask()
        asked = asyncio.wrap_future(question)
        # Retrieve the exception even if nobody waits any more.
        asked.add_done_callback(lambda ended: None if ended.cancelled() else ended.exception())
        done, _ = await asyncio.wait([asked], timeout=seconds_left)
        if not done:
            log.warning("part_not_ready", part=self._name, reason="timeout")
            return False
        if error := asked.exception():
            log.warning("part_not_ready", part=self._name, reason=type(error).__name__)
            return False
        return True

    def _ask(self) -> tuple[Future[None], float]:
        """Return the running check and the seconds left for it."""
        with self._lock:
            now = time.monotonic()
            if self._asked is None or self._asked.done():
                self._asked = self._thread.submit(PARTS[self._name])
                self._asked_at = now
            return self._asked, max(0.0, self._asked_at + PART_SECONDS - now)


_trial = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox trial")
_parts = [_Part(name) for name in PARTS]
