"""What a tool couldn't wait for joins the next turn: with pages and quotes, as proposals, and once."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.context.late_findings import IN_PROGRESS, PROPOSED, READY, awaited_in, finding_parts
from coaching.context.opening import Statement
from coaching.job_queue.names import ANALYSIS_JOB
from coaching.library.documents.findings import MAX_SECONDS, STILL_UNREAD, read_finding, wait_for_text
from coaching.models import Document, DocumentState, DocumentText
from coaching.people.profile_changes import offer_library
from coaching.practice.script import Reply, ToolUse
from coaching.tools import CHAT_TOOLS
from sessions_app.database import in_database
from sessions_app.models import Message
from tests.context.conftest import Talk, brief_client, brief_practice, client, person, talk
from tests.jobs.conftest import WorkOff, practice, queue, work_off
from tests.library.rows import make_client, make_document

__all__ = ["brief_client", "brief_practice", "client", "person", "practice", "queue", "talk", "work_off"]

pytestmark = pytest.mark.django_db(transaction=True)

REPORT = "The roof needs new slates.\fDamp was found in the cellar at 18 per cent."
CALL = "Date: 23 November 2026\nAda: We agreed to keep the flat.\nBen: I'll call the bank by Friday."


def newest(talk: Talk) -> str:
    blocks = talk.bodies[-1]["messages"][-1]["content"]
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def results(talk: Talk) -> list[Any]:
    blocks = talk.bodies[-1]["messages"][-1]["content"]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


async def test_what_ends_late_is_told_with_the_next_message_and_once(
    talk: Talk, person: User, work_off: WorkOff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coaching.tools.waiting.WAIT_SECONDS", 0.0)

    def make() -> tuple[Document, ...]:
        offer_library(person.pk)
        client = make_client(person)
        letter = make_document(client, text="", state=DocumentState.QUEUED)
        return make_document(client, text=REPORT), make_document(client, text=CALL), letter

    report, call, letter = await in_database(make)
    asked = {
        "summarize_document": report.pk, "analyze_transcript": call.pk, "classify_document": letter.pk,
    }  # fmt: skip
    uses = [ToolUse(name, {"document_id": document_id}) for name, document_id in asked.items()]
    talk.practice.script([Reply.of(*uses), "I’m reading them.", "Not yet."])
    await talk.say("What do they say?")
    assert results(talk) == [IN_PROGRESS] * 3
    await talk.say("And?")
    assert "<finding" not in newest(talk)

    await work_off()
    filed = {"state": DocumentState.FILED, "file_type": "letter", "folder": "Letters", "why": "It greets."}
    await in_database(Document.of(person.pk).filter(id=letter.pk).update, **filed)
    talk.practice.script(["Here they are.", "Gladly."])
    await talk.say("And now?")
    told = newest(talk)
    for name, document_id in asked.items():
        assert f'<finding tool="{name}" document="{document_id}">' in told
    assert "(page 2): “Damp was found in the cellar at 18 per cent.”" in told
    assert '"quote": "I\'ll call the bank by Friday."' in told
    assert '"due_words": "by Friday"' in told
    assert told.count(PROPOSED) == 2
    assert '"why": "It greets."' in told
    await talk.say("Thanks")
    assert "<finding" not in newest(talk)
    assert json.dumps(talk.bodies[-1]["messages"]).count("<finding tool=") == 3, "and it stays as it was"


def awaiting(document: Document, **values: Any) -> Message:
    call = {
        "id": "toolu_1", "name": "summarize_document", "input": {"document_id": document.pk},
        "result": IN_PROGRESS, "is_error": False,
    }  # fmt: skip
    return Message(role="assistant", metadata={"tool_calls": [call | values]})


def test_an_answer_that_came_after_all_isn_t_awaited_and_a_long_one_is_only_announced(user: User) -> None:
    document = make_document(make_client(user), text="", state=DocumentState.FILED)
    tools = CHAT_TOOLS.late_tools
    later = awaiting(document, id="toolu_2", result="{}")
    assert not awaited_in([awaiting(document), later], tools)
    (awaited,) = awaited_in([later, awaiting(document)], tools)

    def told(tokens: int) -> str:
        (part,) = finding_parts([awaited], user_id=user.pk, said=Statement(), tokens=tokens)
        return part.text

    assert "There is no text in this document." in told(1_000)
    assert READY in told(50)
    Document.of(user.pk).update(is_withheld=True)
    assert "keeps it from you" in told(1_000)


@pytest.mark.slow
def test_a_job_waits_for_a_document_that_is_still_being_read(user: User, queue: None) -> None:
    document = make_document(make_client(user), text="", state=DocumentState.QUEUED)

    def is_waiting(waited_seconds: int) -> bool:
        return wait_for_text(
            document_id=document.pk, kind="summary", session_id=None, waited_seconds=waited_seconds
        )

    def waits() -> int:
        jobs = ProcrastinateJob.objects.filter(task_name=ANALYSIS_JOB)
        job = jobs.get()
        assert job.scheduled_at is not None
        jobs.delete()
        return int(job.args["waited_seconds"])

    assert is_waiting(0)
    assert ProcrastinateJob.objects.exclude(task_name=ANALYSIS_JOB).count() == 1, "it is queued itself, too"
    waited = [waits()]
    while waited[-1] < MAX_SECONDS:
        assert is_waiting(waited[-1])
        waited.append(waits())
    assert len(waited) < 200
    assert is_waiting(waited[-1])
    assert not ProcrastinateJob.objects.filter(task_name=ANALYSIS_JOB).exists(), "it has given up"
    assert read_finding(user_id=user.pk, document_id=document.pk, kind="summary").reason == STILL_UNREAD
    DocumentText.unscoped.update_or_create(document=document, defaults={"text": REPORT})
    assert not is_waiting(0)
