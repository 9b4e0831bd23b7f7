"""Key facts of whole texts: each in its quote, each quote on its page, each part of a text paid once.

Over 300 lines, because all of it is one job, whose tests share a scripted model.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from coaching.context.budget import count_tokens
from coaching.engine.errors import UpstreamError
from coaching.job_queue.names import ANALYSIS_JOB, DOCUMENTS_QUEUE, JobPriority
from coaching.library.documents.facts import keep_facts
from coaching.library.documents.filing import Decision, file_document, withhold_document
from coaching.library.documents.findings import (
    FACTS_KEY,
    NOT_SEARCHED,
    TRANSCRIPT_KEY,
    begin_finding,
    digest_of,
)
from coaching.library.documents.readings import read_whole_again, readings_of
from coaching.library.documents.reasons import UNSUPPORTED
from coaching.library.documents.reviews import accept_review, correct_document
from coaching.library.documents.undoing import undo_effect
from coaching.library.evidence import Source
from coaching.library.jobs.reading import queue_lost_readings
from coaching.library.pages.readings import shown_readings
from coaching.library.pipeline.calls import CallFailed
from coaching.library.pipeline.checked_facts import FactSaid, check_facts
from coaching.library.pipeline.facts import find_facts
from coaching.library.rows.reading_notes import BEGINNING_SEARCHED
from coaching.model_client.connection import ModelConnection
from coaching.models import (
    CallPurpose,
    DecidedBy,
    Document,
    DocumentCall,
    DocumentCallState,
    DocumentState,
    DocumentText,
    FilingLevel,
    KnowledgeEntry,
    LibraryEffect,
    MadeBy,
)
from coaching.practice import PracticeServer
from coaching.practice.coach.analysis import analyse
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Reply
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff, queue, work_off
from tests.library.rows import make_client, make_document
from tests.thoroughness import size

__all__ = ["queue", "work_off"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

DOCUMENTS = size(20, long=60)
DATES = ("{} May 2027", "2{}.05.2027", "2027-05-0{}", "{} mai 2027", "{} de mayo de 2027", "{}. Mai 2027")
"""A day in the ways of several languages."""
MADE_UP = [
    {"name": "Rent", "value": "EUR 5,000,000", "quote": "the rent is EUR 5,000,000 a year", "main": True},
    {"name": "Page", "value": "2", "quote": "[page 2]", "main": True},
    {"name": "Owner", "value": "Mallory", "quote": "", "main": True},
]
SENTENCE = re.compile(r"The (fee|deposit|end) (?:of|is|comes) .*?(?:EUR ([\d,]+)|on (.+))\.$", re.MULTILINE)


class Cooperating:
    """A model that notes the sums and days of a part, with some that aren't there among them."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.only_invents = False
        self.mumbles_about = ""

    def answer(self, body: Mapping[str, Any]) -> Reply:
        sent = "\n".join(block["text"] for block in body["messages"][0]["content"])
        if '"facts"' not in json.dumps(body.get("output_config")):
            return analyse(body)
        self.asked.append(sent)
        if self.mumbles_about and self.mumbles_about in sent:
            return Reply.of("I have read it.")
        found = [] if self.only_invents else list(_noted(sent))
        return Reply.of(json.dumps({"facts": [*MADE_UP, *found]}))


def _noted(sent: str) -> Iterator[dict[str, Any]]:
    for found in SENTENCE.finditer(sent):
        value = f"EUR {found[2]}" if found[2] else found[3]
        fact = {"name": found[1].title(), "value": value, "quote": found[0], "main": found[1] == "fee"}
        yield fact
        yield fact | {"value": f"{value} or so"}
        if found[2]:
            yield fact | {"value": f"€{int(found[2].replace(',', '')) + 1}"}


def day_on(number: int, page: int) -> str:
    return DATES[(number + page) % len(DATES)].format(page)


def text_of(number: int, pages: int = 3) -> str:
    """Return a text whose pages each have a sum and a day that no other page has."""
    return "\f".join(
        f"Page heading {page}\nThe fee of part {page} is EUR {number + 1},{page:03}.\n"
        f"The end comes of part {page} on {day_on(number, page)}.\n{'Filler words. ' * 20}"
        for page in range(1, pages + 1)
    )


@pytest.fixture
def model() -> Cooperating:
    return Cooperating()


async def read(*documents: Document, run: str = "") -> list[Document]:
    models = ModelConnection()
    try:
        for document in documents:
            await find_facts(document.pk, client=await models.client(), run=run)
    finally:
        await models.close()
    ids = [document.pk for document in documents]
    return await in_database(lambda: list(Document.unscoped.filter(id__in=ids).order_by("id")))


