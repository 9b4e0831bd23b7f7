"""Readiness with a failed dependency. Tests of a running `up` show the healthy case."""

import asyncio
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import AsyncClient
from pytest_django import Settings

from coaching import supervision
from coaching.sandbox import layers
from coaching.supervision import supervisor
from sage.checks import warn_of_missing_layers
from sage.health import PART_SECONDS, PARTS
from tests.patience import patience

SANDBOX = "full" if sys.platform == "linux" else "partial"
NOWHERE = "redis://127.0.0.1:1/0"


async def _ready() -> tuple[int, dict[str, str]]:
    answer: Any = await AsyncClient().get("/readyz")
    return answer.status_code, answer.json()


@pytest.mark.django_db(transaction=True)
async def test_everything_answers() -> None:
    assert await _ready() == (
        200,
        {"status": "ok", "database": "ok", "cache": "ok", "storage": "ok", "sandbox": SANDBOX},
    )


@pytest.mark.django_db(transaction=True)
async def test_a_layer_of_the_sandbox_that_the_system_refuses_is_told_and_leaves_it_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layers, "_missing", {"landlock": None})
    code, parts = await _ready()
    assert (code, parts["status"], parts["sandbox"]) == (200, "ok", "partial")
    (warning,) = warn_of_missing_layers()
    assert "landlock" in warning.msg
    monkeypatch.setattr(layers, "_missing", {})
    assert warn_of_missing_layers() == []


async def test_a_database_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    code, parts = await _ready()
    assert (code, parts["database"], parts["cache"]) == (503, "failing", "ok")


@pytest.mark.django_db(transaction=True)
async def test_a_redis_that_is_gone_is_named_and_takes_no_process_out(settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "sage.shared_cache.SharedCache", "LOCATION": NOWHERE}}
    code, parts = await _ready()
    assert (code, parts["status"], parts["cache"]) == (200, "degraded", "failing")


@pytest.mark.django_db(transaction=True)
async def test_a_loop_that_can_not_be_kept_running_is_named_until_it_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervision, "FIRST_WAIT_SECONDS", 0.001)

    async def fail() -> None:
        raise ValueError

    loop = supervisor.keep("heartbeat", fail)
    async with asyncio.timeout(30):
        while not supervisor.failing():  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.001)
    code, parts = await _ready()
    assert (code, parts["status"], parts["loop_heartbeat"]) == (503, "failing", "failing")
    assert parts["database"] == "ok"
    loop.cancel()
    await asyncio.wait([loop])
    assert (await _ready())[0] == 200


async def test_that_the_process_lives_needs_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    answer = await AsyncClient().get("/healthz", headers={"cookie": "sessionid=somebody"})
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@contextmanager
def silent_server() -> Iterator[int]:
    """A port that accepts every connection and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield listening.getsockname()[1]


def _health_threads() -> int:
    return sum(thread.name.startswith("health") for thread in threading.enumerate())


@pytest.mark.slow
async def test_a_part_that_hangs_is_named_in_time_and_takes_one_thread_however_often_it_is_asked(
    settings: Settings,
) -> None:
    with silent_server() as port:
        settings.STORAGES = {
            **settings.STORAGES,
            "default": {
                "BACKEND": "coaching.files.s3_storage.S3ObjectStorage",
                "OPTIONS": {
                    "bucket_name": "nothing",
                    "endpoint_url": f"http://127.0.0.1:{port}",
                    "access_key": "x",
                    "secret_key": "x",
                    "region_name": "eu-central-1",
                    "read_seconds": 6.0,
                    "attempts": 1,
                },
            },
        }
        began = time.monotonic()
        answers = await asyncio.gather(*(_ready() for _ in range(20)))
        assert time.monotonic() - began < PART_SECONDS + patience()
        assert {(code, parts["storage"], parts["cache"]) for code, parts in answers} == {
            (503, "failing", "ok")
        }
        began = time.monotonic()
        assert (await _ready())[1]["storage"] == "failing"
        assert time.monotonic() - began < 0.75 * patience()  # it still hangs, which is already known
        assert _health_threads() <= len(PARTS)


async def test_a_database_that_hangs_is_named_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with silent_server() as port:
        monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        monkeypatch.setitem(connection.settings_dict, "PORT", str(port))
        began = time.monotonic()
        code, parts = await _ready()
        assert (code, parts["database"]) == (503, "failing")
        assert time.monotonic() - began < PART_SECONDS + patience()
