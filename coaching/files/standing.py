"""Which ratings go with the status of a part of life. Pure.

Given together they must fit. Of two that were given one after the other, the newer holds: on the map, on the
page and in its editor, and whatever writes the page leaves out the other one.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from django.utils.translation import gettext_noop

from coaching.models.life import DomainStatus
from sessions_app.errors import FieldRefused

FITTING: Mapping[str, range] = {
    DomainStatus.THRIVING: range(4, 6),
    DomainStatus.GOOD: range(3, 6),
    DomainStatus.OKAY: range(2, 5),
    DomainStatus.NEEDS_ATTENTION: range(1, 4),
    DomainStatus.IN_CRISIS: range(1, 3),
}
CONTRADICTION = gettext_noop(
    "“%(status)s” and %(rating)s of 5 contradict each other: “%(status)s” goes with %(first)s to %(last)s. "
    "Change the rating or the status."
)
STATUS_JUST_GIVEN = gettext_noop(
    "You’ve just called this “%(status)s”, which goes with %(first)s to %(last)s. Choose one of these, or "
    "leave this part out and tell Sage how it is."
)


def contradicts(status: object, rating: int | None) -> bool:
    """Return whether a status can't go with a rating; without one of both, or an unknown status, it can."""
    fitting = FITTING.get(status) if isinstance(status, str) else None
    return fitting is not None and rating is not None and rating not in fitting


def check_standing(
    status: object, rating: int | None, *, sentence: str = CONTRADICTION, field: str = "updated_rating"
) -> None:
    """Raise `FieldRefused` for the field of a rating that contradicts the status."""
    if not contradicts(status, rating):
        return
    known = DomainStatus(str(status))
    fitting = FITTING[known]
    raise FieldRefused(
        sentence, field=field, status=known.label, rating=rating, first=fitting[0], last=fitting[-1]
    )


def outdated_part(
    status: object, written_at: datetime, rating: int | None, rated_at: datetime | None
) -> Literal["status", "updated_rating"] | None:
    """Name what no longer holds: the older of a page's status and the domain's newest rating, or None.

    `written_at` is when the page was last written: no write keeps a status that didn't hold.
    """
    if rated_at is None or not contradicts(status, rating):
        return None
    return "status" if rated_at > written_at else "updated_rating"


def without_contradicted(kept: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that a save keeps, without a status or rating that what it gives contradicts."""
    if contradicts(given.get("status"), kept.get("updated_rating")):
        return {name: value for name, value in kept.items() if name != "updated_rating"}
    if contradicts(kept.get("status"), given.get("updated_rating")):
        return {name: value for name, value in kept.items() if name != "status"}
    return dict(kept)