def stored(user: User, text: str, **values: Any) -> Document:
    return make_document(make_client(user), text=text, **values)


def queued() -> list[tuple[str, str]]:
    """Return kinds and queues of the readings that wait."""
    jobs = ProcrastinateJob.objects.filter(task_name=ANALYSIS_JOB, status="todo").order_by("id")
    return [(job.args["kind"], job.queue_name) for job in jobs]


async def test_of_many_documents_every_value_stands_in_its_quote_and_every_quote_on_its_page(
    user: User, practice: PracticeServer
) -> None:
    texts = [text_of(number) for number in range(DOCUMENTS)]
    documents = await in_database(lambda: [stored(user, text) for text in texts])
    for document, text in zip(await read(*documents), texts, strict=True):
        pages = text.split("\f")
        assert len(document.key_facts) == 6
        for fact in document.key_facts:
            assert fact["quote"] in pages[fact["page"] - 1]
            assert fact["value"] in fact["quote"]
        assert [fact["name"] for fact in document.key_facts] == ["Fee"] * 3 + ["End"] * 3, "main ones first"
        assert document.dropped_facts == len(MADE_UP) + 9
        assert document.facts_found_at


async def test_a_fact_in_the_middle_of_a_long_lease_is_found_and_its_text_sent_once(
    user: User, practice: PracticeServer, model: Cooperating
) -> None:
    filler = "The tenant keeps the premises in repair and pays for what it uses. " * 40
    pages = [f"Clause {number}.\n{filler}" for number in range(1, 61)]
    pages[30] += "\nThe deposit is kept by the agent, EUR 31,500."
    (document,) = await read(await in_database(stored, user, "\f".join(pages)))
    assert [(fact["name"], fact["value"], fact["page"]) for fact in document.key_facts] == [
        ("Deposit", "EUR 31,500", 31)
    ]
    assert len(model.asked) > 1
    usage = await in_database(lambda: list(ModelUsage.of(user.pk)))
    sent = sum(each.input_tokens + each.cache_creation_5m_tokens for each in usage)
    assert sent <= 1.2 * count_tokens("\f".join(pages))


async def test_a_reading_that_was_interrupted_pays_no_part_twice(
    user: User, practice: PracticeServer, model: Cooperating
) -> None:
    def paid() -> int:
        return ModelUsage.of(user.pk).count()

    document = await in_database(stored, user, text_of(1, pages=4).replace("Filler words.", "Filler " * 100))
    practice.faults.push(Fault(kind="status", status=401, skip=1))
    with override_settings(SAGE_CONTEXT_TOKENS=8_192):
        with pytest.raises(UpstreamError):
            await read(document)
        assert await in_database(paid) == 1
        (document,) = await read(document)
        parts = len(set(model.asked))
        assert (await in_database(paid), len(document.key_facts)) == (parts, 8)
        assert parts > 2
        await read(document)
        assert await in_database(paid) == parts, "a second job pays nothing either"


async def test_asked_for_anew_the_text_is_read_anew(
    user: User, practice: PracticeServer, model: Cooperating
) -> None:
    document = await in_database(stored, user, text_of(1))
    await read(document)
    await read(document, run="again")
    assert len(model.asked) == 2


async def test_a_small_context_gets_parts_that_fit_or_none(
    user: User, practice: PracticeServer, model: Cooperating, settings: Settings
) -> None:
    document = await in_database(stored, user, text_of(1, pages=4).replace("Filler words.", "Filler " * 100))
    settings.SAGE_CONTEXT_TOKENS = 8_192
    (document,) = await read(document)
    assert len(document.key_facts) == 8
    assert max(map(count_tokens, model.asked)) < 4_096
    assert len(model.asked) > 2
    settings.SAGE_CONTEXT_TOKENS = 2_048
    await read(await in_database(stored, user, text_of(2)))
    assert len(practice.requests) == len(model.asked)
    assert not any("EUR 3,001" in sent for sent in model.asked)


@pytest.mark.parametrize("is_withheld", [True, False], ids=["withheld", "deleted"])
async def test_a_text_that_is_gone_or_withheld_is_not_sent(
    user: User, practice: PracticeServer, is_withheld: bool
) -> None:
    document = await in_database(stored, user, text_of(1), is_withheld=is_withheld)
    if not is_withheld:
        await in_database(Document.of(user.pk).all().delete)
    await read(document)
    assert not practice.requests


