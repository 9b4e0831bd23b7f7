"""Tokens, cost and time of turns, added up over their model calls."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

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
    by_turn: dict[uuid.UUID, list[ModelUsage]] = defaultdict(list)
    for usage in ModelUsage.unscoped.filter(turn_id__in=turn_ids, purpose=UsagePurpose.TURN):
        if usage.turn_id is not None:
            by_turn[usage.turn_id].append(usage)
    return {turn_id: spending_of(rows) for turn_id, rows in by_turn.items()}


def spending_of(usage: Sequence[ModelUsage]) -> Spending:
    """Add up what a turn's requests took."""
    costs = [row.cost_micro_usd for row in usage if row.cost_micro_usd is not None]
    return Spending(
        requests=len(usage),
        input_tokens=sum(row.input_tokens for row in usage),
        cache_read_tokens=sum(row.cache_read_tokens for row in usage),
        cache_written_tokens=sum(
            row.cache_creation_5m_tokens + row.cache_creation_1h_tokens for row in usage
        ),
        output_tokens=sum(row.output_tokens for row in usage),
        cost_micro_usd=sum(costs) if len(costs) == len(usage) else None,
        first_token_ms=min(
            (row.first_token_ms for row in usage if row.first_token_ms is not None), default=None
        ),
        model_ms=sum(row.duration_ms for row in usage),
    )
