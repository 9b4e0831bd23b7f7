"""The short form of R4: every upstream fault at every point, with a whole Sage.

In a separate file, because its process must be the only one on its database.
"""

import pytest

from tests.faults import upstream
from tests.faults.cluster import Cluster

pytestmark = pytest.mark.django_db(transaction=True)


async def test_every_upstream_fault_ends_in_one_sentence_and_runs_no_cut_call(
    hasty_cluster: Cluster, seed: int
) -> None:
    report = await upstream.run_r4(hasty_cluster, seed=seed, points=upstream.EACH_ONCE)
    assert report.violations == []
    assert report.points == upstream.EACH_ONCE
