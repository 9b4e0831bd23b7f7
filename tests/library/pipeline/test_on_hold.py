"""Files of an import are searchable at once and cost nothing until their person lets Sage read them."""

import asyncio
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from coaching.legacy.unread import ImportedDocuments, imported_documents
from coaching.library.documents.on_hold import let_read
from coaching.library.documents.reasons import ON_HOLD
from coaching.library.pipeline.claims import claim_uploads
from coaching.library.pipeline.estimates import estimate_reading
from coaching.library.pipeline.settling import begin, settle
from coaching.library.pipeline.stages.hold import hold
from coaching.models import Document, DocumentState, Import, RecallSource
from coaching.practice import PracticeServer
from coaching.recall.search import search
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff
from tests.legacy.real_exports import claude_2024, zipped
from tests.legacy.test_import_command import run_import
from tests.legacy.test_undo import undo
from tests.library.pipeline.conftest import LEASE, PAYSLIP, calls_to, upload
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

    answer = await in_database(post, client, user, f"{ADDRESS}{row.pk}/documents/")
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


async def test_over_the_daily_budget_they_wait_for_the_next_day(
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
    await in_database(post, client, user, f"{ADDRESS}{row.pk}/documents/")
    await work_off()
    waiting = ImportedDocuments(prepared=0, unread=0, reading=2, waiting=2)
    assert await in_database(counted, user, row) in (waiting, None)
    assert "2 of them wait until tomorrow" in await in_database(page, client, user)


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
