"""Counts before Django: a token over the rate is refused, and no other."""

import pytest
from django.core.cache import cache

from coaching.programs.early_counts import MAX_ADDRESSES, MAX_TOKENS, EarlyCounts
from sessions_app.rate import RateLimit

ADDRESS = "192.0.2.1"
TOKEN, OTHER = "Bearer sage_one", "Bearer sage_other"


@pytest.fixture(autouse=True)
def three_an_hour(settings: object) -> None:
    settings.SAGE_API_RATE = RateLimit(turns=3, seconds=3600)  # type: ignore[attr-defined]
    cache.clear()


def test_a_token_that_holds_is_refused_over_the_rate() -> None:
    counts = EarlyCounts()
    counts.learn(TOKEN)
    counts.learn(OTHER)
    assert [counts.count(TOKEN, ADDRESS) for _ in range(3)] == [0, 0, 0]
    assert all(0 < counts.count(TOKEN, ADDRESS) <= 2 * 3600 for _ in range(100))
    assert counts.count("bearer sage_one", ADDRESS) > 0, "however the scheme is written"
    assert counts.count(OTHER, ADDRESS) == 0


def test_there_is_room_again_in_the_next_periods(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, now = EarlyCounts(), 3600.0 * 1000
    monkeypatch.setattr("coaching.programs.early_counts.time.time", lambda: now)
    counts.learn(TOKEN)
    waits = [counts.count(TOKEN, ADDRESS) for _ in range(4)]
    assert waits[:3] == [0, 0, 0]
    now += waits[3] + 1
    assert counts.count(TOKEN, ADDRESS) == 0
    assert counts.count(TOKEN, ADDRESS) > 0, "a share of the last period still counts"
    now += 2 * 3600
    assert [counts.count(TOKEN, ADDRESS) for _ in range(3)] == [0, 0, 0]


def test_a_token_that_isnt_known_to_hold_is_left_to_the_database_and_takes_no_memory() -> None:
    counts = EarlyCounts()
    assert {counts.count(f"Bearer {number}", ADDRESS) for number in range(10)} == {0}
    assert {counts.count("", ADDRESS) for _ in range(10)} == {0}
    for number in range(MAX_TOKENS + 1):
        counts.learn(f"Bearer {number}")
    counts.learn(TOKEN)
    assert [counts.count(TOKEN, ADDRESS) for _ in range(3)] == [0, 0, 0]
    assert {counts.count("Bearer 0", ADDRESS) for _ in range(4)} == {0}, "the oldest are counted anew"


def test_an_address_that_sent_many_tokens_that_dont_hold_waits_with_others_of_them() -> None:
    counts = EarlyCounts()
    counts.learn(TOKEN)
    for number in range(3):
        assert counts.count(f"Bearer {number}", ADDRESS) == 0
        counts.count_unknown(ADDRESS)
    assert 0 < counts.count("Bearer 4", ADDRESS) <= 2 * 3600
    assert counts.count("Bearer 4", "192.0.2.2") == 0, "another address"
    assert counts.count(TOKEN, ADDRESS) == 0, "a token that is known to hold"
    assert counts.count("", ADDRESS) == 0, "without a token"
    for number in range(MAX_ADDRESSES):
        counts.count_unknown(str(number))
    assert counts.count("Bearer 4", ADDRESS) == 0, "the oldest are counted anew"
