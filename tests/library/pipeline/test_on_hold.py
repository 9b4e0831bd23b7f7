"""Files of an import are searchable at once and cost nothing until their person lets Sage read them."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from coaching.legacy.imports import SHOWN, imports_of
from coaching.legacy.one_at_a_time import only_import_of
from coaching.legacy.unread import ImportedDocuments, imported_documents
from coaching.library.documents.findings import FACTS_KEY, SUMMARY_KEY, begin_finding
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.documents.on_hold import let_read
from coaching.library.documents.readings import read_whole_again
from coaching.library.documents.reasons import ON_HOLD
from coaching.library.documents.reviews import correct_document
from coaching.library.jobs.reading import queue_lost_readings
from coaching.library.pipeline.attachments import take_attachments
from coaching.library.pipeline.claims import claim_uploads
from coaching.library.pipeline.estimates import estimate_reading
from coaching.library.pipeline.extracted import AttachedFile
from coaching.library.pipeline.settling import begin, settle
from coaching.library.pipeline.stages.hold import hold
from coaching.models import (
    Document,
    DocumentCorrection,
    DocumentState,
    Import,
    ImportState,
    KnowledgeEntry,
    RecallSource,
)
from coaching.practice import PracticeServer
from coaching.recall.search import search
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff
from tests.legacy.real_exports import claude_2024, zipped
from tests.legacy.test_import_command import run_import
from tests.legacy.test_undo import undo
from tests.library.pipeline.conftest import LEASE, PAYSLIP, calls_to, stored, upload
from tests.library.pipeline.truth import TruthfulModel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

ADDRESS = "/settings/import/"


def export() -> bytes:
    """Return an export of Claude whose project has a lease and a payslip."""
    members = dict(claude_2024())
    (project,) = json.loads(members["projects.json"])
    for document, name, text in zip(project["docs"], ("lease.md", "pay.md"), (LEASE, PAYSLIP), strict=False):
        document |= {"filename": name, "content": text}
    return zipped({**members, "projects.json": json.dumps([project]).encode()})


def imported(tmp_path: Path, user: User, *options: str) -> Import:
    path = tmp_path / "export.zip"
    path.write_bytes(export())
    run_import(path, user, *options)
    return Import.of(user.pk).latest("pk")


def states(user: User) -> dict[str, str]:
    return dict(Document.of(user.pk).values_list("name", "state"))


def page(client: Client, user: User, address: str = ADDRESS) -> str:
    client.force_login(user)
    return client.get(address).content.decode()


def post(client: Client, user: User, address: str, **form: str) -> Any:
    client.force_login(user)
    return client.post(address, form)


def counted(user: User, row: Import) -> ImportedDocuments | None:
    return imported_documents(user.pk, [row.pk]).get(row.pk)


def found(user: User, words: str) -> int:
    hits = search(words, user_id=user.pk, now=timezone.now())
    return sum(hit.source == RecallSource.DOCUMENT for hit in hits)


async def test_an_import_asks_no_model_and_its_files_are_read_once_their_person_says_so(
    user: User,
    practice: PracticeServer,
    work_off: WorkOff,
    model: TruthfulModel,
    client: Client,
    tmp_path: Path,
    settings: Settings,
) -> None:
    settings.SAGE_MODEL, settings.SAGE_CLASSIFY_MODEL = "claude-sonnet-5-5", "claude-haiku-5-5"
    model.types = {"lease.md": "lease", "pay.md": "payslip"}
    row = await in_database(imported, tmp_path, user)
    assert "2 files are being made searchable." in await in_database(page, client, user)
    await work_off()
    assert practice.requests == []
    assert set((await in_database(states, user)).values()) == {DocumentState.UNREAD}
    assert await in_database(found, user, "bakery")
    shown = await in_database(page, client, user)
    assert "2 files are in your library, where you can search them." in shown
    assert "Let Sage read the files…" in shown
    assert "Estimated cost: " in shown
    unread = Document.of(user.pk).filter(state=DocumentState.UNREAD)
    estimate = await in_database(estimate_reading, unread)
    assert estimate

    newest = await in_database(lambda: str(unread.latest("id").pk))
    assert f'name="newest" value="{newest}"' in shown
    answer = await in_database(post, client, user, f"{ADDRESS}{row.pk}/documents/", newest=newest)
    assert answer["Location"] == ADDRESS
    assert "Sage is reading 2 files." in await in_database(page, client, user)
    await work_off()
    assert set((await in_database(states, user)).values()) == {DocumentState.FILED}
    assert calls_to(practice)
    paid = await in_database(lambda: sum(usage.cost_micro_usd or 0 for usage in ModelUsage.unscoped.all()))
    assert paid <= estimate <= 10 * paid
    shown = await in_database(page, client, user)
    assert "Let Sage read the files" not in shown
    assert "Sage is reading" not in shown


async def test_an_undo_takes_back_what_waits_and_what_is_queued(
    user: User, practice: PracticeServer, work_off: WorkOff, tmp_path: Path
) -> None:
    row = await in_database(imported, tmp_path, user)
    await work_off()
    (first, *_) = await in_database(list, Document.of(user.pk).order_by("pk"))
    await in_database(let_read, user_id=user.pk, document_ids=[first.pk])
    assert (await in_database(undo, user, row)).kept == []
    await work_off()
    assert not await in_database(Document.of(user.pk).exists)
    assert practice.requests == []


async def test_over_the_daily_budget_they_wait(
    user: User,
    practice: PracticeServer,
    work_off: WorkOff,
    client: Client,
    tmp_path: Path,
    settings: Settings,
) -> None:
    settings.SAGE_DAILY_TOKENS = 1
    row = await in_database(imported, tmp_path, user)
    await upload(user, ("letter.txt", "Dear Ada, this is a letter. Yours, Grace"))
    await work_off()
    newest = await in_database(lambda: str(Document.of(user.pk).latest("id").pk))
    await in_database(post, client, user, f"{ADDRESS}{row.pk}/documents/", newest=newest)
    await work_off()
    waiting = ImportedDocuments(prepared=0, unread=0, newest=None, reading=2, waiting=2)
    assert await in_database(counted, user, row) == waiting
    assert "2 of them are waiting for now. Sage will continue by itself." in await in_database(
        page, client, user
    )


async def test_what_is_let_read_while_its_text_is_taken_out_goes_on(user: User, tmp_path: Path) -> None:
    def read_meanwhile() -> list[str]:
        imported(tmp_path, user)
        claim = claim_uploads(user_id=user.pk, reader="lane:0")
        assert claim
        batch = asyncio.run(hold(begin(claim), None))  # type: ignore[arg-type]  # it needs no services
        let_read(user_id=user.pk, document_ids=claim.document_ids)
        settle(batch)
        return list(states(user).values())

    assert await in_database(read_meanwhile) == [DocumentState.QUEUED] * 2


async def test_the_same_file_uploaded_is_read_and_a_single_one_can_be_read_on_its_page(
    user: User,
    practice: PracticeServer,
    work_off: WorkOff,
    model: TruthfulModel,
    client: Client,
    tmp_path: Path,
) -> None:
    model.types = {"lease.md": "lease", "pay.md": "payslip", "mine.md": "lease"}
    await in_database(imported, tmp_path, user)
    await upload(user, ("mine.md", LEASE))
    await work_off()
    assert await in_database(states, user) == {
        "lease.md": DocumentState.UNREAD,
        "pay.md": DocumentState.UNREAD,
        "mine.md": DocumentState.FILED,
    }
    pay = await in_database(Document.of(user.pk).get, name="pay.md")
    address = f"/library/documents/{pay.pk}/"
    assert pay.reason == ON_HOLD
    assert "Let Sage read it" in await in_database(page, client, user, address)
    await in_database(post, client, user, address, do="read")
    await work_off()
    assert (await in_database(states, user))["pay.md"] == DocumentState.FILED


def test_the_command_lets_sage_read_them_also_those_of_an_earlier_import(
    user: User, practice: PracticeServer, queue: None, tmp_path: Path
) -> None:
    path = tmp_path / "export.zip"
    imported(tmp_path, user)
    said = StringIO()
    call_command(
        "import_legacy", str(path), "--user", user.username, "--read", stdout=StringIO(), stderr=said
    )
    assert "2 documents are queued" in said.getvalue()
    assert not Document.of(user.pk).filter(is_on_hold=True).exists()


def held(user: User, count: int, row: Import | None = None, **values: Any) -> Sequence[Document]:
    """Make documents whose text search finds and that Sage hasn't read."""
    return stored(
        user, count, state=DocumentState.UNREAD, reason=ON_HOLD, is_on_hold=True, made_by_import=row, **values
    )


