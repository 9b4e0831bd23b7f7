"""When a repeating step is due next."""

from datetime import date

import pytest

from coaching.steps.repeats import meant_day, next_date, read_repeats

THURSDAY = date(2026, 12, 3)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("", ""),
        ("daily", "daily"),
        ("Monthly", "monthly"),
        ("weekly", "thu"),
        ("thu, Monday", "mon,thu"),
        ("mon,tue,wed,thu,fri,sat,sun", "daily"),
        ("sometimes", None),
        ("mon,sometimes", None),
    ],
)
def test_what_is_given_is_stored_in_one_form(given: str, stored: str | None) -> None:
    assert read_repeats(given, due_date=THURSDAY) == stored


def test_weekly_needs_a_date() -> None:
    assert read_repeats("weekly") is None


@pytest.mark.parametrize(
    ("repeats", "due", "done_on", "coming"),
    [
        ("", THURSDAY, THURSDAY, None),
        ("daily", THURSDAY, THURSDAY, date(2026, 12, 4)),
        ("daily", THURSDAY, date(2026, 12, 9), date(2026, 12, 10)),
        ("mon,thu", THURSDAY, date(2026, 12, 2), date(2026, 12, 7)),
        ("thu", THURSDAY, THURSDAY, date(2026, 12, 10)),
        ("monthly", THURSDAY, THURSDAY, date(2027, 1, 3)),
        ("monthly", date(2027, 1, 31), date(2027, 1, 31), date(2027, 2, 28)),
        ("monthly", date(2027, 1, 31), date(2027, 3, 1), date(2027, 3, 31)),
        ("monthly", date(2026, 12, 31), date(2026, 12, 31), date(2027, 1, 31)),
    ],
)
def test_the_next_date_is_after_the_present_one_and_after_the_day_it_was_done(
    repeats: str, due: date, done_on: date, coming: date | None
) -> None:
    assert next_date(repeats, due, done_on=done_on) == coming


def test_a_short_month_shortens_no_later_one() -> None:
    due, month_day, dates = date(2027, 1, 31), None, []
    for _ in range(14):
        coming = next_date("monthly", due, done_on=due, month_day=month_day)
        assert coming is not None
        month_day = meant_day("monthly", coming, before=due, month_day=month_day)
        due = coming
        dates.append(due.day)
    assert dates == [28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 29, 31]
    assert month_day is None
