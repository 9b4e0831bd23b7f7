"""Which ratings go with which status."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from coaching.files.standing import FITTING, check_standing, contradicts, outdated_part, without_contradicted
from coaching.models.life import DomainStatus
from sessions_app.errors import FieldRefused


def test_each_status_goes_with_some_ratings_and_a_better_one_never_with_lower_ones() -> None:
    fitting = [FITTING[status] for status in DomainStatus]
    assert all(fitting)
    for better, worse in pairwise(fitting):
        assert better[0] >= worse[0]
        assert better[-1] >= worse[-1]


@pytest.mark.parametrize("status", [None, "", "splendid", 7])
def test_what_is_no_status_contradicts_nothing(status: object) -> None:
    assert not any(contradicts(status, rating) for rating in (None, 1, 5))


def test_a_refusal_names_the_status_its_ratings_and_the_field() -> None:
    check_standing("in_crisis", 2)
    check_standing("in_crisis", None)
    with pytest.raises(
        FieldRefused, match=r"“In crisis” and 3 of 5 .*“In crisis” goes with 1 to 2"
    ) as refused:
        check_standing("in_crisis", 3)
    assert refused.value.field == "updated_rating"


@pytest.mark.parametrize(
    ("status", "rating", "seconds", "outdated"),
    [
        ("thriving", 1, 1, "status"),
        ("thriving", 1, 0, "updated_rating"),
        ("thriving", 1, -1, "updated_rating"),
        ("thriving", 4, 1, None),
        (["thriving"], 1, 1, None),
        ("thriving", None, None, None),
    ],
)
def test_of_a_contradiction_the_older_part_no_longer_holds(
    status: object, rating: int | None, seconds: int | None, outdated: str | None
) -> None:
    written = datetime(2026, 3, 1, tzinfo=UTC)
    rated = None if seconds is None else written + timedelta(seconds=seconds)
    assert outdated_part(status, written, rating, rated) == outdated


@pytest.mark.parametrize(
    ("given", "stays"),
    [
        ({"status": "in_crisis"}, {"status"}),
        ({"status": "good"}, {"status", "updated_rating"}),
        ({"updated_rating": 1}, {"updated_rating"}),
        ({"updated_rating": 4}, {"status", "updated_rating"}),
        ({"preview_line": "Fine"}, {"status", "updated_rating"}),
    ],
)
def test_a_save_keeps_what_it_doesnt_contradict(given: dict[str, object], stays: set[str]) -> None:
    kept = {"status": "thriving", "updated_rating": 5}
    merged = without_contradicted(kept, given) | given
    assert merged.keys() & kept.keys() == stays
