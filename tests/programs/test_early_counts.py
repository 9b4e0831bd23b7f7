"""Counts before Django: a token over the rate is refused, and no other."""

import pytest
from django.core.cache import cache
from time_machine import TimeMachineFixture

from coaching.programs.early_counts import (
    HELD_SECONDS,
    MAX_ADDRESSES,
    MAX_TOKENS,
    REFUSED_AT_ONCE,
    EarlyCounts,
)
from sessions_app.rate import RateLimit

ADDRESS = "192.0.2.1"
TOKEN, OTHER = "Bearer sage_one", "Bearer sage_other"


def wait_of(counts: EarlyCounts, authorization: str, address: str = ADDRESS) -> float:
    """Count a request; return how long it has to wait, 0 if it hasn't."""
    refusal = counts.count(authorization, address)
    return refusal.wait if refusal else 0.0


@pytest.fixture(autouse=True)
def three_an_hour(settings: object) -> None:
    settings.SAGE_API_RATE = RateLimit(turns=3, seconds=3600)  # type: ignore[attr-defined]
    cache.clear()


def test_a_token_that_holds_is_refused_over_the_rate() -> None:
    counts = EarlyCounts()
    counts.learn(TOKEN, "token:1")
    counts.learn(OTHER, "token:2")
    assert [wait_of(counts, TOKEN) for _ in range(3)] == [0, 0, 0]
    assert all(0 < wait_of(counts, TOKEN) <= 2 * 3600 for _ in range(100))
    assert wait_of(counts, "bearer sage_one") > 0, "however the scheme is written"
    assert wait_of(counts, OTHER) == 0


def test_there_is_room_again_in_the_next_periods(time_machine: TimeMachineFixture) -> None:
    counts = EarlyCounts()
    time_machine.move_to(3600.0 * 1000, tick=False)
    counts.learn(TOKEN, "token:1")
    waits = [wait_of(counts, TOKEN) for _ in range(4)]
    assert waits[:3] == [0, 0, 0]
    time_machine.shift(waits[3] + 1)
    assert wait_of(counts, TOKEN) == 0
    assert wait_of(counts, TOKEN) > 0, "a share of the last period still counts"
    time_machine.shift(2 * 3600)
    assert [wait_of(counts, TOKEN) for _ in range(3)] == [0, 0, 0]


def test_a_token_that_isnt_known_to_hold_is_left_to_the_database_and_takes_no_memory() -> None:
    counts = EarlyCounts()
    assert {wait_of(counts, f"Bearer {number}") for number in range(10)} == {0}
    assert {wait_of(counts, "") for _ in range(10)} == {0}
    for number in range(MAX_TOKENS + 1):
        counts.learn(f"Bearer {number}", "token:3")
    counts.learn(TOKEN, "token:1")
    assert [wait_of(counts, TOKEN) for _ in range(3)] == [0, 0, 0]
    assert {wait_of(counts, "Bearer 0") for _ in range(4)} == {0}, "the oldest are counted anew"


def test_an_address_that_sent_many_tokens_that_dont_hold_waits_with_others_of_them() -> None:
    counts = EarlyCounts()
    counts.learn(TOKEN, "token:1")
    for number in range(3):
        assert wait_of(counts, f"Bearer {number}") == 0
        counts.count_unknown(ADDRESS)
    assert 0 < wait_of(counts, "Bearer 4") <= 2 * 3600
    assert wait_of(counts, "Bearer 4", "192.0.2.2") == 0, "another address"
    assert wait_of(counts, TOKEN) == 0, "a token that is known to hold"
    assert wait_of(counts, "") == 0, "without a token"
    for number in range(MAX_ADDRESSES):
        counts.count_unknown(str(number))
    assert wait_of(counts, "Bearer 4") == 0, "the oldest are counted anew"


def test_most_refusals_of_a_second_are_held_for_their_token(
    time_machine: TimeMachineFixture,
) -> None:
    counts = EarlyCounts()
    time_machine.move_to(3600.0 * 1000, tick=False)
    for token in (TOKEN, OTHER):
        counts.learn(token, "token:1")
        for _ in range(3):
            assert counts.count(token, ADDRESS) is None
    refused = [counts.count(TOKEN, ADDRESS) for _ in range(REFUSED_AT_ONCE + 100)]
    delays = [refusal.delay for refusal in refused if refusal]
    assert delays == [0.0] * REFUSED_AT_ONCE + [HELD_SECONDS] * 100
    assert len({refusal.by for refusal in refused if refusal}) == 1
    other = counts.count(OTHER, ADDRESS)
    assert other
    assert other.by not in {refusal.by for refusal in refused if refusal}
    time_machine.shift(1)
    refusal = counts.count(TOKEN, ADDRESS)
    assert refusal
    assert refusal.delay == 0.0
