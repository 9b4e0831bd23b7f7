"""Whether the process lives, and whether what it needs answers.

Each part is asked by itself, in threads of its own and under a short deadline, so that one that hangs can't
hide the others or hold up anything else. The answer names the part that fails; the reason is for the log.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
import structlog
from django.core.cache import cache
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse

PART_SECONDS = 3

log = structlog.get_logger(__name__)
_threads = ThreadPoolExecutor(max_workers=6, thread_name_prefix="health")


async def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer that the process lives; touch nothing."""
    return HttpResponse("ok\n", content_type="text/plain")


async def readyz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 when database, cache and storage work, else 503 and which one doesn't."""
    verdicts = await asyncio.gather(*(_is_working(name, ask) for name, ask in PARTS.items()))
    parts = {
        name: "ok" if is_working else "failing" for name, is_working in zip(PARTS, verdicts, strict=True)
    }
    is_ready = all(verdicts)
    body = {"status": "ok" if is_ready else "failing", **parts}
    return JsonResponse(body, status=200 if is_ready else 503, headers={"Cache-Control": "no-store"})


def ask_database() -> None:
    """Open a connection of its own: a busy pool isn't a dead database."""
    parameters = connection.get_connection_params() | {"connect_timeout": PART_SECONDS - 1}
    with psycopg.connect(**parameters) as database:
        database.execute("SELECT 1")


def ask_cache() -> None:
    """Write a value and read it back."""
    key = f"readyz-{uuid4()}"
    cache.set(key, "1", timeout=10)
    if cache.get(key) != "1":
        raise OSError("the cache has lost a value")


def ask_storage() -> None:
    """Ask S3 for an object that isn't there; on disk see that files can be written."""
    if not isinstance(default_storage, FileSystemStorage):
        default_storage.exists("readyz")
        return
    Path(default_storage.location).mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(default_storage.location, os.R_OK | os.W_OK | os.X_OK):
        raise PermissionError("the files' folder can't be written")


PARTS: dict[str, Callable[[], None]] = {
    "database": ask_database,
    "cache": ask_cache,
    "storage": ask_storage,
}


async def _is_working(name: str, ask: Callable[[], None]) -> bool:
    asked = asyncio.get_running_loop().run_in_executor(_threads, ask)
    done, _ = await asyncio.wait([asked], timeout=PART_SECONDS)
    if not done:
        log.warning("part_not_ready", part=name, reason="timeout")
        return False
    if error := asked.exception():
        log.warning("part_not_ready", part=name, reason=type(error).__name__)
        return False
    return True
