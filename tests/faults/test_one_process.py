"""The short forms of the faults that one process survives alone."""

import pytest

from tests.faults import crashes
from tests.faults.house import House

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_killed_process_loses_nothing_wherever_its_turns_stood(lone_house: House, seed: int) -> None:
    report = await crashes.run_r1(lone_house, seed=seed, points=24)
    assert report.violations == []
    assert report.points >= 20
