"""What isn't filed by itself: doubts, near-same texts, what is withheld or can't be read."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from coaching.library.documents.intake import destination_of, take_in
from coaching.library.pipeline.stages.read_text import WITHHELD
from coaching.models import DecidedBy, Document, DocumentState
from coaching.practice import PracticeServer
from coaching.practice.coach.documents import sent_documents
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff
from tests.library.extractors.forms import form
from tests.library.pipeline.conftest import LEASE, PAYSLIP, calls_to, fresh, upload
from tests.library.pipeline.truth import TruthfulModel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

UNSURE: dict[str, Any] = {
    "confidence": 0.6,
    "alternatives": [{"file_type": "tenancy-agreement", "confidence": 0.3}],
}


@override_settings(SAGE_CRITIC_MODEL="claude-sonnet-5-5", SAGE_CLASSIFY_MODEL="claude-haiku-5-5")
async def test_a_second_model_reads_again_what_the_first_is_unsure_of(
    user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel
) -> None:
    model.types = {"a.txt": "payslip", "b.txt": "lease"}
    model.said = {"b.txt": UNSURE}
    model.script = lambda body: model.said.clear() if "sonnet" in body["model"] else None
    sure, unsure = await upload(user, ("a.txt", PAYSLIP), ("b.txt", LEASE))
    await work_off()
    sure, unsure = await fresh(sure, unsure)
    assert (sure.decided_by, unsure.decided_by) == (DecidedBy.MODEL, DecidedBy.CRITIC)
    assert (unsure.state, unsure.confidence) == (DocumentState.FILED, 0.95)
    first, second = calls_to(practice)
    assert (first.body["model"], second.body["model"]) == ("claude-haiku-5-5", "claude-sonnet-5-5")
    assert [document.id for document in sent_documents(second.body)] == [unsure.pk]
    purposes = await in_database(lambda: sorted(ModelUsage.of(user.pk).values_list("purpose", flat=True)))
    assert purposes == ["classify", "critic", "document", "document"], "at last their facts"


async def test_a_document_that_stays_doubtful_waits_in_review_with_the_reason(
    user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel
) -> None:
    model.types = {"b.txt": "lease"}
    model.said = {"b.txt": UNSURE | {"proposal": {"file_type": "side letter", "folder": "", "tags": []}}}
    (document,) = await fresh(*await upload(user, ("b.txt", LEASE)))
    await work_off()
    (document,) = await fresh(document)
    assert (document.state, document.file_type) == (DocumentState.REVIEW, "lease")
    assert document.reason.startswith("Sage isn’t sure about the type. Confidence:\n60%.")
    assert "side letter" in document.reason
    assert document.proposal == {"file_type": "side letter"}
    assert document.folder, "as a suggestion"


async def test_a_word_outside_the_vocabulary_is_never_more_than_a_proposal(
    user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel
) -> None:
    model.types = {"b.txt": "pirate-map"}
    model.said = {
        "b.txt": {
            "tags": ["treasure", "contract"],
            "key_facts": [
                {"name": "Rent", "value": "EUR 24,000", "quote": "", "page": 1},
                {"name": "Invented", "value": "EUR 99,999", "quote": "The rent is EUR 99,999", "page": 1},
            ],
        }
    }
    (document,) = await upload(user, ("b.txt", LEASE))
    await work_off()
    (document,) = await fresh(document)
    assert (document.state, document.file_type, document.folder) == (DocumentState.REVIEW, "", "")
    assert "pirate map" in document.reason


@pytest.mark.slow
async def test_an_almost_same_text_goes_to_review_with_its_twin_and_only_for_the_same_client(
    user: User, other_user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    amended = LEASE.replace("EUR 24,000", "EUR 26,000")
    first, second = await upload(user, ("lease.txt", LEASE), ("lease 2.txt", amended))
    (foreign,) = await upload(other_user, ("lease.txt", amended))
    await work_off()
    first, second, foreign = await fresh(first, second, foreign)
    assert (first.state, foreign.state) == (DocumentState.FILED, DocumentState.FILED)
    assert (second.state, second.similar_to_id) == (DocumentState.REVIEW, first.pk)
    assert second.similarity
    assert second.similarity >= 0.9
    assert "lease.txt" in second.reason


@pytest.mark.slow
async def test_a_form_filled_in_otherwise_is_no_twin(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    def take() -> list[Document]:
        destination = destination_of(user_id=user.pk)
        return [
            take_in(user_id=user.pk, name=f"{number}.pdf", data=data, destination=destination)
            for number, data in enumerate(
                [form(), form(name="Mia"), form(name="Ben"), form(name="Mia") + b"\n"]
            )
        ]

    documents = await in_database(take)
    await work_off()
    blank, mia, ben, again = await fresh(*documents)
    assert [blank.similar_to_id, mia.similar_to_id, ben.similar_to_id] == [None] * 3
    assert again.similar_to_id == mia.pk


async def test_what_is_withheld_or_has_no_text_is_never_sent(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    def take() -> list[Document]:
        destination = destination_of(user_id=user.pk)
        files = [("secret.txt", LEASE.encode(), True), ("blank.txt", b"*** --- ***\n---", False)]
        broken = [("broken.pdf", b"%PDF-1.7\n1 0 obj\n<<", False)]
        return [
            take_in(user_id=user.pk, name=name, data=data, destination=destination, is_withheld=withheld)
            for name, data, withheld in files + broken
        ]

    documents = await in_database(take)
    await work_off()
    secret, blank, broken = await fresh(*documents)
    assert (secret.state, secret.reason) == (DocumentState.REVIEW, WITHHELD)
    assert (blank.state, broken.state) == (DocumentState.REVIEW, DocumentState.FAILED)
    assert blank.reason
    assert broken.reason
    assert not practice.requests
