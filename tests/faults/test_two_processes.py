"""The short forms of the faults with two web processes and Redis."""

import pytest

from tests.faults import crashes, races, readers, redis_loss
from tests.faults.cluster import Cluster

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.redis]


async def test_the_other_process_takes_over_what_a_killed_one_ran(twin_cluster: Cluster, seed: int) -> None:
    # Each kill waits for a lease to end.
    report = await crashes.run_r1(twin_cluster, seed=seed, points=10, batch=10)
    assert report.violations == []
    assert report.points == 10


async def test_a_frozen_runner_writes_nothing_after_it_was_replaced(twin_cluster: Cluster, seed: int) -> None:
    report = await crashes.run_r8(twin_cluster, seed=seed, points=20)
    assert report.violations == []
    assert report.facts["taken over"] == 20
    assert report.facts["thawed amid"] == 10


async def test_a_process_asked_to_end_drains_or_hands_over(twin_cluster: Cluster, seed: int) -> None:
    report = await crashes.run_r13(twin_cluster, seed=seed, points=10)
    assert report.violations == []
    assert report.points == 10


async def test_a_stop_from_another_process_is_as_quick(twin_cluster: Cluster, seed: int) -> None:
    report = await readers.run_r12(twin_cluster, seed=seed, points=6)
    assert report.violations == []
    assert report.points == 6


async def test_two_tabs_never_run_two_turns_and_the_loser_gets_an_error(
    twin_cluster: Cluster, seed: int
) -> None:
    report = await races.run_r7(twin_cluster, seed=seed, points=10)
    assert report.violations == []
    assert report.points == 10


async def test_the_same_id_through_two_processes_is_one_turn(twin_cluster: Cluster, seed: int) -> None:
    report = await races.run_r9(twin_cluster, seed=seed, points=10)
    assert report.violations == []
    assert report.points == 10


async def test_turns_go_on_without_redis_and_tabs_elsewhere_keep_up(twin_cluster: Cluster, seed: int) -> None:
    report = await redis_loss.run_r3(twin_cluster, seed=seed, points=20)
    assert report.violations == []
    assert report.points == 20
    assert len(report.facts) == 3


async def test_a_run_that_broke_off_leaves_the_next_one_what_it_needs(
    twin_cluster: Cluster, seed: int
) -> None:
    assert twin_cluster.redis is not None
    async with twin_cluster.opened():
        before = {twin_cluster.process(place).popen.pid for place in range(2)}
        twin_cluster.freeze(1)
        twin_cluster.redis.freeze()
        twin_cluster.renew()
    report = await races.run_r9(twin_cluster, seed=seed, points=4)
    assert report.violations == []
    assert not before & {twin_cluster.process(place).popen.pid for place in range(2)}
