"""What documents cost: the replies to the calls about them, shared by the documents of each call."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum

from coaching.models import DocumentCall

TOKENS = (
    "input_tokens", "output_tokens", "cache_creation_5m_tokens", "cache_creation_1h_tokens",
    "cache_read_tokens",
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class DocumentCost:
    """A document's share of its calls, in millionths of a dollar, by purpose, and in tokens.

    `unknown` counts the calls with a reply that has no price or isn't known; their known part is included.
    `replies` are all that the calls took: one in each round.
    """

    calls: int = 0
    replies: int = 0
    tokens: int = 0
    unknown: int = 0
    by_purpose: dict[str, float] = field(default_factory=dict)

    @property
    def micro_usd(self) -> int | None:
        """The sum; None if nothing of it is known."""
        return None if self.calls == self.unknown else round(sum(self.by_purpose.values()))


def costs_of_documents(
    *, user_ids: Collection[int], document_ids: Collection[int]
) -> Mapping[int, DocumentCost]:
    """Return the costs of documents of these users; a document without calls is missing."""
    costs: dict[int, DocumentCost] = {}
    calls = calls_about(user_ids=user_ids, document_ids=document_ids)
    for call in call_costs(calls).values("documents", "purpose", "cost", "tokens", "replies", "unpriced"):
        for document_id in set(call["documents"]).intersection(document_ids):
            cost = costs.setdefault(document_id, DocumentCost())
            cost.calls += 1
            cost.replies += call["replies"]
            cost.tokens += round((call["tokens"] or 0) / len(call["documents"]))
            cost.unknown += bool(call["unpriced"] or not call["replies"])
            if call["cost"] is not None:
                share = call["cost"] / len(call["documents"])
                cost.by_purpose[call["purpose"]] = cost.by_purpose.get(call["purpose"], 0.0) + share
    return costs


def calls_about(*, user_ids: Collection[int], document_ids: Collection[int]) -> QuerySet[DocumentCall]:
    """Return the calls of these users about at least one of the documents."""
    about = Q(*(Q(documents__contains=[each]) for each in sorted(document_ids)), _connector=Q.OR)
    calls = DocumentCall.unscoped.filter(about, user_id__in=user_ids)
    return calls if document_ids else calls.none()


def call_costs(calls: Any) -> Any:
    """Annotate calls with the known `cost` of their replies, their `tokens` and number, and the unpriced."""
    return calls.annotate(
        cost=Sum("replies_paid__usage__cost_micro_usd"),
        tokens=Sum(reduce(add, (F(f"replies_paid__usage__{name}") for name in TOKENS))),
        replies=Count("replies_paid"),
        unpriced=Count("replies_paid", filter=Q(replies_paid__usage__cost_micro_usd=None)),
    )
