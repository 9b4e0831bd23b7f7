"""The model API's batches: half the price, and a run that dies waits for the same batch again."""

import asyncio
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User

from coaching.engine.profiles import cost_micro_usd
from coaching.engine.usage import TokenCounts
from coaching.library.batch import Services
from coaching.library.batches import answer_in_batches
from coaching.library.direct import read_directly
from coaching.model.client import ModelConnection
from coaching.models import Document, DocumentCall, DocumentSource, DocumentState
from coaching.practice import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.library.pipeline.conftest import LEASE, PAYSLIP, fresh, upload
from tests.library.pipeline.truth import TruthfulModel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]


async def read_in_batches(documents: Sequence[Document]) -> None:
    """Do what `classify --batch` does, in a process of its own."""
    models = ModelConnection()
    services = Services(client=models.client)
    user_id, ids = documents[0].user_id, [document.pk for document in documents]
    try:
        client = await models.batch_client()
        await answer_in_batches(user_id=user_id, document_ids=ids, services=services, client=client)
        await read_directly(user_id=user_id, document_ids=ids, services=services, progress=lambda _: None)
    finally:
        await models.close()


def paths(practice: PracticeServer, method_path: str) -> int:
    return sum(request.path == method_path for request in practice.requests)


async def test_a_batch_is_answered_at_half_the_price(
    user: User, practice: PracticeServer, settings: object
) -> None:
    settings.SAGE_CLASSIFY_MODEL = "claude-haiku-5-5"  # type: ignore[attr-defined]
    texts = [(f"letter {number}.txt", f"Dear Ada, letter {number}. Yours, Grace") for number in range(10)]
    documents = await upload(user, *texts, ("a.txt", PAYSLIP), source=DocumentSource.COMMAND)
    await read_in_batches(documents)
    assert not [d.state for d in await fresh(*documents) if d.state not in ("filed", "review")]
    assert paths(practice, "/v1/messages/batches") == 1
    calls = await in_database(lambda: list(DocumentCall.of(user.pk).filter(purpose="classify")))
    assert [(call.state, bool(call.batch), len(call.documents)) for call in calls] == [
        ("answered", True, 3),
        ("answered", True, 8),
    ]
    for row in await in_database(lambda: list(ModelUsage.of(user.pk).filter(purpose="classify"))):
        tokens = TokenCounts(
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cache_creation_5m_tokens=row.cache_creation_5m_tokens,
            cache_read_tokens=row.cache_read_tokens,
        )
        whole = cost_micro_usd(row.model, tokens, row.created_at.date())
        assert whole
        assert row.cost_micro_usd == pytest.approx(whole / 2, abs=1)


async def test_a_run_that_dies_waits_for_the_same_batch_again(user: User, practice: PracticeServer) -> None:
    practice.batches.seconds = 3600.0
    documents = await upload(user, ("a.txt", PAYSLIP), ("b.txt", LEASE), source=DocumentSource.COMMAND)
    run = asyncio.create_task(read_in_batches(documents))
    await practice.wait_until(lambda _: bool(practice.batches.batches))
    await practice.wait_until(lambda _: any(request.path.count("/") == 4 for request in practice.requests))
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    (batch,) = practice.batches.batches.values()
    batch.ends_at = 0.0
    await read_in_batches(documents)
    assert [document.state for document in await fresh(*documents)] == [DocumentState.FILED] * 2
    assert len(practice.batches.batches) == 1
    assert paths(practice, "/v1/messages") == 0


async def test_what_a_batch_does_not_answer_is_asked_for_in_the_usual_way(
    user: User, practice: PracticeServer, model: TruthfulModel
) -> None:
    model.poison = {"a.txt"}
    documents = await upload(user, ("a.txt", PAYSLIP), source=DocumentSource.COMMAND)
    run = asyncio.create_task(read_in_batches(documents))
    await practice.wait_until(lambda _: bool(practice.batches.batches))
    model.poison = set()
    await run
    assert (await fresh(*documents))[0].state == DocumentState.FILED
    assert paths(practice, "/v1/messages") == 1
