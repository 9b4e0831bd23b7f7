"""Fixtures for load tests: a web process with very few connections."""

from collections.abc import Iterator

import pytest

from tests.live_sage import LiveSage, free_port, start_web_process, stop_web_process
from tests.sockets.test_tenants import owned

# Fixtures are imported only here.
__all__ = ["owned"]


@pytest.fixture(scope="module")
def small_sage(django_db_setup: None) -> Iterator[LiveSage]:
    """A web process with a pool of two."""
    sage = start_web_process(practice_port=free_port(), program=("tests/small_pool_web.py", "2"))
    yield sage
    stop_web_process(sage)


@pytest.fixture(scope="module")
def proxied_sage(django_db_setup: None) -> Iterator[LiveSage]:
    """A web process behind a proxy that terminates TLS."""
    sage = start_web_process(practice_port=free_port(), CSRF_TRUSTED_ORIGINS="https://sage.example")
    yield sage
    stop_web_process(sage)
