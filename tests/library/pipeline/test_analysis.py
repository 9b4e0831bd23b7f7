"""Summaries and analyses of transcripts: what is stored stands in the text, once, and as a proposal."""

import json
from collections.abc import Mapping
from datetime import date
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from coaching.job_queue.documents import enqueue_analysis
from coaching.job_queue.names import ANALYSIS_JOB
from coaching.library.clients import own_client
from coaching.library.documents.findings import (
    BUDGET_SECONDS,
    IN_PROGRESS,
    MAX_SECONDS,
    UNFINISHED,
    Finding,
    begin_finding,
    read_finding,
)
from coaching.library.drafts import NewAction
from coaching.library.pipeline import analysis
from coaching.library.pipeline.checked_answers import (
    SummarySaid,
    TranscriptSaid,
    check_summary,
    check_transcript,
)
from coaching.library.pipeline.subjects import ONLY_BEGINNING, known_items, read_subject
from coaching.library.proposals import propose
from coaching.models import (
    ActionItem,
    ActionState,
    Document,
    DocumentCall,
    EntryState,
    KnowledgeEntry,
    MadeBy,
)
from coaching.practice.coach.analysis import analyse as practised
from coaching.practice.script import Reply, Text
from coaching.practice.server import PracticeServer
from coaching.tools import CHAT_TOOLS
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.jobs.conftest import WorkOff, make_due, queue, work_off
from tests.library.rows import make_client, make_document
from tests.library.transcripts import transcripts
from tests.thoroughness import size
from tests.tools.committing_context import CommittingContext

__all__ = ["queue", "work_off"]

pytestmark = pytest.mark.django_db(transaction=True)

REPORT = "The roof needs new slates.\fDamp was found in the cellar at 18 per cent.\fThe boiler is from 2019."


class Inventor:
    """A model that puts what it made up among what it found."""

    def __init__(self) -> None:
        self.invents = False
        self.asked = 0

    def answer(self, body: Mapping[str, Any]) -> Reply:
        self.asked += 1
        reply = practised(body)
        return (
            Reply.of(json.dumps(self._with_inventions(json.loads(_text(reply))))) if self.invents else reply
        )

    @staticmethod
    def _with_inventions(rows: dict[str, Any]) -> dict[str, Any]:
        if "points" in rows:
            rows["points"] += [
                {"text": "The house is worth 900,000.", "page": 1, "quote": "worth 900,000 pounds"},
                {
                    "text": "It is fine and cost 4,400.",
                    "page": 1,
                    "quote": "The roof needs new slates.",
                },
                {"text": "No quote.", "page": 9, "quote": ""},
            ]
            rows["summary"] += " It was valued at 900,000 in 2031."
            return rows
        first = rows["action_items"][0]["quote"] if rows["action_items"] else ""
        rows["action_items"] += [
            _item(title="Sell everything", owner="Mallory", quote="I will sell everything tomorrow"),
            _item(
                title="Pay the fine",
                owner="Mallory",
                quote=first,
                due_words="by 1 May 2040",
                due_date="2040-05-01",
            ),
        ]
        rows["decisions"].append({"text": "They bought it.", "quote": "we bought the moon"})
        rows["speakers"].append({"name": "Mallory", "role": "judge"})
        return rows


def _item(**values: str) -> dict[str, str]:
    names = ("title", "description", "owner", "due_words", "due_date", "quote")
    return {"priority": "high", **dict.fromkeys(names, ""), **values}


def _text(reply: Reply) -> str:
    (block,) = reply.blocks
    assert isinstance(block, Text)
    return block.text


@pytest.fixture
def model() -> Inventor:
    return Inventor()


async def analysed(user: User, document: Document, kind: Any, work_off: WorkOff) -> None:
    await in_database(begin_finding, user_id=user.pk, document_id=document.pk, kind=kind, session_id=None)
    await work_off()


def stored(user: User, text: str, **values: Any) -> Document:
    return make_document(make_client(user), text=text, **values)


async def test_a_summary_cites_pages_that_say_it_and_is_paid_once(
    user: User, practice: PracticeServer, model: Inventor, work_off: WorkOff
) -> None:
    document = await in_database(stored, user, REPORT)
    model.invents = True
    await analysed(user, document, "summary", work_off)
    entry = await in_database(KnowledgeEntry.of(user.pk).get)
    assert (entry.state, entry.document_id, entry.made_by) == (EntryState.PROPOSED, document.pk, MadeBy.CHAT)
    pages = REPORT.split("\f")
    for point in entry.key_points:
        page = int(point.partition("(page ")[2].partition(")")[0])
        assert point.partition("“")[2].removesuffix("”") in pages[page - 1]
    assert len(entry.key_points) == 3
    for invented in ("900,000", "4,400", "2031", "No quote"):
        assert invented not in entry.content
    assert model.asked == 1
    await analysed(user, document, "summary", work_off)
    assert model.asked == 1
    assert await in_database(KnowledgeEntry.of(user.pk).count) == 1