def an_import(user: User, **values: Any) -> Import:
    given = {"file_name": "export.zip", "state": ImportState.FINISHED} | values
    return Import.of(user.pk).create(**given)


def test_a_yes_is_only_for_the_files_that_the_page_has_shown_and_priced(
    user: User, client: Client, queue: None
) -> None:
    row = an_import(user)
    shown = held(user, 2, row)
    late = held(user, 1, row)
    address = f"{ADDRESS}{row.pk}/documents/"
    for form in ({}, {"newest": "all"}, {"newest": str(2**63)}):
        post(client, user, address, **form)
        assert Document.of(user.pk).filter(is_on_hold=True).count() == 3
    post(client, user, address, newest=str(shown[-1].pk))
    assert Document.of(user.pk).get(is_on_hold=True).pk == late[0].pk


def test_while_an_import_runs_its_files_are_not_offered(user: User, client: Client, queue: None) -> None:
    row = an_import(user, state=ImportState.RUNNING)
    (document,) = held(user, 1, row)
    with only_import_of(user.pk):
        shown = page(client, user)
    assert "1 file is in your library" in shown
    assert "Let Sage read the file" not in shown
    post(client, user, f"{ADDRESS}{row.pk}/documents/", newest=str(document.pk))
    assert Document.of(user.pk).get().is_on_hold


