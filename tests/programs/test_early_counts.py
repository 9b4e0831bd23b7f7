"""Counts before Django: a token over the rate is refused, and no other."""

import pytest
from django.core.cache import cache

from coaching.programs.early_counts import MAX_TOKENS, EarlyCounts
from sessions_app.rate import RateLimit

TOKEN, OTHER = "Bearer sage_one", "Bearer sage_other"


@pytest.fixture(autouse=True)
def three_an_hour(settings: object) -> None:
    settings.SAGE_API_RATE = RateLimit(turns=3, seconds=3600)  # type: ignore[attr-defined]
    cache.clear()


def test_a_token_that_holds_is_refused_over_the_rate() -> None:
    counts = EarlyCounts()
    counts.learn(TOKEN)
    counts.learn(OTHER)
    assert [counts.count(TOKEN) for _ in range(3)] == [0, 0, 0]
    assert all(0 < counts.count(TOKEN) <= 2 * 3600 for _ in range(100))
    assert counts.count("bearer sage_one") > 0, "however the scheme is written"
    assert counts.count(OTHER) == 0


def test_there_is_room_again_in_the_next_periods(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, now = EarlyCounts(), 3600.0 * 1000
    monkeypatch.setattr("coaching.programs.early_counts.time.time", lambda: now)
    counts.learn(TOKEN)
    waits = [counts.count(TOKEN) for _ in range(4)]
    assert waits[:3] == [0, 0, 0]
    now += waits[3] + 1
    assert counts.count(TOKEN) == 0
    assert counts.count(TOKEN) > 0, "a share of the last period still counts"
    now += 2 * 3600
    assert [counts.count(TOKEN) for _ in range(3)] == [0, 0, 0]


def test_what_isnt_known_to_hold_is_left_to_the_database_and_takes_no_memory() -> None:
    counts = EarlyCounts()
    assert {counts.count(f"Bearer {number}") for number in range(10)} == {0}
    assert {counts.count("") for _ in range(10)} == {0}
    for number in range(MAX_TOKENS + 1):
        counts.learn(f"Bearer {number}")
    counts.learn(TOKEN)
    assert [counts.count(TOKEN) for _ in range(3)] == [0, 0, 0]
    assert {counts.count("Bearer 0") for _ in range(4)} == {0}, "the oldest are counted anew"
