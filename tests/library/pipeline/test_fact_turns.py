"""Readings of whole texts while others wait: turns, lost jobs, small contexts, what the page says of them."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from coaching.job_queue.names import ANALYSIS_JOB
from coaching.library.documents.findings import FACTS_KEY, TRANSCRIPT_KEY
from coaching.library.documents.readings import queue_readings
from coaching.library.documents.undoing import undo_effect
from coaching.library.jobs import analysis
from coaching.library.jobs.reading import queue_lost_readings
from coaching.library.pages.readings import ShownReading, shown_readings
from coaching.models import CallPurpose, Document, DocumentCall, DocumentCallState, LibraryEffect
from coaching.practice import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff, queue, work_off
from tests.library.pipeline.test_facts import (
    Cooperating,
    facts_stored,
    model,
    queued,
    stored,
    text_of,
)

__all__ = ["model", "queue", "work_off"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

LONG = text_of(1, pages=4).replace("Filler words.", "Filler " * 100)


async def test_long_texts_in_bulk_take_turns_and_each_part_is_paid_once(
    user: User,
    other_user: User,
    practice: PracticeServer,
    model: Cooperating,
    work_off: WorkOff,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.SAGE_CONTEXT_TOKENS = 8_192
    monkeypatch.setattr(analysis, "TURN_SECONDS", -1)
    texts = {user: LONG, other_user: LONG.replace("Filler", "Fuller")}
    documents = [await in_database(stored, owner, text) for owner, text in texts.items()]
    for document in documents:
        await in_database(queue_readings, document)
    await work_off()
    whose = ["Fuller" in sent for sent in model.asked]
    assert whose == [False, True] * (len(whose) // 2), "one part each, in turn"
    assert len(whose) > 4
    assert await in_database(ModelUsage.unscoped.count) == len(whose) == len(set(model.asked))
    for document in documents:
        await in_database(document.refresh_from_db)
        assert len(document.key_facts) == 8, "those of all turns"
    assert await in_database(queued) == []


def shown(document: Document) -> ShownReading:
    document.refresh_from_db()
    return shown_readings(document).shown[0]


def test_after_facts_were_undone_the_page_says_so_until_they_are_found_again(user: User, queue: None) -> None:
    whole = "The key facts are from the whole text."
    document = stored(user, text_of(1))
    facts_stored(document, "EUR 1")
    assert shown(document).words == whole
    undo_effect(user_id=user.pk, effect_id=LibraryEffect.of(user.pk).get().pk)
    undone = shown(document)
    assert undone.words == "The facts that Sage found in the whole text were undone."
    assert undone.label == "Find facts again"
    facts_stored(document, "EUR 2")
    assert shown(document).words == whole


def test_where_the_model_reads_too_little_the_page_says_so_and_offers_no_search(
    user: User, queue: None, settings: Settings
) -> None:
    settings.SAGE_CONTEXT_TOKENS = 2_048
    document = stored(user, text_of(1))
    too_little = "The AI model can’t read enough at once to look for facts in whole texts."
    assert (shown(document).words, shown(document).act) == (too_little, "")
    facts_stored(document, "EUR 1")
    assert shown(document).words == f"The key facts are from the whole text. {too_little}"
    settings.SAGE_CONTEXT_TOKENS = 8_192
    assert shown(document).act == "facts"


def test_a_lost_analysis_of_a_transcript_is_queued_again_but_none_that_has_run_or_failed(
    user: User, queue: None, settings: Settings
) -> None:
    def filed(*states: DocumentCallState, file_type: str = "call-transcript") -> Document:
        now = timezone.now()
        document = stored(user, "Ada: Hello.", decided_at=now, facts_found_at=now, file_type=file_type)
        for number, state in enumerate(states):
            DocumentCall.of(user.pk).create(
                client=document.client, purpose=CallPurpose.TRANSCRIPT, documents=[document.pk], state=state,
                key=f"transcript:{document.pk}:abc:{number}",
            )  # fmt: skip
        return document

    lost, interrupted = filed(), filed(DocumentCallState.ANSWERED, DocumentCallState.OPEN)
    filed(DocumentCallState.ANSWERED)
    filed(DocumentCallState.OPEN, DocumentCallState.ANSWERED)  # the first one about an older text
    unstored = filed(DocumentCallState.ANSWERED)
    DocumentCall.of(user.pk).filter(documents=[unstored.pk]).update(answered_at=timezone.now())
    filed(DocumentCallState.OPEN, DocumentCallState.FAILED)
    filed(file_type="lease")
    settings.SAGE_DAILY_TOKENS = 0
    assert queue_lost_readings() == 0, "over the budget"
    settings.SAGE_DAILY_TOKENS = None
    assert queue_lost_readings() == 3
    jobs = ProcrastinateJob.objects.filter(task_name=ANALYSIS_JOB, status="todo")
    assert {job.args["document_id"] for job in jobs} == {lost.pk, interrupted.pk, unstored.pk}
    assert {job.args["kind"] for job in jobs} == {TRANSCRIPT_KEY}
    unsearched = stored(user, "Ada: Hello.", decided_at=timezone.now())
    assert queue_lost_readings() == 4
    assert ProcrastinateJob.objects.get(args__document_id=unsearched.pk).args["kind"] == FACTS_KEY
