"""Samples leave nothing out for good."""

import pytest

from tests.long_tests import TURNS
from tests.thoroughness import sample_of_day


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_in_as_many_days_as_a_sample_is_smaller_every_case_is_tried(count: int) -> None:
    cases = range(count)
    of_three_days = [sample_of_day(cases, of_each=3, day=day) for day in (20_000, 20_001, 20_002)]
    assert all(of_three_days), "no day is without a case"
    assert set().union(*of_three_days) == set(cases)


@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_so_is_every_case_of_a_test_that_runs_every_fourth_day(count: int) -> None:
    cases = range(count)
    tried = [sample_of_day(cases, of_each=4, day=day) for day in range(20_002, 20_002 + 4 * TURNS, TURNS)]
    assert set().union(*tried) == set(cases)
