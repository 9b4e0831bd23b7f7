"""The model API's batches: half the price, and a run that dies waits for the same batch again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import pytest
from django.contrib.auth.models import User

from coaching.engine.profiles import cost_micro_usd
from coaching.engine.usage import TokenCounts
from coaching.library.documents.filing import delete_document, withhold_document
from coaching.library.pipeline.batch import Services
from coaching.library.pipeline.batches import answer_in_batches, collect
from coaching.library.pipeline.call_records import calls_in_batches
from coaching.library.pipeline.claims import claim_chosen
from coaching.library.pipeline.direct import read_directly
from coaching.library.pipeline.reading import read_batch
from coaching.model_client.connection import ModelConnection
from coaching.models import Document, DocumentCall, DocumentSource, DocumentState
from coaching.practice import PracticeServer
from coaching.practice.faults.fault import Fault
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


@pytest.mark.slow
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


@pytest.mark.slow
async def test_a_run_that_dies_waits_for_the_same_batch_again(user: User, practice: PracticeServer) -> None:
    practice.batches.seconds = 3600.0
    documents = await upload(user, ("a.txt", PAYSLIP), ("b.txt", LEASE), source=DocumentSource.COMMAND)
    run = asyncio.create_task(read_in_batches(documents))
    await practice.wait_until(lambda _: bool(practice.batches.batches))
    await practice.wait_until(lambda _: any(request.path.count("/") == 4 for request in practice.requests))
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    end_batch(practice)
    await read_in_batches(documents)
    assert [document.state for document in await fresh(*documents)] == [DocumentState.FILED] * 2
    assert len(practice.batches.batches) == 1
    assert paths(practice, "/v1/messages") == 0


@pytest.mark.slow
async def test_an_answer_about_two_documents_is_used_for_both_though_they_are_read_apart(
    user: User, practice: PracticeServer
) -> None:
    """two readers, or two runs, may each take one of them: neither asks, and pays, again."""
    documents = await upload(user, ("a.txt", PAYSLIP), ("b.txt", LEASE), source=DocumentSource.COMMAND)
    models = ModelConnection()
    services = Services(client=models.client)
    ids = [document.pk for document in documents]
    await answer_in_batches(
        user_id=user.pk, document_ids=ids, services=services, client=await models.batch_client()
    )
    call = await in_database(DocumentCall.of(user.pk).get)
    assert call.documents == ids
    for number, document_id in enumerate(ids, start=1):
        await read_directly(
            user_id=user.pk, document_ids=[document_id], services=services, progress=lambda _: None
        )
        await in_database(call.refresh_from_db)
        assert call.used == ids[:number]
        assert bool(call.answer) == bool(call.request) == (number == 1)
    await models.close()
    assert [document.state for document in await fresh(*documents)] == [DocumentState.FILED] * 2
    assert paths(practice, "/v1/messages") == 0
    assert await in_database(ModelUsage.of(user.pk).filter(purpose="classify").count) == 1


async def test_what_was_sent_goes_when_the_last_document_that_waits_for_its_answer_is_deleted(
    user: User, practice: PracticeServer
) -> None:
    first, second = await upload(user, ("a.txt", PAYSLIP), ("b.txt", LEASE), source=DocumentSource.COMMAND)
    models = ModelConnection()
    services = Services(client=models.client)
    await answer_in_batches(
        user_id=user.pk,
        document_ids=[first.pk, second.pk],
        services=services,
        client=await models.batch_client(),
    )
    await read_directly(user_id=user.pk, document_ids=[first.pk], services=services, progress=lambda _: None)
    await models.close()
    await delete(second, practice)
    call = await in_database(DocumentCall.of(user.pk).get)
    assert (call.request, call.rounds, call.answer) == ("", "", "")


def end_batch(practice: PracticeServer) -> None:
    (batch,) = practice.batches.batches.values()
    batch.ends_at = 0.0


async def delete(document: Document, _: PracticeServer) -> None:
    await in_database(partial(delete_document, user_id=document.user_id, document_id=document.pk))


async def collect_elsewhere(_: Document, practice: PracticeServer) -> None:
    """Do what a worker does every ten minutes."""
    end_batch(practice)
    models = ModelConnection()
    assert await collect(await in_database(calls_in_batches), await models.batch_client())
    await models.close()


@pytest.mark.parametrize("meanwhile", [delete, collect_elsewhere])
async def test_a_run_whose_call_was_deleted_or_answered_elsewhere_ends(
    user: User, practice: PracticeServer, meanwhile: Callable[[Document, PracticeServer], Awaitable[None]]
) -> None:
    practice.batches.seconds = 3600.0
    (document,) = await upload(user, ("a.txt", PAYSLIP), source=DocumentSource.COMMAND)
    run = asyncio.create_task(read_in_batches([document]))
    await practice.wait_until(lambda _: any(request.path.count("/") == 4 for request in practice.requests))
    await meanwhile(document, practice)
    end_batch(practice)
    await run
    assert await in_database(ModelUsage.of(user.pk).filter(purpose="classify").count) == 1
    assert paths(practice, "/v1/messages") == 0


async def test_a_call_that_could_not_be_sent_goes_into_a_batch_without_what_was_withheld_since(
    user: User, practice: PracticeServer, model: TruthfulModel
) -> None:
    practice.faults.push(Fault(kind="status", status=401))
    texts = [(name, f"Dear Ada, {name} is for you. Yours, Grace") for name in ("a", "secret", "c")]
    documents = await upload(user, *texts, source=DocumentSource.COMMAND)
    ids, models = [document.pk for document in documents], ModelConnection()
    claim = await in_database(claim_chosen, user_id=user.pk, reader="command:0", document_ids=ids)
    assert claim
    assert not await read_batch(claim, Services(client=models.client))
    await models.close()
    model.types = {"a": "letter", "c": "letter"}
    withhold = partial(withhold_document, user_id=user.pk, document_id=documents[1].pk, is_withheld=True)
    await in_database(withhold)
    await read_in_batches(documents)
    states = [document.state for document in await fresh(*documents)]
    assert states == [DocumentState.FILED, DocumentState.REVIEW, DocumentState.FILED]
    *_, sent = [request for request in practice.requests if request.path == "/v1/messages/batches"]
    assert "a is for you" in str(sent.body)
    assert "secret is for you" not in str(sent.body)


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