async def test_what_its_person_files_is_not_sent_until_they_ask_for_its_facts(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    def file() -> int:
        (document,) = held(user, 1)
        correct_document(user_id=user.pk, document_id=document.pk, file_type="letter")
        queue_lost_readings()
        return document.pk

    pk = await in_database(file)
    await work_off()
    assert practice.requests == []
    assert (await in_database(DocumentCorrection.of(user.pk).get)).excerpt == ""
    await in_database(read_whole_again, user_id=user.pk, document_id=pk, kind=FACTS_KEY)
    await work_off()
    assert len(practice.requests) == 1
    assert not (await in_database(Document.of(user.pk).get)).is_on_hold


async def test_a_summary_that_somebody_asks_for_in_a_conversation_is_written(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    (document,) = await in_database(held, user, 1)
    await in_database(
        begin_finding, user_id=user.pk, document_id=document.pk, kind=SUMMARY_KEY, session_id=None
    )
    await work_off()
    assert len(practice.requests) == 1
    assert await in_database(KnowledgeEntry.of(user.pk).filter(document=document).exists)
    assert (await in_database(Document.of(user.pk).get)).state == DocumentState.UNREAD


async def test_bytes_that_were_filed_meanwhile_are_not_read_again(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    def let() -> tuple[Document, Document]:
        (document,) = held(user, 1)
        (upload,) = stored(user, 1, state=DocumentState.FILED, folder="Letters", decided_at=timezone.now())
        Document.of(user.pk).update(sha256="same", facts_found_at=timezone.now())
        let_read(user_id=user.pk, document_ids=[document.pk])
        return document, upload

    document, upload = await in_database(let)
    await work_off()
    await in_database(document.refresh_from_db)
    assert (document.state, document.duplicate_of_id) == (DocumentState.DUPLICATE, upload.pk)
    assert practice.requests == []


async def test_drafts_of_one_import_know_that_they_are_almost_the_same(user: User, work_off: WorkOff) -> None:
    def take() -> None:
        for name, text in (("draft.md", LEASE), ("final.md", f"{LEASE}Signed in May.")):
            destination = replace(destination_of(user_id=user.pk), is_on_hold=True)
            take_in(user_id=user.pk, name=name, data=text.encode(), destination=destination)

    await in_database(take)
    await work_off()
    rows = await in_database(list, Document.of(user.pk).values_list("state", "name", "similar_to__name"))
    assert {state for state, _, _ in rows} == {"unread"}
    similar = {name: to for _, name, to in rows}
    # Both are read at the same time: whichever comes later refers to the other.
    assert similar in ({"draft.md": None, "final.md": "draft.md"}, {"draft.md": "final.md", "final.md": None})


def test_what_is_never_sent_to_the_model_is_not_offered(user: User, client: Client, queue: None) -> None:
    row = an_import(user)
    (document,) = held(user, 1, row, is_withheld=True)
    address = f"/library/documents/{document.pk}/"
    assert "Let Sage read it" not in page(client, user, address)
    assert counted(user, row) is None
    answer = post(client, user, address, do="read")
    assert "This document is never sent to the AI model. Allow it first." in answer.content.decode()
    assert let_read(user_id=user.pk, document_ids=[document.pk]) == 0
    assert states(user) == {"letter.txt": DocumentState.UNREAD}
    Document.of(user.pk).update(is_withheld=False, is_on_hold=False, state=DocumentState.REVIEW)
    answer = post(client, user, address, do="read")
    assert "This document no longer waits to be read." in answer.content.decode()


def test_an_old_import_is_listed_as_long_as_its_files_are_unread(
    user: User, client: Client, queue: None
) -> None:
    row = an_import(user)
    (document,) = held(user, 1, row)
    for _ in range(SHOWN):
        an_import(user)
    assert row in imports_of(user.pk)
    post(client, user, f"{ADDRESS}{row.pk}/documents/", newest=str(document.pk))
    assert row not in imports_of(user.pk)


def test_a_part_of_the_page_estimates_no_price_of_others(user: User, client: Client) -> None:
    row = an_import(user)
    held(user, 1, row)
    client.force_login(user)
    for target, is_offered in ((f"import-documents-{row.pk}", True), (f"import-{row.pk + 1}", False)):
        headers = {"HX-Request": "true", "HX-Target": target}
        shown = client.get(ADDRESS, headers=headers).content.decode()
        assert ("Let Sage read the file" in shown) == is_offered


def test_a_page_whose_files_all_wait_asks_seldom() -> None:
    def seconds(*, prepared: int = 0, waiting: int) -> int:
        counts = ImportedDocuments(prepared=prepared, unread=0, newest=None, reading=2, waiting=waiting)
        return counts.poll_seconds

    assert [seconds(waiting=2), seconds(waiting=1), seconds(waiting=2, prepared=1)] == [60, 5, 5]


def test_attachments_are_read_with_an_email_that_was_let_read_meanwhile(user: User, queue: None) -> None:
    (email,) = held(user, 1)
    let_read(user_id=user.pk, document_ids=[email.pk])
    take_attachments(email, [AttachedFile(name="lease.md", size=len(LEASE), data=LEASE.encode())])
    assert not Document.of(user.pk).get(part_of=email).is_on_hold


def test_a_document_that_is_only_made_searchable_is_not_said_to_be_read(
    user: User, client: Client, queue: None
) -> None:
    (document,) = held(user, 1)
    Document.of(user.pk).update(state=DocumentState.QUEUED)
    shown = page(client, user, f"/library/documents/{document.pk}/")
    assert "This document is being made searchable." in shown
    assert "Sage is reading this document." not in shown
