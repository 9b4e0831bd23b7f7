"""A synced library, and documents that come in as an upload does."""

import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.library.clients import own_client
from coaching.library.documents.intake import Destination, destination_of, take_in
from coaching.library.references.files import sync_reference_files
from coaching.models import Document, DocumentSource, DocumentText
from coaching.practice import PracticeServer
from coaching.practice.api.records import ReceivedRequest
from coaching.practice.coach.documents import is_classification
from sessions_app.database import in_database
from tests.asked_model import asked_model
from tests.jobs.conftest import queue, work_off
from tests.library.pipeline.truth import TruthfulModel

__all__ = ["queue", "work_off"]

LEASE = """\
COMMERCIAL LEASE

This lease of premises is made between Harbour Estates Ltd (landlord) and Blue Door Bakery (tenant).
The demised premises are the ground floor of 12 Quay Street. The term of years is ten from 1 May 2026.

Permitted use: bakery and shop
Base rent: EUR 24,000 a year
The tenant covenants to keep the premises in repair. The landlord covenants quiet enjoyment.
"""
PAYSLIP = """\
PAYSLIP for March 2026

Employee: Ada Example
Gross pay: 4,100.00
Net pay: 2,712.40
National insurance: 312.18. Tax code 1257L. Year to date gross pay 12,300.00. Employer: Northwind Ltd.
"""


@pytest.fixture
def references(transactional_db: None) -> None:
    """The shipped references and rules."""
    sync_reference_files()


@pytest.fixture
def model() -> TruthfulModel:
    """What the practice model of these tests answers."""
    return TruthfulModel()


@pytest.fixture
async def practice(model: Any) -> AsyncIterator[PracticeServer]:
    """The model that this process asks; files of tests may have a `model` of their own."""
    async with asked_model(answer=model.answer) as server:
        yield server


def stored(user: User, count: int, **values: object) -> Sequence[Document]:
    """Make queued documents whose text was read before, quickly. Sync."""
    client = own_client(user.pk)
    rows = [
        Document(
            user=user,
            client=client,
            name="letter.txt",
            size=100,
            sha256=uuid.uuid4().hex,
            storage_key=f"users/{user.pk}/none-{uuid.uuid4().hex}",
            read_at=timezone.now(),
            **values,
        )
        for _ in range(count)
    ]
    Document.unscoped.bulk_create(rows)
    texts = [DocumentText(document=row, text="Dear Ada, this is a letter. Yours, Grace") for row in rows]
    DocumentText.unscoped.bulk_create(texts)
    return rows


def take_texts(
    user: User,
    texts: Iterable[tuple[str, str]],
    *,
    destination: Destination | None = None,
    source: DocumentSource = DocumentSource.UPLOAD,
) -> Sequence[Document]:
    """Take in documents of these names and texts. Sync."""
    destination = destination or destination_of(user_id=user.pk, source=source)
    return [
        take_in(user_id=user.pk, name=name, data=text.encode(), destination=destination)
        for name, text in texts
    ]


async def upload(
    user: User, *texts: tuple[str, str], source: DocumentSource = DocumentSource.UPLOAD
) -> Sequence[Document]:
    """Take in documents of these names and texts, for the user's own client."""
    return await in_database(take_texts, user, texts, source=source)


async def fresh(*documents: Document) -> Sequence[Document]:
    """Return the documents as they are now."""
    ids = [document.pk for document in documents]
    found = await in_database(lambda: Document.unscoped.in_bulk(ids))
    return [found[each] for each in ids]


def calls_to(practice: PracticeServer) -> list[ReceivedRequest]:
    """Return the requests that asked what documents are."""
    return [request for request in practice.requests if is_classification(request.body)]