async def test_a_long_document_is_summed_up_from_notes_on_its_parts(
    user: User,
    practice: PracticeServer,
    model: Inventor,
    work_off: WorkOff,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = [
        f"On page {number} stands the fact {number * 7}. " + "Filler words. " * 900 for number in range(1, 13)
    ]
    document = await in_database(stored, user, "\f".join(pages))
    await analysed(user, document, "summary", work_off)
    calls = await in_database(lambda: list(DocumentCall.of(user.pk).order_by("id")))
    assert len(calls) > 2
    assert calls[-1].key.endswith(":whole")
    assert {call.state for call in calls} == {"answered"}
    entry = await in_database(KnowledgeEntry.of(user.pk).get)
    assert entry.key_points
    for point in entry.key_points:
        page = int(point.partition("(page ")[2].partition(")")[0])
        assert point.partition("“")[2].removesuffix("”") in " ".join(pages[page - 1].split())
    assert ONLY_BEGINNING not in entry.content
    await in_database(DocumentCall.of(user.pk).all().delete)
    monkeypatch.setattr(analysis, "MAX_PARTS", 1)
    await analysed(user, document, "summary", work_off)
    assert ONLY_BEGINNING in (await in_database(KnowledgeEntry.of(user.pk).get)).content


async def test_over_the_budget_a_summary_waits_for_the_next_day(
    user: User, practice: PracticeServer, model: Inventor, work_off: WorkOff, settings: Settings
) -> None:
    def found() -> Finding:
        return read_finding(user_id=user.pk, document_id=document.pk, kind="summary")

    document = await in_database(stored, user, REPORT)
    settings.SAGE_DAILY_TOKENS = 0
    await analysed(user, document, "summary", work_off)
    assert (model.asked, await in_database(found)) == (0, IN_PROGRESS)
    job = await in_database(ProcrastinateJob.objects.get, task_name=ANALYSIS_JOB, status="todo")
    assert job.args["waited_seconds"] == BUDGET_SECONDS
    settings.SAGE_DAILY_TOKENS = None
    await in_database(make_due)
    await work_off()
    assert (await in_database(found)).entry


async def test_a_summary_that_was_given_up_says_so(
    user: User, practice: PracticeServer, work_off: WorkOff, settings: Settings
) -> None:
    document = await in_database(stored, user, REPORT)
    settings.SAGE_DAILY_TOKENS = 0
    await in_database(
        enqueue_analysis,
        document_id=document.pk,
        kind="summary",
        session_id=None,
        key="now",
        waited_seconds=MAX_SECONDS,
    )
    await work_off()
    ask = partial(read_finding, user_id=user.pk, document_id=document.pk, kind="summary")
    assert (await in_database(ask)).reason == UNFINISHED


@pytest.mark.slow
async def test_transcripts_read_twice_by_a_model_that_invents_give_the_same_items(
    user: User, practice: PracticeServer, model: Inventor, work_off: WorkOff
) -> None:
    def items() -> list[tuple[Any, ...]]:
        rows = ActionItem.of(user.pk).order_by("document_id", "id")
        return list(rows.values_list("id", "document_id", "title", "owner", "due_words", "due_date", "quote"))

    written = transcripts(size(3, long=10))
    documents = [await in_database(stored, user, each.text) for each in written]
    for document in documents:
        await analysed(user, document, "transcript", work_off)
    first = await in_database(items)
    for document, each in zip(documents, written, strict=True):
        found = [(title, owner, words) for _, pk, title, owner, words, *_ in first if pk == document.pk]
        assert found == each.actions
    await in_database(DocumentCall.of(user.pk).all().delete)
    model.invents = True
    for document in documents:
        await analysed(user, document, "transcript", work_off)
    again = await in_database(items)
    assert [row for row in again if row in first] == first
    for row in again:
        text = next(each.text for pk, each in zip(documents, written, strict=True) if pk.pk == row[1])
        assert row[6] in text
        assert row[3] in text
        assert row[4] in text
        assert row[5] is None
    assert not [row for row in again if row[3] == "Mallory" or row[2] == "Sell everything"]
    entries = await in_database(lambda: list(KnowledgeEntry.of(user.pk).order_by("document_id")))
    assert len(entries) == len(written)
    for entry, each in zip(entries, written, strict=True):
        assert [point.partition(": “")[0] for point in entry.key_points] == each.decisions
        assert "Mallory" not in entry.content
    assert {
        state for (state,) in await in_database(lambda: list(ActionItem.of(user.pk).values_list("state")))
    } == {ActionState.PROPOSED}


def test_a_proposal_is_no_decision_and_a_relative_date_needs_the_day_of_the_meeting() -> None:
    text = "Ada: We could sell the flat. I'll call the bank by Friday.\nBen: We agreed to keep it."
    said = TranscriptSaid.model_validate(
        {
            "decisions": [
                {"text": "Sell it", "quote": "We could sell the flat."},
                {"text": "Keep it", "quote": "We agreed to keep it."},
            ],
            "action_items": [
                _item(
                    title="Call the bank",
                    owner="Ada",
                    quote="I'll call the bank by Friday.",
                    due_words="by Friday",
                    due_date="2026-11-27",
                )
            ],
        }
    )
    found = check_transcript(said, text=text)
    assert [point.text for point in found.decisions] == ["Keep it"]
    assert found.actions[0].evidence.due_date is None
    dated = check_transcript(said, text=f"Date: 23 November 2026\n{text}")
    assert dated.actions[0].evidence.due_date == date(2026, 11, 27)


def test_a_summary_without_a_quote_that_stands_there_is_none() -> None:
    said = SummarySaid.model_validate(
        {"summary": "Fine.", "points": [{"text": "Fine.", "quote": "all is fine"}]}
    )
    assert check_summary(said, text="Nothing of the kind.") is None


async def test_the_tool_waits_and_what_takes_longer_joins_the_next_turn(
    user: User, practice: PracticeServer, work_off: WorkOff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coaching.tools.waiting.WAIT_SECONDS", 0.1)
    session = await in_database(Session.of(user.pk).create)
    document = await in_database(stored, user, REPORT, session=session)
    tool = CHAT_TOOLS.get("summarize_document")
    assert tool is not None
    context = CommittingContext(user_id=user.pk, session_id=session.id)
    given = tool.parse(json.dumps({"document_id": document.pk}))
    assert (await tool.run(context, given)).content.startswith("In progress.")
    await work_off()
    values = json.loads((await tool.run(context, given)).content)
    assert values["link"] == f"/library/documents/{document.pk}/"
    assert "The roof needs new slates." in values["content"]


async def test_another_s_document_and_one_that_is_withheld_look_missing(
    user: User, other_user: User, practice: PracticeServer
) -> None:
    foreign = await in_database(stored, other_user, REPORT)
    secret = await in_database(stored, user, REPORT, is_withheld=True)
    for name in ("classify_document", "summarize_document", "analyze_transcript"):
        tool = CHAT_TOOLS.get(name)
        assert tool is not None
        for document_id in (foreign.pk, secret.pk, 10**9, 10**30, -1):
            given = tool.parse(json.dumps({"document_id": document_id}))
            with pytest.raises(Exception, match="no document with this id"):
                await tool.run(CommittingContext(user_id=user.pk), given)
    assert not practice.requests


def test_an_analysis_knows_its_own_items_and_leaves_those_of_a_classification_alone(user: User) -> None:
    document = make_document(own_client(user.pk), text="Ada: I'll call Ben on Friday.")
    for key in ("transcript:1", "pipeline:2", ""):
        new = NewAction(
            client_id=document.client_id,
            document_id=document.pk,
            title="Call Ben",
            quote=f"I'll call Ben {key}",
            origin_key=key,
        )
        propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
    subject = read_subject(document.pk, None, "transcript-analyze")
    assert subject
    assert known_items(subject) == {"I'll call Ben transcript:1": "transcript:1"}


def test_a_yes_in_the_conversation_accepts_the_proposal(user: User) -> None:
    document = stored(user, REPORT)
    new = NewAction(
        client_id=document.client_id,
        title="Call Ben",
        quote="x" * 9,
        document_id=document.pk,
        origin_key="transcript:1",
    )
    proposed = propose(user_id=user.pk, new=new, made_by=MadeBy.CHAT)
    asked = NewAction(client_id=own_client(user.pk).pk, title="call ben", due_date=date(2027, 1, 5))
    accepted = propose(user_id=user.pk, new=asked, made_by=MadeBy.CHAT, is_accepted=True)
    assert accepted.pk == proposed.pk
    proposed.refresh_from_db()
    assert (proposed.state, proposed.due_date, proposed.quote) == (
        ActionState.OPEN,
        date(2027, 1, 5),
        "x" * 9,
    )
