"""Calls that fail, break off or are killed: nothing is paid for twice, and one document harms no other."""

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User

from coaching.library.documents.filing import delete_document, withhold_document
from coaching.library.pipeline.batch import Services
from coaching.library.pipeline.claims import claim_chosen
from coaching.library.pipeline.reading import STAGES, read_batch
from coaching.library.pipeline.stages.read_text import WITHHELD
from coaching.model_client.connection import ModelConnection
from coaching.models import CallUsage, Document, DocumentState
from coaching.practice import PracticeServer
from coaching.practice.coach.documents import sent_documents
from coaching.practice.faults.fault import Fault
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff, make_due
from tests.library.pipeline.conftest import LEASE, PAYSLIP, calls_to, fresh, upload
from tests.library.pipeline.truth import TruthfulModel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]


class Killed(Exception):
    """What a kill looks like from inside: nothing after it happens."""


class Run:
    """A process that reads documents in a queue, and dies after the nth commit of a step."""

    def __init__(self, *, dies_at: int = 10**6) -> None:
        self._dies_at = dies_at
        self._steps = 0
        self._models = ModelConnection()
        self.services = Services(client=self._models.client, stored=self._stored)

    async def read(self, documents: Sequence[Document]) -> None:
        ids = [document.pk for document in documents]
        user_id = documents[0].user_id
        try:
            while claim := await in_database(
                claim_chosen, user_id=user_id, reader="lane:0", document_ids=ids
            ):
                await read_batch(claim, self.services)
        finally:
            await self._models.close()

    async def _stored(self) -> None:
        self._steps += 1
        if self._steps == self._dies_at:
            raise Killed


@pytest.mark.parametrize("dies_at", range(1, len(STAGES) + 2))
async def test_a_run_that_dies_after_any_stage_is_taken_over_and_no_answer_is_paid_twice(
    user: User, practice: PracticeServer, queue: None, dies_at: int
) -> None:
    documents = await upload(user, ("a.txt", PAYSLIP), ("b.txt", LEASE))
    with pytest.raises(Killed):
        await Run(dies_at=dies_at).read(documents)
    await Run().read(documents)
    assert [document.state for document in await fresh(*documents)] == [DocumentState.FILED] * 2
    assert len(calls_to(practice)) == 1
    assert await in_database(ModelUsage.of(user.pk).count) == 1
    (paid,) = await in_database(lambda: list(CallUsage.of(user.pk).select_related("call")))
    assert set(paid.call.documents) == {document.pk for document in documents}


async def test_what_is_withheld_or_deleted_while_its_call_waits_is_sent_no_more(
    user: User, practice: PracticeServer, queue: None
) -> None:
    practice.faults.push(Fault(kind="status", status=401))
    texts = [(name, f"Dear Ada, {name} is for you. Yours, Grace") for name in ("secret", "gone", "rest")]
    secret, gone, rest = await upload(user, *texts)
    claim = await in_database(
        claim_chosen, user_id=user.pk, reader="lane:0", document_ids=[secret.pk, gone.pk, rest.pk]
    )
    run = Run()
    assert claim
    assert not await read_batch(claim, run.services)
    await in_database(withhold_document, user_id=user.pk, document_id=secret.pk, is_withheld=True)
    await in_database(delete_document, user_id=user.pk, document_id=gone.pk)
    await run.read([secret, rest])
    first, *others = calls_to(practice)
    assert "gone is for you" in str(first.body)
    assert {each.id for call in others for each in sent_documents(call.body)} == {rest.pk}
    secret, rest = await fresh(secret, rest)
    assert (secret.state, secret.reason, rest.attempts) == (DocumentState.REVIEW, WITHHELD, 0)
    assert rest.state != DocumentState.QUEUED


@pytest.mark.slow
async def test_a_bad_document_fails_alone_and_the_others_of_its_batch_are_filed(
    user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel
) -> None:
    texts = [(f"letter {number}.txt", f"Dear Ada, letter number {number}.") for number in range(7)]
    model.types = {"poisoned.txt": "letter"}
    model.poison = {"poisoned"}
    *good, bad = await upload(user, *texts, ("poisoned.txt", "Dear Ada, I break the call."))
    await work_off()
    assert {document.state for document in await fresh(*good)} == {DocumentState.FILED}
    (failed,) = await fresh(bad)
    assert (failed.state, failed.attempts) == (DocumentState.FAILED, 2)
    assert failed.reason.startswith("Sage couldn’t read this document")
    assert len(calls_to(practice)) == 1 + len(good) + 1


@pytest.mark.slow
async def test_documents_without_an_answer_are_asked_for_once_more_and_then_fail(
    user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel
) -> None:
    documents = await upload(user, ("a.txt", PAYSLIP), ("b.txt", LEASE))
    practice.script(["This is no JSON."] * 2, key="a.txt")
    await work_off()
    assert {document.state for document in await fresh(*documents)} == {DocumentState.FILED}
    practice.script(["No."] * 4, key="c.txt")
    (other,) = await upload(user, ("c.txt", "Dear Ada, please call me back. Yours, Grace"))
    await work_off()
    (other,) = await fresh(other)
    assert (other.state, other.attempts) == (DocumentState.FAILED, 2)


async def test_documents_wait_while_the_model_is_out_of_reach_and_are_read_afterwards(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    practice.faults.push(Fault(kind="status", status=401))
    documents = await upload(user, ("a.txt", PAYSLIP))
    await work_off()
    (waiting,) = await fresh(*documents)
    assert (waiting.state, waiting.attempts) == (DocumentState.QUEUED, 0)
    assert "can’t reach the AI model" in waiting.reason
    await in_database(make_due)
    await work_off()
    assert (await fresh(*documents))[0].state == DocumentState.FILED
