"""How long the engine waits before it requests a failed round again."""

import pytest

from coaching.engine.budget import PartLimits
from coaching.engine.errors import UpstreamError
from coaching.engine.retry import MAX_ATTEMPTS, RoundRetries

PASSING = UpstreamError("overloaded", detail="529", is_retryable=True)
LONG = 1e9


def test_waits_begin_below_half_a_second_and_double() -> None:
    for _ in range(50):
        retries = RoundRetries(first_wait_seconds=PartLimits().first_wait_seconds)
        for least in (0.25, 0.5, 1.0):
            wait = retries.wait_before_retry(PASSING, has_shown=False, remaining_seconds=LONG)
            assert wait is not None
            assert least <= wait <= 2 * least
        assert retries.attempts == MAX_ATTEMPTS - 1
        assert retries.wait_before_retry(PASSING, has_shown=False, remaining_seconds=LONG) is None


def test_people_do_not_all_come_back_at_the_same_moment() -> None:
    waits = {
        RoundRetries().wait_before_retry(PASSING, has_shown=False, remaining_seconds=LONG) for _ in range(50)
    }
    assert len(waits) > 40


@pytest.mark.parametrize("first", [0.1, 4.0])
def test_a_wait_that_would_exceed_the_deadline_is_not_begun(first: float) -> None:
    retries = RoundRetries(first_wait_seconds=first)
    assert retries.wait_before_retry(PASSING, has_shown=False, remaining_seconds=first / 2 - 0.01) is None
