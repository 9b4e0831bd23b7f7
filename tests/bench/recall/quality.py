"""How much of the labelled evidence stands among the first hits."""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import mean, quantiles
from time import perf_counter

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from coaching.jobs.encoding import encode_what_is_new
from coaching.recall.encoder import configured_encoder
from coaching.recall.search import search
from sessions_app.models import Message
from tests.bench.recall.seed import Asked

FIRST = 10
LOAD_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The share of the evidence among the first hits, and the mean of 1 / the place of the first one."""

    at_5: float
    at_10: float
    rank: float
    milliseconds: Sequence[float]
    missed: Sequence[Asked]
    at_10_by_category: Mapping[int, float]


def ask(asked: Sequence[Asked], *, now: datetime) -> Figures:
    """Ask all questions, at the time `now`."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    encode_everything()
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
        hits = search(question.text, user_id=users[question.username], now=now, limit=FIRST)
        times.append((perf_counter() - begun) * 1_000)
        found.append([ids[hit.message_id] for hit in hits if hit.message_id])
    answers = list(zip(asked, found, strict=True))
    kinds: dict[int, list[float]] = defaultdict(list)
    for question, keys in answers:
        kinds[question.category].append(_share(question, keys))
    return Figures(
        at_5=mean(_share(question, hits[:5]) for question, hits in answers),
        at_10=mean(_share(question, hits) for question, hits in answers),
        rank=mean(_rank(question, hits) for question, hits in answers),
        milliseconds=times,
        missed=[question for question, hits in answers if _share(question, hits) < 1],
        at_10_by_category={kind: mean(shares) for kind, shares in sorted(kinds.items())},
    )


def encode_everything() -> None:
    """Encode all passages, as the job does, if a model is configured, and load it for the questions."""
    if not settings.SAGE_EMBEDDING_MODEL:
        return
    begun = perf_counter()
    count = sum(iter(async_to_sync(encode_what_is_new), 0))
    sys.stdout.write(f"{count:,} passages encoded in {perf_counter() - begun:.0f} s\n")
    encoder = configured_encoder()
    if encoder is None or not encoder.wait_until_loaded(seconds=LOAD_SECONDS):
        raise SystemExit("The model can't be loaded.")


def show(figures: Figures, *, shows_misses: bool) -> None:
    """Print figures."""
    cut = quantiles(figures.milliseconds, n=100)
    sys.stdout.write(
        f"{len(figures.milliseconds)} questions: recall@5 {figures.at_5:.3f}, recall@10 {figures.at_10:.3f}, "
        f"MRR@10 {figures.rank:.3f}\np50 {cut[49]:.1f} ms, p95 {cut[94]:.1f} ms, p99 {cut[98]:.1f} ms\n"
    )
    for kind, share in figures.at_10_by_category.items():
        sys.stdout.write(f"recall@10 of category {kind}: {share:.3f}\n")
    for question in figures.missed if shows_misses else ():
        sys.stdout.write(f"missed: {question.text}\n")


def _share(question: Asked, hits: Sequence[str]) -> float:
    return len(question.evidence & set(hits)) / len(question.evidence)


def _rank(question: Asked, hits: Sequence[str]) -> float:
    return next((1 / place for place, hit in enumerate(hits, 1) if hit in question.evidence), 0.0)
