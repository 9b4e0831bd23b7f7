"""The domains of a pulse check as a page shows them: to rate, with the last ratings, and once rated. Pure.

Stored values may be of an older version: unexpected ones are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from coaching.models import LifeDomain

RATINGS = range(1, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRating:
    """One domain to rate. `new` is None until it is rated, `old` if it never was before.

    `last` is the rating before the question, given on the user's day `last_on`; `fault` is what was wrong
    with a refused rating.
    """

    domain: str
    label: str
    new: int | None = None
    old: int | None = None
    last: int | None = None
    last_on: date | None = None
    fault: str = ""


def rows_to_rate(domains: Sequence[LifeDomain], facts: Mapping[str, object]) -> Sequence[ShownRating]:
    """Return the rows of a question; `facts` has the last ratings as `show_pulse_check` writes them."""
    return [_with_last(ShownRating(domain=str(one), label=str(one.label)), facts.get(one)) for one in domains]


def rated_rows(rows: Sequence[ShownRating], said: Mapping[str, Any]) -> Sequence[ShownRating]:
    """Return the rows that a result has, with its ratings."""
    found = [(row, said[row.domain]) for row in rows if isinstance(said.get(row.domain), Mapping)]
    return [replace(row, new=rating_in(one.get("new")), old=rating_in(one.get("old"))) for row, one in found]


def day_rated(rows: Sequence[ShownRating]) -> date | None:
    """Return the day of the last ratings if they are all of one day."""
    days = {row.last_on for row in rows if row.last}
    return days.pop() if len(days) == 1 else None


def rating_in(value: object) -> int | None:
    """Return a rating; None for anything else."""
    return value if isinstance(value, int) and value in RATINGS else None


def _with_last(row: ShownRating, fact: object) -> ShownRating:
    rating, _, day = fact.partition(" ") if isinstance(fact, str) else ("", "", "")
    try:
        last, last_on = rating_in(int(rating)), date.fromisoformat(day)
    except ValueError:
        return row
    return replace(row, last=last, last_on=last_on) if last else row
