"""R17: the worker that reads documents is killed again and again, and no committed answer is asked for twice.

Each point is a kill at a chance moment while documents are read or asked about; the texts of half of them
were read before. In the end every document is filed once.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from coaching.job_queue.documents import DOCUMENT_QUEUES, enqueue_documents
from coaching.library.references.files import sync_reference_files
from coaching.models import (
    UNFINISHED_STATES,
    Document,
    DocumentCall,
    DocumentState,
    EffectKind,
    LibraryEffect,
)
from coaching.practice.coach.analysis import analyse, is_analysis
from coaching.practice.coach.documents import answer_of, row_for, sent_documents
from coaching.practice.coach.tour import answer
from coaching.practice.script import Reply
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.faults.cluster import Cluster
from tests.faults.report import Report
from tests.jobs.conftest import make_due
from tests.library.pipeline.conftest import stored, take_texts

DOCUMENTS_A_POINT = 24
ANSWER_SECONDS = 0.3
MAX_SECONDS = 1.5
REACH_SECONDS = 90.0
SLOTS = 2
WORDS = tuple(f"word{number}" for number in range(2_000))


@dataclass(slots=True)
class _Model:
    """Answers, and notes which documents were asked about when."""

    asked: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)

    def answer(self, body: Mapping[str, Any]) -> Reply:
        if is_analysis(body):
            return analyse(body)
        documents = sent_documents(body)
        if not documents:  # a job that an earlier row has left to this worker
            return answer(body)
        self.asked.append((time.time(), tuple(document.id for document in documents)))
        reply = answer_of([row_for(document, "letter", 0.95, why="It is one.") for document in documents])
        return Reply(reply.blocks, tokens_per_second=0.0, first_token_seconds=ANSWER_SECONDS)


async def run_r17(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Queue documents, and kill their worker at `points` moments."""
    report = Report(fault="R17", seed=seed)
    rng = random.Random(seed)
    model = _Model()
    async with PracticeServer(
        port=cluster.practice_port, tokens_per_second=0, answer=model.answer, kept_requests=100_000
    ) as practice:
        cluster.practice = practice
        user = await in_database(_person)
        while report.points < points:
            await in_database(_add, user, rng)
            unread = await in_database(_unread, user)
            worker = await asyncio.to_thread(cluster.start_worker)
            await _until_in_database(lambda unread=unread: _unread(user) < unread, cluster)
            await asyncio.sleep(rng.uniform(0, MAX_SECONDS))
            await asyncio.to_thread(cluster.end_worker, worker)
            report.points += bool(await in_database(_unfinished, user))
        began = time.monotonic()
        worker = await asyncio.to_thread(cluster.start_worker)
        is_done = await _until_in_database(lambda: not _unfinished(user), cluster)
        report.seconds.append(time.monotonic() - began)
        report.expect(is_done, f"R17 {await in_database(_unfinished, user)} documents are unfinished")
        await asyncio.to_thread(cluster.end_worker, worker)
    await in_database(_audit, report, user, model)
    return report


def _person() -> User:
    sync_reference_files()
    return get_user_model().objects.create_user(username=f"reader-{uuid4().hex[:8]}")


def _add(user: User, rng: random.Random) -> None:
    half = DOCUMENTS_A_POINT // 2
    stored(user, half)
    letters = (f"Dear Ada, this is a letter. {' '.join(rng.choices(WORDS, k=60))}" for _ in range(half))
    take_texts(user, [("letter.txt", letter) for letter in letters])
    for number in range(DOCUMENT_QUEUES):
        enqueue_documents(user.pk, number)


def _unread(user: User) -> int:
    return Document.of(user.pk).filter(read_at=None).count()


def _unfinished(user: User) -> int:
    make_due()
    return Document.of(user.pk).filter(state__in=UNFINISHED_STATES).count()


def _audit(report: Report, user: User, model: _Model) -> None:
    """Check that every document was filed once, and that no committed answer was asked for again."""
    documents = Document.of(user.pk)
    report.count("documents", documents.count())
    report.expect(not documents.exclude(state=DocumentState.FILED).exists(), "R17 a document wasn't filed")
    filings = LibraryEffect.of(user.pk).filter(kind=EffectKind.FILED)
    effects = Counter(filings.values_list("document_id", flat=True))
    report.expect(set(effects.values()) == {1}, "R17 a document was filed twice")
    answered = DocumentCall.of(user.pk).filter(state="answered")
    calls = list(answered.filter(purpose="classify"))
    covered = Counter(each for call in calls for each in call.documents)
    report.expect(set(covered.values()) == {1}, "R17 a document has two answers")
    for call in calls:
        assert call.answered_at is not None
        again = [
            ids
            for at, ids in model.asked
            if at > call.answered_at.timestamp() and set(ids) & set(call.documents)
        ]
        report.expect(not again, f"R17 call {call.pk} was asked again after its answer was committed")
    paid = ModelUsage.of(user.pk).filter(purpose="classify").count()
    report.expect(paid == len(calls), f"R17 {paid} answers were paid for, {len(calls)} were used")
    facts = answered.filter(purpose="facts").count()
    paid = ModelUsage.of(user.pk).filter(purpose="document").count()
    report.expect(paid == facts, f"R17 {paid} answers with facts were paid for, {facts} were used")
    report.count("calls", len(calls))
    repeated = len(model.asked) - len(calls)
    report.count("repeated in flight", repeated)
    report.expect(repeated <= SLOTS * report.points, f"R17 {repeated} calls were repeated")


async def _until_in_database(is_so: Any, cluster: Cluster) -> bool:
    try:
        async with asyncio.timeout(4 * REACH_SECONDS * cluster.patience):
            while not await in_database(is_so):  # noqa: ASYNC110 - a worker makes it so
                await asyncio.sleep(0.1)
    except TimeoutError:
        return False
    return True
