"""The short form of the faults of the brief's job."""

import pytest

from sessions_app.database import in_database
from tests.faults.brief_jobs import PLACES, run_r15
from tests.faults.cluster import Cluster
from tests.faults.conftest import SUITE_PATIENCE
from tests.jobs.conftest import empty_queue

pytestmark = pytest.mark.django_db(transaction=True)


async def test_no_brief_is_lost_or_stale_wherever_its_worker_is_killed(seed: int) -> None:
    await in_database(empty_queue)
    cluster = Cluster(patience=SUITE_PATIENCE, is_forked=True)
    try:
        report = await run_r15(cluster, seed=seed, points=len(PLACES))
    finally:
        cluster.close()
    await in_database(empty_queue)
    assert report.violations == []
    assert report.points == len(PLACES)
