"""How a life feels over time: ratings of the eight domains, a series that is only ever added to.

The baseline is a domain's first rating, the trend its last four. It asks nobody anything and shows nothing.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from coaching.models import LifeDomain, PulseRating

TREND_LENGTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainPulse:
    """One domain's ratings, 1 (worst) to 5. `trend` is the last four, the oldest first; never empty."""

    domain: LifeDomain
    baseline: int
    trend: tuple[int, ...]
    rated_at: datetime

    @property
    def latest(self) -> int:
        """The newest rating."""
        return self.trend[-1]

    @property
    def previous(self) -> int | None:
        """The rating before the newest one."""
        return self.trend[-2] if len(self.trend) > 1 else None

    @property
    def change(self) -> int | None:
        """What the newest rating changed; None for a first one."""
        return None if self.previous is None else self.latest - self.previous

    @property
    def change_since_baseline(self) -> int:
        """How far the newest rating is from the first."""
        return self.latest - self.baseline


def store_ratings(
    *,
    user_id: int,
    ratings: Mapping[LifeDomain, int],
    note: str,
    session_id: uuid.UUID | None,
    rated_at: datetime,
) -> None:
    """Add one rating to each of the domains; the note belongs to all of them."""
    PulseRating.objects.bulk_create(
        PulseRating(
            user_id=user_id,
            domain=domain,
            rating=rating,
            note=note,
            session_id=session_id,
            rated_at=rated_at,
        )
        for domain, rating in ratings.items()
    )


def read_pulse(user_id: int) -> Mapping[LifeDomain, DomainPulse]:
    """Return the pulse of every domain that the user has rated, in the domains' own order."""
    oldest_first = Window(RowNumber(), partition_by="domain", order_by=("rated_at", "id"))
    newest_first = Window(RowNumber(), partition_by="domain", order_by=(F("rated_at").desc(), F("id").desc()))
    numbered = PulseRating.objects.filter(user_id=user_id).annotate(age=newest_first, place=oldest_first)
    firsts = {LifeDomain(row.domain): row.rating for row in numbered.filter(place=1)}
    lasts: dict[LifeDomain, list[PulseRating]] = {}
    for row in numbered.filter(age__lte=TREND_LENGTH).order_by("rated_at", "id"):
        lasts.setdefault(LifeDomain(row.domain), []).append(row)
    return {
        domain: DomainPulse(
            domain=domain,
            baseline=firsts[domain],
            trend=tuple(row.rating for row in lasts[domain]),
            rated_at=lasts[domain][-1].rated_at,
        )
        for domain in LifeDomain
        if domain in firsts and domain in lasts
    }
