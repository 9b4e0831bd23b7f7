"""Who is read when: users take turns, a conversation comes first, and over the budget documents wait."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from coaching.job_queue.documents import DOCUMENT_QUEUES, enqueue_documents
from coaching.jobs.worker import JobWorker
from coaching.library.jobs.reading import resume_waiting
from coaching.models import Document, DocumentSource, DocumentState
from coaching.practice import PracticeServer
from coaching.practice.coach.documents import sent_documents
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff
from tests.library.pipeline.conftest import PAYSLIP, calls_to, fresh, stored, upload
from tests.library.pipeline.truth import TruthfulModel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]


async def many(user: User, count: int) -> Sequence[Document]:
    """Queue documents whose text was read before."""

    def make() -> Sequence[Document]:
        rows = stored(user, count)
        for number in range(DOCUMENT_QUEUES):
            enqueue_documents(user.pk, number)
        return rows

    return await in_database(make)


def states(user: User) -> dict[str, int]:
    """Count a user's documents by state."""
    found = Document.of(user.pk).values_list("state", flat=True)
    return {state: list(found).count(state) for state in set(found)}


async def test_users_take_turns_however_many_documents_one_of_them_has(
    user: User, other_user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel
) -> None:
    model.types = {"none": "letter"}
    await many(user, 120)
    await many(other_user, 8)
    await work_off()
    assert await in_database(states, user) == {DocumentState.FILED: 120}
    sent = [{document.id for document in sent_documents(call.body)} for call in calls_to(practice)]
    assert sorted(len(ids) for ids in sent) == [8] * 16
    assert len(set[int]().union(*sent)) == 128
    others = await in_database(lambda: set(Document.of(other_user.pk).values_list("id", flat=True)))
    assert next(place for place, ids in enumerate(sent) if ids & others) <= DOCUMENT_QUEUES


async def test_over_the_budget_documents_wait_and_go_on_the_next_day(
    user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel, settings: Settings
) -> None:
    model.types = {"none": "letter"}
    await many(user, 8)
    await work_off()
    tokens = await in_database(tokens_of, user)
    settings.SAGE_DAILY_TOKENS = int(tokens * 12.4)
    await in_database(let_a_day_pass)
    await many(user, 992)
    await work_off()
    first_day = await in_database(states, user)
    assert first_day[DocumentState.FILED] - 8 == 104
    assert first_day == {DocumentState.FILED: 112, DocumentState.WAITING: 888}
    reasons = await in_database(
        lambda: set(Document.of(user.pk).filter(state="waiting").values_list("reason", flat=True))
    )
    assert all(reason.startswith("Today’s budget is used up. More will be") for reason in reasons)
    assert await in_database(resume_waiting) == 0

    await in_database(let_a_day_pass)
    settings.SAGE_DAILY_TOKENS = int(tokens * 1.5)
    assert await in_database(resume_waiting) == 888
    await work_off()
    assert (await in_database(states, user))[DocumentState.FILED] == 128


def tokens_of(user: User) -> int:
    rows = ModelUsage.of(user.pk).filter(purpose="classify")
    return sum(
        row.input_tokens + row.output_tokens + row.cache_read_tokens + row.cache_creation_5m_tokens
        for row in rows
    )


def let_a_day_pass() -> None:
    ModelUsage.unscoped.update(created_at=timezone.now() - timedelta(hours=25))


async def test_a_document_of_a_conversation_does_not_wait_for_a_thousand_others(
    user: User, practice: PracticeServer, queue: None, model: TruthfulModel
) -> None:
    model.types = {"march.txt": "payslip"}
    model.seconds = 0.5
    await many(user, 1_000)
    async with JobWorker():
        await practice.wait_until(lambda _: len(calls_to(practice)) >= 3)
        asked = len(calls_to(practice))
        (document,) = await upload(user, ("march.txt", PAYSLIP), source=DocumentSource.CHAT)
        await practice.wait_until(lambda _: any("march.txt" in str(c.body) for c in calls_to(practice)))
        calls = calls_to(practice)
        place = next(place for place, call in enumerate(calls) if "march.txt" in str(call.body))
        assert [each.name for each in sent_documents(calls[place].body)] == ["march.txt"]
        assert place - asked < 60, "it was sent while most of the others wait"
        await practice.wait_until(lambda _: calls[place].stop_reason != "")
    assert (await in_database(states, user))[DocumentState.QUEUED] > 500
    assert (await fresh(document))[0].read_at is not None
