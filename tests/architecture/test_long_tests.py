"""Long tests take turns, and none is left out for good."""

from collections import Counter

from tests.long_tests import DAILY, TESTS, TURNS, listed, runs_today, turn_of
from tests.tiers import MAY_MARK_SLOW, tier_of


def test_each_long_test_is_there() -> None:
    for name in listed():
        file, _, within = name.partition("::")
        source = TESTS / file
        assert source.is_file(), f"{name}: run tests.write_long_tests, or take the line out"
        if within:
            words = source.read_text()
            assert all(f"def {part}(" in words or f"class {part}" in words for part in within.split("::")), (
                name
            )


def test_whole_files_are_of_tiers_whose_tests_share_servers() -> None:
    for name in listed():
        is_shared = tier_of(TESTS / name.partition("::")[0]) not in MAY_MARK_SLOW
        assert is_shared is ("::" not in name), name


def test_each_long_test_runs_in_as_many_days_as_there_are_turns() -> None:
    for name in listed():
        days = Counter(runs_today(name, day=day) for day in range(20_001, 20_001 + TURNS))
        assert days[True] == (TURNS if turn_of(name) == DAILY else 1), name
    assert {turn_of(name) for name in listed()} == {DAILY, *map(str, range(TURNS))}


def test_what_is_not_listed_runs_every_day() -> None:
    assert turn_of("engine/test_a_new_one.py::test_it") == DAILY
    assert turn_of("browser/test_week.py::test_a_new_one") == turn_of("browser/test_week.py") != DAILY
