"""Usage and cost of everybody, for operators: sums by day, model, purpose and user, without any words."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from sessions_app.models import ModelUsage

KeyT = TypeVar("KeyT", bound=Hashable)

_WRITTEN_TO_CACHE = F("cache_creation_5m_tokens") + F("cache_creation_1h_tokens")
_SUMS: Mapping[str, Any] = {
    "calls": Count("pk"),
    "read_tokens": Sum(F("input_tokens") + F("cache_read_tokens") + _WRITTEN_TO_CACHE),
    "cached_tokens": Sum("cache_read_tokens"),
    "written_tokens": Sum("output_tokens"),
    "cost": Sum("cost_micro_usd", default=0),
    "unpriced_calls": Count("pk", filter=Q(cost_micro_usd=None)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSum:
    """Usage added up. `read_tokens` counts all input, cached or not.

    `cost` is in millionths of a US dollar and leaves out the `unpriced_calls`.
    """

    calls: int = 0
    read_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    cost: int = 0
    unpriced_calls: int = 0

    def __add__(self, other: "UsageSum") -> "UsageSum":
        return UsageSum(
            calls=self.calls + other.calls,
            read_tokens=self.read_tokens + other.read_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            cost=self.cost + other.cost,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
        )

    @property
    def tokens(self) -> int:
        return self.read_tokens + self.written_tokens

    @property
    def known_cost(self) -> int | None:
        """The cost of the calls with a price; None if there are calls and none has one."""
        return None if self.calls and self.calls == self.unpriced_calls else self.cost


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """The usage of a period. Days are UTC's; a day without calls is missing."""

    total: UsageSum
    by_day: Mapping[date, UsageSum]
    by_model: Mapping[str, UsageSum]
    by_purpose: Mapping[str, UsageSum]
    by_user: Mapping[int, UsageSum]


def read_usage_report(*, since: datetime, until: datetime) -> UsageReport:
    """Add up everybody's usage from `since` to before `until`, in two passes over the period's rows."""
    calls = usage_between(since, until)
    days = [
        (row, _sum_of(row))
        for row in calls.annotate(day=TruncDate("created_at", tzinfo=UTC))
        .values("day", "model", "purpose")
        .annotate(**_SUMS)
    ]
    people = [(row, _sum_of(row)) for row in calls.values("user_id").annotate(**_SUMS)]
    return UsageReport(
        total=sum((each for _, each in days), UsageSum()),
        by_day=_grouped((row["day"], each) for row, each in days),
        by_model=_grouped((row["model"], each) for row, each in days),
        by_purpose=_grouped((row["purpose"], each) for row, each in days),
        by_user=_grouped((row["user_id"], each) for row, each in people),
    )


def read_usage_sum(*, since: datetime, until: datetime) -> UsageSum:
    """Add up everybody's usage from `since` to before `until`, without parting it."""
    row = usage_between(since, until).aggregate(**_SUMS)
    return _sum_of({name: row[name] or 0 for name in _SUMS})


def usage_between(since: datetime, until: datetime) -> QuerySet[ModelUsage]:
    """Return everybody's calls from `since` to before `until`."""
    return ModelUsage.unscoped.filter(created_at__gte=since, created_at__lt=until).order_by()


def _sum_of(row: Mapping[str, Any]) -> UsageSum:
    return UsageSum(**{name: row[name] for name in _SUMS})


def _grouped(sums: Iterable[tuple[KeyT, UsageSum]]) -> Mapping[KeyT, UsageSum]:
    grouped: dict[KeyT, UsageSum] = defaultdict(UsageSum)
    for key, each in sums:
        grouped[key] += each
    return dict(grouped)
