"""Fixtures for load tests: a web process with very few connections."""

from collections.abc import Iterator

import pytest

from tests.failures import replaced_after_failure
from tests.live_sage import LiveSage, SharedSage
from tests.sockets.test_tenants import owned

# Fixtures are imported only here.
__all__ = ["owned"]


@pytest.fixture(scope="module")
def small_process(django_db_setup: None) -> Iterator[SharedSage]:
    shared = SharedSage(program=("tests/small_pool_web.py", "2"))
    yield shared
    shared.stop()


@pytest.fixture
def small_sage(small_process: SharedSage, request: pytest.FixtureRequest) -> Iterator[LiveSage]:
    """A web process with a pool of two."""
    with replaced_after_failure(request, small_process.stop):
        yield small_process.serve()


@pytest.fixture(scope="module")
def proxied_sage(django_db_setup: None) -> Iterator[LiveSage]:
    """A web process behind a proxy that terminates TLS."""
    shared = SharedSage(CSRF_TRUSTED_ORIGINS="https://sage.example")
    yield shared.serve()
    shared.stop()
