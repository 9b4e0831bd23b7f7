"""How much of the labelled evidence stands among the first hits."""

import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, quantiles
from time import perf_counter

from django.contrib.auth.models import User
from django.db import connection

from coaching.recall.search import search
from sessions_app.models import Message
from tests.bench.recall.seed import Asked, load_conversations

RECALL_BAR, RANK_BAR = 0.69, 0.54
FIRST = 10
ASKED_AT = datetime(2023, 12, 1, tzinfo=UTC)
"""Just after the last of the conversations."""


def run(path: Path, *, is_named: bool, shows_misses: bool) -> bool:
    """Ask all questions, print the figures, and return whether the bars are met."""
    asked = load_conversations(path, is_named=is_named)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    users = {user.username: user.pk for user in User.objects.all()}
    ids = {
        pk: metadata["imported_id"]
        for user_id in users.values()
        for pk, metadata in Message.of(user_id).values_list("pk", "metadata")
    }
    found: list[Sequence[str]] = []
    times: list[float] = []
    for question in asked:
        begun = perf_counter()
        hits = search(question.text, user_id=users[question.username], now=ASKED_AT, limit=FIRST)
        times.append((perf_counter() - begun) * 1_000)
        found.append([ids[hit.message_id] for hit in hits if hit.message_id])
    return _report(asked, found, times, shows_misses=shows_misses)


def _report(
    asked: Sequence[Asked], found: Sequence[Sequence[str]], times: Sequence[float], *, shows_misses: bool
) -> bool:
    at_5 = mean(_share(question, hits[:5]) for question, hits in zip(asked, found, strict=True))
    at_10 = [_share(question, hits) for question, hits in zip(asked, found, strict=True)]
    rank = mean(_rank(question, hits) for question, hits in zip(asked, found, strict=True))
    kinds: dict[int, list[float]] = defaultdict(list)
    for question, share in zip(asked, at_10, strict=True):
        kinds[question.category].append(share)
        if shows_misses and not share:
            sys.stdout.write(f"missed: {question.text}\n")
    parts = ", ".join(f"category {kind} {mean(shares):.3f}" for kind, shares in sorted(kinds.items()))
    cut = quantiles(times, n=100)
    sys.stdout.write(
        f"{len(asked)} questions: recall@5 {at_5:.3f}, recall@10 {mean(at_10):.3f}, MRR@10 {rank:.3f}\n"
        f"recall@10 by {parts}\np50 {cut[49]:.1f} ms, p95 {cut[94]:.1f} ms, p99 {cut[98]:.1f} ms\n"
    )
    return mean(at_10) >= RECALL_BAR and rank >= RANK_BAR


def _share(question: Asked, hits: Sequence[str]) -> float:
    return len(question.evidence & set(hits)) / len(question.evidence)


def _rank(question: Asked, hits: Sequence[str]) -> float:
    return next((1 / place for place, hit in enumerate(hits, 1) if hit in question.evidence), 0.0)
