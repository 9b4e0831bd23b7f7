"""Tokens, cost and time of turns, added up over their model calls."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, F, Min, QuerySet, Sum

from sessions_app.models import ModelUsage, UsagePurpose


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a turn's requests took. `cost_micro_usd` is None where the price of any of them is unknown.

    `input_tokens` were neither read from the cache nor written to it. `first_token_ms` is how long the
    quickest of the requests took to its first word.
    """

    requests: int
    input_tokens: int
    cache_read_tokens: int
    cache_written_tokens: int
    output_tokens: int
    cost_micro_usd: int | None
    first_token_ms: int | None
    model_ms: int

    @property
    def sent_tokens(self) -> int:
        """All that was sent."""
        return self.input_tokens + self.cache_read_tokens + self.cache_written_tokens

    @property
    def cache_share(self) -> float:
        """What part of it was read from the cache, 0 to 1."""
        return self.cache_read_tokens / self.sent_tokens if self.sent_tokens else 0.0


def usage_metadata(spending: Spending) -> Mapping[str, int | None]:
    """Return a turn's spending for the metadata of its message."""
    return {
        "requests": spending.requests,
        "input_tokens": spending.input_tokens,
        "output_tokens": spending.output_tokens,
        "cache_read_tokens": spending.cache_read_tokens,
        "cache_creation_tokens": spending.cache_written_tokens,
        "cost_micro_usd": spending.cost_micro_usd,
    }


def read_spending_of_turn(turn_id: uuid.UUID) -> Spending | None:
    """Return a turn's spending; None where there was no request."""
    return read_spending_of_turns([turn_id]).get(turn_id)


def read_spending_of_turns(turn_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Spending]:
    """Return the spending of each of these turns that made a request."""
    return _by_turn(ModelUsage.unscoped.filter(turn_id__in=turn_ids))


def _by_turn(usage: QuerySet[ModelUsage]) -> Mapping[uuid.UUID, Spending]:
    rows = (
        usage.filter(purpose=UsagePurpose.TURN)
        .values("turn_id")
        .annotate(
            requests=Count("id"),
            priced=Count("cost_micro_usd"),
            cost=Sum("cost_micro_usd"),
            sent=Sum("input_tokens"),
            read=Sum("cache_read_tokens"),
            written=Sum(F("cache_creation_5m_tokens") + F("cache_creation_1h_tokens")),
            answered=Sum("output_tokens"),
            first=Min("first_token_ms"),
            took=Sum("duration_ms"),
        )
        .order_by()
    )
    return {
        row["turn_id"]: Spending(
            requests=row["requests"],
            input_tokens=row["sent"],
            cache_read_tokens=row["read"],
            cache_written_tokens=row["written"],
            output_tokens=row["answered"],
            cost_micro_usd=row["cost"] if row["priced"] == row["requests"] else None,
            first_token_ms=row["first"],
            model_ms=row["took"],
        )
        for row in rows
    }
