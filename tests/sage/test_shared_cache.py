"""Sage without Redis: sign-in and its limits go on, and with it again everything is shared."""

import socketserver
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from sage import shared_cache
from sage.shared_cache import PAUSE_SECONDS, absence
from tests.conftest import PASSWORD
from tests.faults.cluster import RedisServer
from tests.groups import require
from tests.patience import patience

NOWHERE = "redis://127.0.0.1:1/0"


def _use(settings: Settings, url: str) -> None:
    settings.CACHES = {"default": {"BACKEND": "sage.shared_cache.SharedCache", "LOCATION": url}}


@pytest.fixture
def without_redis(settings: Settings) -> Iterator[None]:
    _use(settings, NOWHERE)
    cache.clear()
    yield
    cache.clear()
    absence.note(None)


@pytest.mark.django_db
@pytest.mark.usefixtures("without_redis")
def test_without_redis_people_sign_in_and_wrong_passwords_are_still_counted(
    user: User, settings: Settings
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "30/m/ip"}
    client = Client()
    for _ in range(5):
        answer = client.post("/accounts/login/", {"login": "ada", "password": "wrong"})
        assert "don’t match" in answer.content.decode()
    refused = client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert "Too many attempts" in refused.content.decode()
    elsewhere = client.post(
        "/accounts/login/", {"login": "ada", "password": PASSWORD}, REMOTE_ADDR="192.0.2.1"
    )
    assert elsewhere.status_code == HTTPStatus.FOUND
    assert client.get("/settings/").status_code == HTTPStatus.OK


@pytest.mark.usefixtures("without_redis")
def test_every_kind_of_request_is_answered_without_redis() -> None:
    assert cache.add("a", 1)
    assert not cache.add("a", 2)
    cache.set_many({"b": 2, "c": "three"}, timeout=60)
    assert cache.get_many(["a", "b", "c", "d"]) == {"a": 1, "b": 2, "c": "three"}
    assert (cache.incr("a"), cache.decr("b"), cache.get("d", "none")) == (2, 1, "none")
    assert cache.touch("a", 60)
    cache.delete_many(["b", "c"])
    assert cache.has_key("a")
    assert "b" not in cache
    assert (cache.delete("a"), cache.delete("a")) == (True, False)
    with pytest.raises(ValueError, match="a"):
        cache.incr("a")


@pytest.mark.usefixtures("without_redis")
def test_what_was_kept_without_redis_does_not_return_when_redis_is_lost_again() -> None:
    cache.set("code", "used")
    assert cache.get("code") == "used"
    absence.note(None)
    assert cache.get("code") is None


class _Refusing(socketserver.StreamRequestHandler):
    """Refuses each command, as Redis does one of another type."""

    def handle(self) -> None:
        while head := self.rfile.readline():
            for _ in range(int(head[1:])):
                self.rfile.read(int(self.rfile.readline()[1:]) + 2)
            self.wfile.write(b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n")


def test_a_command_that_redis_refuses_is_done_here_and_the_next_one_is_asked_of_redis(
    settings: Settings,
) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Refusing) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        _use(settings, f"redis://127.0.0.1:{server.server_address[1]}/0")
        cache.set("place", "process")
        assert cache.get("place") == "process"
        assert not absence.is_in_pause()
        cache.clear()
        cache.close()
        server.shutdown()


class _Full(socketserver.StreamRequestHandler):
    """Reads nothing, and stores nothing while it is full."""

    is_full = True

    def handle(self) -> None:
        while head := self.rfile.readline():
            parts = [self.rfile.read(int(self.rfile.readline()[1:]) + 2) for _ in range(int(head[1:]))]
            match parts[0].strip().upper():
                case b"GET":
                    self.wfile.write(b"$-1\r\n")
                case b"SET" if self.is_full:
                    self.wfile.write(b"-OOM command not allowed when used memory > 'maxmemory'.\r\n")
                case b"SET":
                    self.wfile.write(b"+OK\r\n")
                case b"DEL":
                    self.wfile.write(b":0\r\n")
                case _:
                    self.wfile.write(b"-ERR unknown command\r\n")


def test_what_a_full_redis_does_not_store_is_read_here_until_it_stores_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_cache, "PAUSE_SECONDS", 0.0)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Full) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        _use(settings, f"redis://127.0.0.1:{server.server_address[1]}/0?protocol=2")
        for count in (1, 2):
            cache.set("attempts", count)
            cache.delete("something_else")
            assert cache.get("attempts") == count, "nobody is counted"
            assert cache.incr("attempts") == count + 1
        monkeypatch.setattr(_Full, "is_full", False)
        cache.set("attempts", 3)
        assert cache.get("attempts") is None, "what is in Redis counts"
        cache.close()
        server.shutdown()


@pytest.mark.slow
def test_with_redis_again_its_values_count(settings: Settings, tmp_path: Path) -> None:
    require("redis", RedisServer.is_installed(), "redis-server on the PATH")
    server = RedisServer(tmp_path)
    server.start()
    try:
        _use(settings, server.url)
        cache.set("place", "redis")
        server.kill()
        cache.set("place", "process")
        assert cache.get("place") == "process"
        server.start()
        deadline = time.monotonic() + PAUSE_SECONDS + patience()
        while cache.get("place") == "process":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert cache.get("place") is None  # it was killed without having stored anything
        cache.set("place", "redis again")
        assert cache.get("place") == "redis again"
    finally:
        server.kill()
        cache.clear()
        absence.note(None)
