"""Sage clusters for the short forms, one per test module."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.failures import replaced_after_failure
from tests.faults.cluster import BRIEF, UNBROKEN, Cluster, RedisServer
from tests.groups import require

SUITE_PATIENCE = 2.5
"""In the suite other tests share the machine, so time limits are wider, and wider still where it is slow. The
long forms are strict."""


@pytest.fixture
def seed() -> int:
    """A seed, printed with a failure; SAGE_FAULT_SEED repeats a run."""
    value = int(os.environ.get("SAGE_FAULT_SEED") or random.SystemRandom().randrange(2**31))
    print(f"SAGE_FAULT_SEED={value}")  # noqa: T201 - for whoever runs it
    return value


@pytest.fixture(scope="module")
def lone_processes(django_db_setup: None) -> Iterator[Cluster]:
    cluster = Cluster(count=1, patience=SUITE_PATIENCE, is_shared=True, is_forked=True)
    yield cluster
    cluster.close()


@pytest.fixture
def lone_cluster(lone_processes: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """One web process without Redis."""
    with replaced_after_failure(request, lone_processes.renew):
        yield lone_processes


@pytest.fixture(scope="module")
def hasty_processes(django_db_setup: None) -> Iterator[Cluster]:
    cluster = Cluster(
        count=1,
        patience=SUITE_PATIENCE,
        is_shared=True,
        is_forked=True,
        variables={"SAGE_TURN_SECONDS": "6"},
        program=UNBROKEN,
    )
    yield cluster
    cluster.close()


@pytest.fixture
def hasty_cluster(hasty_processes: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """One web process with a short time limit for turns."""
    with replaced_after_failure(request, hasty_processes.renew):
        yield hasty_processes


@pytest.fixture(scope="module")
def twin_processes(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require("redis", RedisServer.is_installed(), "redis-server on the PATH")
    server = RedisServer(Path(tmp_path_factory.mktemp("redis")))
    server.start()
    cluster = Cluster(
        count=2,
        redis_server=server,
        patience=SUITE_PATIENCE,
        is_shared=True,
        is_forked=True,
        program=BRIEF,
    )
    yield cluster
    cluster.close()


@pytest.fixture
def twin_cluster(twin_processes: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Two web processes with their own Redis."""
    with replaced_after_failure(request, twin_processes.renew):
        yield twin_processes
