"""The day that a question for ratings names above its scales."""

from datetime import date

from coaching.transcript.ratings import ShownRating, day_rated

DAY = date(2026, 11, 22)
CAREER = ShownRating(domain="career", label="Career", last=3, last_on=DAY)


def test_last_ratings_of_one_day_are_named_once() -> None:
    never = ShownRating(domain="health", label="Health")
    assert day_rated([CAREER, never, ShownRating(domain="play", label="Play", last=2, last_on=DAY)]) == DAY


def test_last_ratings_of_several_days_are_named_one_by_one() -> None:
    older = ShownRating(domain="play", label="Play", last=2, last_on=date(2026, 11, 15))
    assert day_rated([CAREER, older]) is None
    assert day_rated([ShownRating(domain="health", label="Health")]) is None