@pytest.mark.parametrize("changed", ["withheld", "text", "type", "state"])
def test_what_was_found_is_stored_only_for_the_text_and_type_it_was_found_in(
    user: User, changed: str
) -> None:
    document = stored(user, text_of(1))
    rows = Document.of(user.pk).filter(id=document.pk)
    match changed:
        case "withheld":
            withhold_document(user_id=user.pk, document_id=document.pk, is_withheld=True)
        case "text":
            DocumentText.unscoped.filter(document=document).update(text="Another text.")
        case "type":
            rows.update(file_type="invoice")
        case "state":
            rows.update(state=DocumentState.QUEUED)
    facts = [{"name": "Fee", "value": "EUR 2,001", "quote": "is EUR 2,001", "page": 1}]
    is_kept = keep_facts(
        user_id=user.pk,
        document_id=document.pk,
        of_type="lease",
        of_text=digest_of(text_of(1)),
        facts=facts,
        dropped=0,
    )
    assert not is_kept
    document.refresh_from_db()
    assert document.key_facts == []


async def test_a_document_whose_facts_are_all_made_up_goes_to_review(
    user: User, practice: PracticeServer, model: Cooperating
) -> None:
    model.only_invents = True
    by_model, by_user = await in_database(
        lambda: [stored(user, text_of(1), decided_by=by) for by in (DecidedBy.MODEL, DecidedBy.USER)]
    )
    by_model, by_user = await read(by_model, by_user)
    assert (by_model.state, by_model.reason) == (DocumentState.REVIEW, UNSUPPORTED)
    assert (by_user.state, by_user.dropped_facts) == (DocumentState.FILED, len(MADE_UP))


def decision(file_type: str = "lease") -> Decision:
    facts = [{"name": "Fee", "value": "EUR 2,001", "quote": "is EUR 2,001", "page": 1}]
    return Decision(
        file_type=file_type, category="leases", folder="Leases", level=FilingLevel.CLIENT, key_facts=facts
    )


