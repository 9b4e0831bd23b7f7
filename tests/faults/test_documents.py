"""The short form of the faults of the jobs that read documents."""

import pytest

from sessions_app.database import in_database
from tests.faults.cluster import Cluster
from tests.faults.conftest import SUITE_PATIENCE
from tests.faults.document_jobs import run_r17
from tests.jobs.conftest import empty_queue

pytestmark = pytest.mark.django_db(transaction=True)


async def test_no_committed_answer_is_asked_for_again_however_often_the_worker_is_killed(seed: int) -> None:
    await in_database(empty_queue)
    cluster = Cluster(patience=SUITE_PATIENCE, is_forked=True)
    try:
        report = await run_r17(cluster, seed=seed, points=2)
    finally:
        cluster.close()
    await in_database(empty_queue)
    assert report.violations == []
    assert report.points == 2
