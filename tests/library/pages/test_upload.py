"""Uploads to the library: forms of people and of programs, limits, and errors as JSON."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test import AsyncClient, Client
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue.names import DOCUMENTS_JOB
from coaching.library.clients import create_client, create_project, own_client
from coaching.library.documents import intake
from coaching.library.pages import upload as upload_page
from coaching.models import ClientType, Document, DocumentState
from coaching.people.attempts import AttemptLimit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("storage")]

JSON = {"Accept": "application/json"}


def file_of(name: str, data: bytes = b"Rent is due.") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


@pytest.fixture
def upload(signed_in: Client) -> Callable[..., Any]:
    """Upload files as a program does, and return the response."""

    def send(*files: SimpleUploadedFile, **fields: Any) -> Any:
        return signed_in.post("/library/upload/", {**fields, "files": list(files)}, headers=JSON)

    return send


def test_every_file_becomes_a_document_that_waits_to_be_read(upload: Callable[..., Any], user: User) -> None:
    response = upload(file_of("a.txt"), file_of("folder/b.txt", b"Another."))
    assert response.status_code == HTTPStatus.OK
    documents = response.json()["documents"]
    assert [(one["name"], one["state"], one["reason"]) for one in documents] == [
        ("a.txt", "queued", ""),
        ("b.txt", "queued", ""),
    ]
    rows = Document.of(user.pk).order_by("id")
    assert [row.pk for row in rows] == [one["id"] for one in documents]
    assert {row.client_id for row in rows} == {own_client(user.pk).pk}
    assert len({row.batch for row in rows}) == 1
    assert ProcrastinateJob.objects.filter(task_name=DOCUMENTS_JOB, args__user_id=user.pk).exists()


def test_an_upload_belongs_to_the_client_or_project_that_it_names(
    upload: Callable[..., Any], user: User
) -> None:
    client = create_client(user_id=user.pk, name="Mill Ltd", client_type=ClientType.COMPANY)
    project = create_project(user_id=user.pk, client_id=client.pk, name="Purchase")
    upload(file_of("a.txt"), client=client.pk, is_withheld="1")
    upload(file_of("b.txt", b"Another."), project=project.pk)
    first, second = Document.of(user.pk).order_by("id")
    assert (first.client_id, first.project_id, first.is_withheld) == (client.pk, None, True)
    assert (second.client_id, second.project_id, second.is_withheld) == (client.pk, project.pk, False)


def test_a_file_over_the_limit_is_refused_with_the_reason_and_the_others_go_on(
    upload: Callable[..., Any], user: User, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SAGE_MAX_UPLOAD_MB = 1
    response = upload(file_of("large.bin", bytes(1_500_000)), file_of("empty.txt", b""), file_of("good.txt"))
    assert response.status_code == HTTPStatus.OK
    states = {one["name"]: (one["state"], one["reason"]) for one in response.json()["documents"]}
    assert states == {
        "large.bin": ("refused", "This file is too large: 1.4 MB (max. 1 MB)."),
        "empty.txt": ("refused", "This file is empty."),
        "good.txt": ("queued", ""),
    }
    assert Document.of(user.pk).get(name="large.bin").storage_key is None
    monkeypatch.setattr(intake, "MAX_REFUSED", 1)
    upload(file_of("empty again.txt", b""))
    names = Document.of(user.pk).order_by("id").values_list("name", flat=True)
    assert list(names) == ["good.txt", "empty again.txt"], "older refusals are forgotten"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"client": "999999"}, HTTPStatus.NOT_FOUND),
        ({"project": "999999"}, HTTPStatus.NOT_FOUND),
        ({"client": "Mill"}, HTTPStatus.UNPROCESSABLE_ENTITY),
        ({"batch": "7"}, HTTPStatus.UNPROCESSABLE_ENTITY),
    ],
)
def test_an_upload_to_nowhere_takes_nothing(
    upload: Callable[..., Any], fields: dict[str, str], status: HTTPStatus
) -> None:
    response = upload(file_of("a.txt"), **fields)
    assert response.status_code == status
    assert response.json()["error"].endswith(".")
    assert not Document.unscoped.exists()


def test_somebody_elses_client_looks_like_a_missing_one(upload: Callable[..., Any], other_user: User) -> None:
    theirs = own_client(other_user.pk)
    foreign, missing = upload(file_of("a.txt"), client=theirs.pk), upload(file_of("a.txt"), client=999_999)
    assert (foreign.status_code, foreign.content) == (missing.status_code, missing.content)
    assert not Document.unscoped.exists()


def test_programs_get_each_refusal_as_json_with_a_sentence(
    upload: Callable[..., Any], signed_in: Client, user: User
) -> None:
    def words_of(response: Any, status: HTTPStatus) -> str:
        assert response.status_code == status
        assert response["Content-Type"] == "application/json"
        words: str = json.loads(response.content)["error"]
        return words

    address = "/library/upload/"
    assert "Sign in" in words_of(Client().post(address, headers=JSON), HTTPStatus.UNAUTHORIZED)
    forger = Client(enforce_csrf_checks=True)
    forger.force_login(user)
    assert "token" in words_of(forger.post(address, headers=JSON), HTTPStatus.FORBIDDEN)
    assert "at least one file" in words_of(upload(), HTTPStatus.UNPROCESSABLE_ENTITY)
    many = [file_of(f"{number}.txt") for number in range(51)]
    assert "up to 50 files at once" in words_of(upload(*many), HTTPStatus.BAD_REQUEST)
    missing = signed_in.get("/library/documents/999999/", headers=JSON)
    assert "nothing at this address" in words_of(missing, HTTPStatus.NOT_FOUND)
    assert not Document.unscoped.exists()


def test_a_full_account_is_told_so_and_what_fitted_stays(
    upload: Callable[..., Any], user: User, settings: LazySettings
) -> None:
    settings.SAGE_MAX_FILES = 1
    response = upload(file_of("a.txt"), file_of("b.txt", b"Another."))
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "can have 1" in response.json()["error"]
    assert [one["name"] for one in response.json()["documents"]] == ["a.txt"]
    assert Document.of(user.pk).count() == 1


def test_too_many_files_in_a_short_time_wait(
    upload: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_page, "uploads", AttemptLimit(attempts=1, seconds=600))
    response = upload(file_of("a.txt"), file_of("b.txt", b"Another."))
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert int(response["Retry-After"]) > 0
    assert len(response.json()["documents"]) == 1


def test_without_scripts_the_form_answers_with_the_page(signed_in: Client, user: User) -> None:
    client = create_client(user_id=user.pk, name="Mill Ltd", client_type=ClientType.COMPANY)
    sent = {"client": client.pk, "files": [file_of("a.txt"), file_of("empty.txt", b"")]}
    response = signed_in.post("/library/upload/", sent, follow=True)
    assert response.redirect_chain == [(f"/library/clients/{client.pk}/", HTTPStatus.SEE_OTHER)]
    page = response.content.decode()
    assert "1 document uploaded. Sage will read it next." in page
    assert "empty.txt wasn’t added. This file is empty." in page
    nothing = signed_in.post("/library/upload/", {"client": client.pk}, follow=True).content.decode()
    assert "Choose at least one file." in nothing


def test_a_documents_page_answers_programs_with_the_decision(
    signed_in: Client, upload: Callable[..., Any], user: User
) -> None:
    upload(file_of("a.txt"))
    document = Document.of(user.pk).get()
    fact = {"name": "Rent", "value": "900", "page": 1}
    Document.of(user.pk).update(
        state=DocumentState.FILED, file_type="lease", category="tenancy", folder="Home", level="client",
        confidence=0.9, why="It names a rent.", summary="A lease.", key_facts=[fact],
    )  # fmt: skip
    answer = signed_in.get(f"/library/documents/{document.pk}/", headers=JSON).json()
    assert answer == {
        "id": document.pk, "name": "a.txt", "state": "filed", "reason": "", "client": document.client_id,
        "project": None, "fileType": "lease", "category": "tenancy", "folder": "Home", "level": "client",
        "confidence": 0.9, "why": "It names a rent.", "summary": "A lease.", "keyFacts": [fact],
        "droppedFacts": 0,
        "readingNote": "",
        "partOf": None,
    }  # fmt: skip


async def test_a_download_is_the_file_as_it_was_and_only_to_be_saved(user: User, storage: None) -> None:
    data = b"<script>alert(1)</script>" * 10_000
    browser = AsyncClient()
    await browser.aforce_login(user)
    await browser.post("/library/upload/", {"files": file_of("page.html", data)})
    document = await sync_to_async(Document.of(user.pk).get)()
    response: Any = await browser.get(f"/library/documents/{document.pk}/file/")
    assert b"".join([piece async for piece in response.streaming_content]) == data
    assert response["Content-Disposition"] == 'attachment; filename="page.html"'
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"
    await sync_to_async(Document.of(user.pk).update)(storage_key="users/0/gone")
    gone: Any = await browser.get(f"/library/documents/{document.pk}/file/", follow=True)
    assert "couldn’t get the file right now" in gone.content.decode()
    await sync_to_async(Document.of(user.pk).update)(sha256="")  # a restore didn't find it
    lost: Any = await browser.get(f"/library/documents/{document.pk}/file/", follow=True)
    assert "This file was lost. What Sage had read of it is still here." in lost.content.decode()
    await sync_to_async(connections.close_all)()