async def test_a_filed_document_is_read_for_its_facts_and_the_filing_can_still_be_undone(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    document = await in_database(stored, user, text_of(1), state=DocumentState.READING, folder="")
    await in_database(file_document, user_id=user.pk, document_id=document.pk, decision=decision())
    assert await in_database(queued) == [(FACTS_KEY, DOCUMENTS_QUEUE)]
    await work_off()
    await in_database(document.refresh_from_db)
    assert len(document.key_facts) == 6
    found, filed = await in_database(lambda: list(LibraryEffect.of(user.pk)))
    assert (found.kind, filed.kind, found.made_by) == ("facts_found", "filed", MadeBy.PIPELINE)
    await in_database(undo_effect, user_id=user.pk, effect_id=found.pk)
    await in_database(document.refresh_from_db)
    assert len(document.key_facts) == 1
    await read(document)
    await in_database(undo_effect, user_id=user.pk, effect_id=filed.pk)
    await in_database(document.refresh_from_db)
    assert (document.state, document.key_facts) == (DocumentState.REVIEW, [])


async def test_a_review_that_is_decided_has_the_text_read_by_its_type(
    user: User, practice: PracticeServer, work_off: WorkOff, model: Cooperating
) -> None:
    document = await in_database(stored, user, text_of(1), state=DocumentState.REVIEW)
    await in_database(accept_review, user_id=user.pk, document_id=document.pk)
    await work_off()
    await in_database(
        correct_document, user_id=user.pk, document_id=document.pk, file_type="lease", folder="Old"
    )
    assert await in_database(queued) == []
    await in_database(correct_document, user_id=user.pk, document_id=document.pk, file_type="invoice")
    await work_off()
    assert len(model.asked) == 2
    calls = await in_database(lambda: list(DocumentCall.of(user.pk)))
    assert len({call.prefix for call in calls}) == 2, "each with what its type holds"


async def test_a_filed_transcript_is_analysed_once(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    text = "Ada: I'll call the bank by Friday.\nBen: We have agreed that the roof is repaired."
    document = await in_database(stored, user, text, state=DocumentState.READING, folder="")
    made = decision("call-transcript")
    await in_database(file_document, user_id=user.pk, document_id=document.pk, decision=made)
    assert [kind for kind, _ in await in_database(queued)] == [FACTS_KEY, TRANSCRIPT_KEY]
    await work_off()
    entry = await in_database(KnowledgeEntry.of(user.pk).get)
    assert (entry.made_by, entry.origin_key) == (MadeBy.PIPELINE, TRANSCRIPT_KEY)
    document = await in_database(Document.unscoped.get, id=document.pk)
    readings = await in_database(readings_of, document)
    assert [(each.kind, each.is_under_way, each.has_run) for each in readings] == [
        (FACTS_KEY, False, True), (TRANSCRIPT_KEY, False, True),
    ]  # fmt: skip
    await in_database(correct_document, user_id=user.pk, document_id=document.pk, file_type="meeting-minutes")
    assert [kind for kind, _ in await in_database(queued)] == [FACTS_KEY]


async def test_what_cannot_be_read_is_not_queued(user: User, practice: PracticeServer, queue: None) -> None:
    picture = await in_database(stored, user, " \n", state=DocumentState.REVIEW)
    secret = await in_database(stored, user, text_of(1), state=DocumentState.REVIEW, is_withheld=True)
    for document in (picture, secret):
        await in_database(accept_review, user_id=user.pk, document_id=document.pk)
        with pytest.raises(Refused):
            await in_database(read_whole_again, user_id=user.pk, document_id=document.pk, kind=FACTS_KEY)
    assert await in_database(queued) == []


async def test_over_the_budget_the_facts_wait(
    user: User, practice: PracticeServer, work_off: WorkOff, settings: Settings, model: Cooperating
) -> None:
    document = await in_database(stored, user, text_of(1), facts_found_at=timezone.now())
    settings.SAGE_DAILY_TOKENS = 0
    await in_database(read_whole_again, user_id=user.pk, document_id=document.pk, kind=FACTS_KEY)
    await work_off()
    assert not model.asked
    job = await in_database(ProcrastinateJob.objects.get, task_name=ANALYSIS_JOB, status="todo")
    assert job.args["run"]


def test_a_reading_that_was_lost_is_queued_again_but_not_a_failed_or_forbidden_one(
    user: User, queue: None, settings: Settings
) -> None:
    def filed(text: str = "A text.", **values: Any) -> Document:
        return stored(user, text, decided_at=timezone.now(), **values)

    lost, failed = filed(), filed()
    filed(" \n")
    filed(is_withheld=True)
    filed(facts_found_at=timezone.now())
    filed(state=DocumentState.REVIEW)
    DocumentCall.of(user.pk).create(
        client=failed.client,
        purpose=CallPurpose.FACTS,
        key=f"facts:{failed.pk}:abc:1",
        documents=[failed.pk],
        state=DocumentCallState.FAILED,
    )
    settings.SAGE_DAILY_TOKENS = 0
    assert queue_lost_readings() == 0, "over the budget"
    settings.SAGE_DAILY_TOKENS = None
    assert queue_lost_readings() == 1
    jobs = ProcrastinateJob.objects.filter(task_name=ANALYSIS_JOB, status="todo")
    assert [job.args["document_id"] for job in jobs] == [lost.pk]


def test_a_document_that_may_be_sent_again_is_read(user: User, queue: None) -> None:
    document = stored(user, "A text.", is_withheld=True)
    withhold_document(user_id=user.pk, document_id=document.pk, is_withheld=False)
    assert queued() == [(FACTS_KEY, DOCUMENTS_QUEUE)]


def facts_stored(document: Document, *values: str) -> None:
    facts = [{"name": "Fee", "value": value, "quote": value} for value in values]
    keep_facts(
        user_id=document.user_id,
        document_id=document.pk,
        of_type=document.file_type,
        of_text=digest_of(text_of(1)),
        facts=facts,
        dropped=0,
    )
    document.refresh_from_db()


def test_a_filing_that_is_undone_and_accepted_again_has_the_text_read_again(user: User, queue: None) -> None:
    document = stored(user, text_of(1), state=DocumentState.REVIEW)
    filed = accept_review(user_id=user.pk, document_id=document.pk)
    assert filed
    document.refresh_from_db()
    facts_stored(document, "EUR 1")
    ProcrastinateJob.objects.all().delete()
    undo_effect(user_id=user.pk, effect_id=filed.pk)
    document.refresh_from_db()
    assert (document.state, document.facts_found_at) == (DocumentState.REVIEW, None)
    assert queued() == []
    accept_review(user_id=user.pk, document_id=document.pk)
    assert queued() == [(FACTS_KEY, DOCUMENTS_QUEUE)]


def test_a_corrected_type_can_be_undone_after_its_facts_were_found(user: User, queue: None) -> None:
    document = stored(user, text_of(1))
    facts_stored(document, "EUR 1")
    correct_document(user_id=user.pk, document_id=document.pk, file_type="invoice")
    document.refresh_from_db()
    facts_stored(document, "EUR 2")
    ProcrastinateJob.objects.all().delete()
    undo_effect(user_id=user.pk, effect_id=LibraryEffect.of(user.pk).get(kind="corrected").pk)
    document.refresh_from_db()
    assert (document.file_type, document.facts_found_at) == ("lease", None)
    assert queued() == [(FACTS_KEY, DOCUMENTS_QUEUE)], "for the type that it has again"


def test_facts_that_were_found_twice_alike_can_be_undone(user: User) -> None:
    document = stored(user, text_of(1), key_facts=[{"name": "Fee", "value": "EUR 7", "quote": "EUR 7"}])
    facts_stored(document, "EUR 1")
    facts_stored(document, "EUR 1")
    undo_effect(user_id=user.pk, effect_id=LibraryEffect.of(user.pk).get().pk)
    document.refresh_from_db()
    assert document.key_facts[0]["value"] == "EUR 7"


async def test_of_a_reading_that_failed_in_one_part_only_this_part_is_asked_again(
    user: User, practice: PracticeServer, model: Cooperating, work_off: WorkOff
) -> None:
    document = await in_database(stored, user, text_of(1, pages=4).replace("Filler words.", "Filler " * 100))
    model.mumbles_about = "part 3"
    with override_settings(SAGE_CONTEXT_TOKENS=8_192):
        with pytest.raises(CallFailed, match="couldn’t be read"):
            await read(document)
        calls = await in_database(lambda: list(DocumentCall.of(user.pk).order_by("id")))
        assert calls[-1].state == DocumentCallState.FAILED
        assert not any(call.request for call in calls)
        assert await in_database(queue_lost_readings) == 0
        model.mumbles_about = ""
        asked = len(model.asked)
        await in_database(read_whole_again, user_id=user.pk, document_id=document.pk, kind=FACTS_KEY)
        await work_off()
    await in_database(document.refresh_from_db)
    assert len(document.key_facts) == 8
    assert len(set(model.asked)) == len(model.asked) - 1, "the part that failed"
    assert "part 3" in model.asked[asked]


async def test_of_a_very_long_text_the_page_says_that_only_its_beginning_was_searched(
    user: User, practice: PracticeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coaching.library.pipeline.facts.MAX_PARTS", 1)
    document = await in_database(stored, user, text_of(1, pages=4).replace("Filler words.", "Filler " * 100))
    with override_settings(SAGE_CONTEXT_TOKENS=8_192):
        (document,) = await read(document)
    assert document.reading_note == BEGINNING_SEARCHED
    shown = (await in_database(shown_readings, document)).shown[0]
    assert shown.words == "The key facts are from the beginning of the text."
    (document,) = await read(document, run="again")
    assert document.reading_note == ""


def test_only_filed_and_reviewed_documents_are_searched(user: User, queue: None) -> None:
    document = stored(user, "A text.", state=DocumentState.DUPLICATE)
    with pytest.raises(Refused, match="only in documents that are filed"):
        read_whole_again(user_id=user.pk, document_id=document.pk, kind=FACTS_KEY)
    found, _ = begin_finding(user_id=user.pk, document_id=document.pk, kind=FACTS_KEY, session_id=None)
    assert (found.reason, queued()) == (NOT_SEARCHED, [])


def test_values_that_mean_the_same_are_one_fact() -> None:
    source = Source("The fee is EUR 2,000.00 on 3 May 2027, or about 2,000 of them.")
    quote = source.text
    values = ["EUR 2,000.00", "EUR 2,000", "2,000", "3 May 2027", "3 May 2027", "of them"]
    said = [FactSaid(name="Fee", value=value, quote=quote) for value in values]
    kept = [row["value"] for row in check_facts(said, source).rows]
    assert kept == ["EUR 2,000.00", "2,000", "3 May 2027", "of them"]


def test_what_a_conversation_asks_for_takes_the_place_of_a_job_in_bulk(user: User, queue: None) -> None:
    document = stored(user, "A text.", state=DocumentState.REVIEW)
    accept_review(user_id=user.pk, document_id=document.pk)
    begin_finding(user_id=user.pk, document_id=document.pk, kind=FACTS_KEY, session_id=None)
    job = ProcrastinateJob.objects.get(task_name=ANALYSIS_JOB)
    assert (job.queue_name, job.priority) == ("default", JobPriority.CHAT_UPLOAD)
