"""Ratings of the domains, an append-only series: baseline (the first) and trend (the last four)."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet, Window
from django.db.models.functions import RowNumber

from coaching.models import LifeDomain, PulseRating
from sessions_app.queries import Rows, parameter, prepared, run_query

TREND_LENGTH = 4


@prepared
def pulse_ratings() -> QuerySet[Any, Any]:
    """Return the query of a user's first and last ratings, whose rows `pulse_of` takes."""
    place, age = (
        Window(RowNumber(), partition_by="domain", order_by=order)
        for order in (["rated_at", "id"], ["-rated_at", "-id"])
    )
    numbered = PulseRating.of(parameter("user")).annotate(place=place, age=age)
    shown = numbered.filter(Q(place=1) | Q(age__lte=TREND_LENGTH)).order_by("rated_at", "id")
    return shown.values_list("domain", "rating", "rated_at", "place", "age")


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainPulse:
    """A domain's ratings, 1 (worst) to 5. `trend` has the last four, oldest first, and is never empty."""

    domain: LifeDomain
    baseline: int
    trend: tuple[int, ...]
    trend_at: tuple[datetime, ...]

    @property
    def latest(self) -> int:
        return self.trend[-1]

    @property
    def rated_at(self) -> datetime:
        return self.trend_at[-1]

    @property
    def previous(self) -> int | None:
        return self.trend[-2] if len(self.trend) > 1 else None

    @property
    def change(self) -> int | None:
        """The change of the newest rating; None for a first one."""
        return None if self.previous is None else self.latest - self.previous

    @property
    def change_since_baseline(self) -> int:
        return self.latest - self.baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingThen:
    """A domain's rating at some time."""

    label: str
    rating: int
    rated_at: datetime


def store_ratings(
    *,
    user_id: int,
    ratings: Mapping[LifeDomain, int],
    note: str,
    session_id: uuid.UUID | None,
    rated_at: datetime,
) -> None:
    """Add a rating to each of the domains, all with the same note."""
    PulseRating.of(user_id).bulk_create(
        PulseRating(
            user_id=user_id, domain=domain, rating=rating, note=note, session_id=session_id, rated_at=rated_at
        )
        for domain, rating in ratings.items()
    )


def read_pulse(user_id: int) -> Mapping[LifeDomain, DomainPulse]:
    """Return the pulse of every rated domain, in the domains' order."""
    return pulse_of(run_query(pulse_ratings(user=user_id)))


def pulse_of(rows: Rows) -> Mapping[LifeDomain, DomainPulse]:
    firsts = {domain: rating for domain, rating, _, place, _ in rows if place == 1}
    lasts: dict[str, list[tuple[int, datetime]]] = {}
    for domain, rating, rated_at, _, age in rows:
        if age <= TREND_LENGTH:
            lasts.setdefault(domain, []).append((rating, rated_at))
    return {
        domain: DomainPulse(
            domain=domain,
            baseline=firsts[domain],
            trend=tuple(rating for rating, _ in lasts[domain]),
            trend_at=tuple(rated_at for _, rated_at in lasts[domain]),
        )
        for domain in LifeDomain
        if domain in firsts
    }
