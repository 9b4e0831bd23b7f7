"""Totals of model usage. Calls with an unknown price are counted; their cost is never guessed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Min, Q, Sum, Window

from sessions_app.models import ASKED_HERE, ModelUsage, Turn, UsagePurpose

DAY = timedelta(days=1)

_CACHED = F("cache_creation_5m_tokens") + F("cache_creation_1h_tokens") + F("cache_read_tokens")
_TOKENS = F("input_tokens") + F("output_tokens") + _CACHED


@dataclass(frozen=True, slots=True, kw_only=True)
class PurposeUsage:
    """The usage of all calls for one purpose. `read_tokens` counts all input, cached or not.

    `cost_micro_usd` leaves out the `unpriced_calls`.
    """

    purpose: UsagePurpose
    calls: int
    read_tokens: int
    written_tokens: int
    cost_micro_usd: int
    unpriced_calls: int

    @property
    def known_cost(self) -> int | None:
        """The cost of the calls with a price; None if no call has one."""
        return None if self.calls == self.unpriced_calls else self.cost_micro_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class DayTokens:
    """The tokens of the last 24 hours, and in about how many hours there are more of them.

    That is when the budget isn't used up any more; where it isn't, when the first tokens no longer count.
    """

    tokens: int
    hours_to_more: int


def usage_by_purpose(*, user_id: int, since: datetime, until: datetime) -> Sequence[PurposeUsage]:
    """Return the user's usage from `since` to before `until` by purpose, the most expensive first."""
    rows = (
        ModelUsage.of(user_id)
        .filter(created_at__gte=since, created_at__lt=until)
        .values("purpose")
        .annotate(
            calls=Count("pk"),
            read=Sum(F("input_tokens") + _CACHED),
            written=Sum("output_tokens"),
            cost=Sum("cost_micro_usd"),
            unpriced=Count("pk", filter=Q(cost_micro_usd=None)),
        )
    )
    found = [
        PurposeUsage(
            purpose=UsagePurpose(row["purpose"]),
            calls=row["calls"],
            read_tokens=row["read"],
            written_tokens=row["written"],
            cost_micro_usd=row["cost"] or 0,
            unpriced_calls=row["unpriced"],
        )
        for row in rows
    ]
    return sorted(found, key=lambda usage: (-usage.cost_micro_usd, usage.purpose))


def count_turns(*, user_id: int, since: datetime, until: datetime) -> int:
    """Return how many turns the user's messages opened in that time."""
    return Turn.of(user_id).filter(ASKED_HERE, started_at__gte=since, started_at__lt=until).count()


def read_tokens_of_day(*, user_id: int, now: datetime, limit: int) -> DayTokens:
    """Return what counts against the user's daily budget at `now`: all tokens, cached ones included."""
    recent = ModelUsage.of(user_id).filter(created_at__gt=now - DAY)
    used = recent.aggregate(tokens=Sum(_TOKENS), oldest=Min("created_at"))
    tokens: int = used["tokens"] or 0
    frees: datetime = used["oldest"] or now
    if tokens >= limit:
        # The newest call that, with all later ones, reaches the limit: once it is a day old, they don't.
        later = Window(Sum(_TOKENS), order_by=F("created_at").desc())
        reached = recent.annotate(since_then=later).filter(since_then__gte=limit).order_by("-created_at")
        frees = reached.values_list("created_at", flat=True).first() or frees
    return DayTokens(
        tokens=tokens, hours_to_more=max(1, math.ceil((frees + DAY - now).total_seconds() / 3600))
    )
