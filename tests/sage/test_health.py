"""Readiness when a part is gone. That the whole is well is seen on a running `up`."""

from typing import Any

import pytest
from django.db import connection
from django.test import AsyncClient
from pytest_django import Settings

NOWHERE = "redis://127.0.0.1:1/0"


async def _ready() -> tuple[int, dict[str, str]]:
    answer: Any = await AsyncClient().get("/readyz")
    return answer.status_code, answer.json()


@pytest.mark.django_db(transaction=True)
async def test_everything_answers() -> None:
    assert await _ready() == (
        200,
        {"status": "ok", "database": "ok", "cache": "ok", "storage": "ok"},
    )


async def test_a_database_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    code, parts = await _ready()
    assert (code, parts["database"], parts["cache"]) == (503, "failing", "ok")


@pytest.mark.django_db(transaction=True)
async def test_a_cache_that_is_gone_is_named(settings: Settings) -> None:
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": NOWHERE}
    }
    code, parts = await _ready()
    assert (code, parts["database"], parts["cache"]) == (503, "ok", "failing")


async def test_that_the_process_lives_needs_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    answer = await AsyncClient().get("/healthz", headers={"cookie": "sessionid=somebody"})
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db(transaction=True)
async def test_no_answer_is_kept_by_a_cache() -> None:
    answer = await AsyncClient().get("/readyz")
    assert answer.headers["Cache-Control"] == "no-store"
