"""Lock order: what the pipeline writes, what a person decides and what they delete at the same time.

The last test has a long form.
"""

import random
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.db import connection, connections
from django.utils import timezone

from coaching.engine.errors import StaleRunnerError
from coaching.engine.messages import FinishedRound, ModelRequest
from coaching.engine.tools import ToolCall, ToolResult
from coaching.engine.usage import RoundUsage, TokenCounts
from coaching.library.decisions import accept_shown
from coaching.library.documents.filing import delete_document, move_document
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.effects import undo
from coaching.library.pipeline.batch import Batch, Ending, Item
from coaching.library.pipeline.call_records import (
    CallPlan,
    begin_call,
    open_call,
    run_effect,
    store_answer,
    store_round,
)
from coaching.library.pipeline.claims import Claim
from coaching.library.pipeline.settling import settle
from coaching.library.proposals import propose
from coaching.library.removals import delete_client, delete_project
from coaching.models import (
    ActionItem,
    CallPurpose,
    Client,
    Document,
    DocumentCall,
    DocumentState,
    KnowledgeEntry,
    LibraryEffect,
    MadeBy,
)
from sessions_app.errors import Refused
from tests.library.rows import make_client, make_document, make_project
from tests.thoroughness import size

ROUNDS = size(8, long=200)
DOCUMENTS = 4
WRITES_EACH = 3
USAGE = RoundUsage(model="m", tokens=TokenCounts(), first_token_ms=None, duration_ms=0)

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A claimed batch with one call about all its documents, and one about the first alone."""

    claim: Claim
    documents: Sequence[Document]
    calls: Sequence[DocumentCall]

    def writes(self) -> list[tuple[DocumentCall, Document]]:
        """Return what is proposed: by which call, and from which document."""
        return [
            (self.calls[number % 2 if place == 0 else 0], document)
            for number in range(WRITES_EACH)
            for place, document in enumerate(self.documents)
        ]


def begin_reading(client: Client, *, count: int = DOCUMENTS, **values: Any) -> Reading:
    """Claim documents of a client, and begin the calls about them."""
    token = f"lane:0:{uuid.uuid4().hex}"
    state = {"state": DocumentState.READING, "claim": token, "claimed_at": timezone.now(), **values}
    documents = [
        make_document(client, f"{number}.txt", text="The rent.", storage_key=f"{token}:{number}", **state)
        for number in range(count)
    ]
    ids = tuple(document.pk for document in documents)
    claim = Claim(user_id=client.user_id, client_id=client.pk, token=token, document_ids=ids)
    return Reading(claim=claim, documents=documents, calls=[_call(client, ids), _call(client, ids[:1])])


def _call(client: Client, ids: Sequence[int]) -> DocumentCall:
    """Begin a call whose first round asks for as many writes as there may be."""
    name = uuid.uuid4().hex
    call = open_call(
        CallPlan(
            user_id=client.user_id,
            client_id=client.pk,
            purpose=CallPurpose.CLASSIFY,
            key=name,
            document_ids=ids,
            request=ModelRequest(model="m", max_tokens=1, system=[], tools=[], messages=[]),
            prefix=name,
            prompt_tokens=1,
        )
    )
    assert begin_call(call, daily_tokens=None) == "go"
    writes = range(DOCUMENTS * WRITES_EACH)
    asked = FinishedRound(
        number=1,
        blocks=(),
        blocks_json="[]",
        text="",
        notes="",
        calls=tuple(
            ToolCall(tool_use_id=f"toolu_{each}", name="n", input_json="{}", round_number=1, position=each)
            for each in writes
        ),
        stop_reason="tool_use",
        message_id="m",
        model="m",
    )
    store_round(call, asked, None)
    return call


def write(call: DocumentCall, document: Document, number: int) -> None:
    """Propose something as a tool of the pipeline does."""

    def effect() -> ToolResult:
        place: dict[str, Any] = {"client_id": call.client_id, "document_id": document.pk}
        title = f"The rent, {number}"
        if number % 2:
            propose(user_id=call.user_id, new=NewAction(title=title, **place), made_by=MadeBy.PIPELINE)
        else:
            new = NewEntry(title=title, content="It is 1,200.", **place)
            propose(user_id=call.user_id, new=new, made_by=MadeBy.PIPELINE)
        return ToolResult.of(written=True)

    with suppress(StaleRunnerError, Document.DoesNotExist, Client.DoesNotExist):
        run_effect(call, f"toolu_{number}", effect)


def write_all(reading: Reading) -> None:
    """Write all that is proposed, and end the documents with the answers."""
    for number, (call, document) in enumerate(reading.writes()):
        write(call, document, number)
    for call in reading.calls:
        store_answer(call, "{}", USAGE)
    ending = Ending(state=DocumentState.REVIEW, reason="Sage isn’t sure.")
    items = [Item(document=document, ending=ending) for document in reading.documents]
    call_ids = tuple(call.pk for call in reading.calls)
    settle(Batch(claim=reading.claim, items=items, call_ids=call_ids))


def made_from(document: Document) -> int:
    rows = [model.of(document.user_id).filter(document=document) for model in (KnowledgeEntry, ActionItem)]
    return sum(each.count() for each in rows)


def in_thread(pool: ThreadPoolExecutor, work: Callable[[], object]) -> "Future[None]":
    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    return pool.submit(run)


def wait_until_somebody_waits_for_us(other: "Future[None]") -> None:
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    while not other.done():
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone():
                return


@pytest.mark.parametrize("deleted", ["document", "project", "client"])
def test_a_deletion_waits_for_a_write_of_the_documents_call(user: User, deleted: str) -> None:
    client = make_client(user, "Anna")
    project = make_project(client)
    reading = begin_reading(client, count=1, project=project)
    [document] = reading.documents
    deletion: Callable[[], object] = {
        "document": lambda: delete_document(user_id=user.pk, document_id=document.pk),
        "project": lambda: delete_project(user_id=user.pk, project_id=project.pk),
        "client": lambda: delete_client(user_id=user.pk, client_id=client.pk),
    }[deleted]
    new = NewAction(client_id=client.pk, project_id=project.pk, document_id=document.pk, title="Call")

    with ThreadPoolExecutor(1) as pool:

        def effect() -> ToolResult:
            deletions.append(in_thread(pool, deletion))
            wait_until_somebody_waits_for_us(deletions[0])
            propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
            return ToolResult.of(written=True)

        deletions: list[Future[None]] = []
        run_effect(reading.calls[0], "toolu_1", effect)
    assert deletions[0].exception() is None
    left = [model.of(user.pk).count() for model in (Document, DocumentCall, KnowledgeEntry, ActionItem)]
    assert left == [0, 0, 0, 0]


def test_a_duplicate_whose_original_is_deleted_goes_on_to_be_read(user: User) -> None:
    client = make_client(user)
    original = make_document(client)
    reading = begin_reading(client, count=2)
    duplicate = Ending(state=DocumentState.DUPLICATE, values={"duplicate_of_id": original.pk})
    similar = Ending(state=DocumentState.REVIEW, reason="x", values={"similar_to_id": original.pk})
    endings = zip(reading.documents, (duplicate, similar), strict=True)
    items = [Item(document=document, ending=ending) for document, ending in endings]
    delete_document(user_id=user.pk, document_id=original.pk)
    left = settle(Batch(claim=reading.claim, items=items))
    assert [item.document.pk for item in left.open_items] == [reading.documents[0].pk]
    assert Document.of(user.pk).get(state=DocumentState.REVIEW) == reading.documents[1]


def decide(reading: Reading, chance: random.Random) -> None:
    """Accept what there is and take it back, move a document, as a person in another tab."""
    user_id = reading.claim.user_id
    for document in chance.sample(list(reading.documents), k=len(reading.documents)):
        time.sleep(chance.uniform(0, 0.004))
        entries, items = (
            list(model.of(user_id).filter(document=document).values_list("id", flat=True))
            for model in (KnowledgeEntry, ActionItem)
        )
        shown: dict[str, Any] = {"entry_ids": entries, "action_ids": items, "seen_at": timezone.now()}
        with suppress(Refused, ObjectDoesNotExist):
            accept_shown(user_id=user_id, document_id=document.pk, **shown)
            for effect in LibraryEffect.of(user_id).filter(undone_at=None)[:2]:
                undo(user_id=user_id, effect_id=effect.pk)
            move_document(user_id=user_id, document_id=document.pk, folder="Rent")


@pytest.mark.timeout(max(420, 10 * ROUNDS))
def test_documents_are_deleted_while_their_batch_writes_and_nothing_else_is_lost(user: User) -> None:
    for number in range(ROUNDS):
        check_round(make_client(user, f"Client {number}"), random.Random(number))


def check_round(client: Client, chance: random.Random) -> None:
    """Let a batch write while its documents are deleted, some or all, and a person decides."""
    user_id = client.user_id
    reading = begin_reading(client)
    documents = list(reading.documents)
    gone = chance.sample(documents, k=chance.choice([1, 2, 3, DOCUMENTS]))
    kept = [document for document in documents if document not in gone]
    is_client_deleted = not kept and chance.random() < 0.5
    pauses = [chance.uniform(0, 0.03) for _ in gone]

    def delete() -> None:
        for document, seconds in zip(gone, pauses, strict=True):
            time.sleep(seconds)
            if is_client_deleted:
                delete_client(user_id=user_id, client_id=client.pk)
                return
            delete_document(user_id=user_id, document_id=document.pk)

    with ThreadPoolExecutor(3) as pool:
        doings = (lambda: write_all(reading), delete, lambda: decide(reading, chance))
        works = [in_thread(pool, work) for work in doings]
    assert [work.exception() for work in works] == [None] * 3
    for document in kept:
        document.refresh_from_db()
        assert (document.state, made_from(document)) == (DocumentState.REVIEW, WRITES_EACH), document.pk
    assert Document.of(user_id).filter(client=client).count() == len(kept)
    for model in (KnowledgeEntry, ActionItem):
        left = model.of(user_id).filter(document=None, state="proposed")
        assert not left.exclude(effects__undone_at__isnull=False).exists()  # accepted, and taken back later
    calls = DocumentCall.of(user_id).filter(client=client)
    assert calls.count() == (2 if documents[0] in kept else 1 if kept else 0)
