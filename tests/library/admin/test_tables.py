"""The library in the admin: no words without the permission, and each look is logged."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue.names import DOCUMENTS_JOB
from coaching.library.rows.costs import calls_about
from coaching.models import (
    ActionItem,
    CallUsage,
    Document,
    DocumentCall,
    KnowledgeEntry,
    LibraryEffect,
    StepChange,
)
from sessions_app.models import ModelUsage
from tests.conftest import MakeUser
from tests.pages.test_admin import staff_with
from tests.sockets.tenant_library import fill_library

pytestmark = pytest.mark.django_db

SECRET = "what nobody else should read"
MODELS = (Document, KnowledgeEntry, ActionItem, DocumentCall, LibraryEffect)


@pytest.fixture
def library(user: User) -> User:
    fill_library(user, SECRET)
    document = Document.of(user.pk).get()
    call = {
        "purpose": "classify",
        "key": "k",
        "documents": [document.pk],
        "request": SECRET,
        "answer": SECRET,
    }
    DocumentCall.of(user.pk).create(client=document.client, **call)
    return user


@pytest.mark.slow
def test_rows_are_shown_by_person_and_state_without_words(library: User, make_user: MakeUser) -> None:
    client = staff_with(make_user, *(f"view_{model._meta.model_name}" for model in MODELS))
    for model in MODELS:
        row = model.unscoped.get()
        address = f"/admin/coaching/{model._meta.model_name}/"
        for path in (address, f"{address}{row.pk}/change/", f"{address}{row.pk}/history/"):
            page = client.get(path)
            assert page.status_code == 200, path
            assert SECRET not in page.content.decode(), path
        assert "ada" in client.get(address).content.decode()
        assert client.get(f"{address}?q={SECRET}").content.decode().count("/change/") == 0
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("model", [Document, KnowledgeEntry, ActionItem])
def test_words_are_shown_with_the_permission_and_the_look_is_logged(
    library: User, make_user: MakeUser, model: type[Document | KnowledgeEntry | ActionItem]
) -> None:
    row = model.unscoped.get()
    client = staff_with(make_user, f"view_{model._meta.model_name}")
    address = f"/admin/coaching/{model._meta.model_name}/{row.pk}"
    assert client.get(f"{address}/words/").status_code == 403
    assert "Read the words" not in client.get(f"{address}/change/").content.decode()
    reader = User.objects.get(username="staff")
    reader.user_permissions.add(Permission.objects.get(codename="read_message_text"))
    assert "Read the words" in client.get(f"{address}/change/").content.decode()
    assert SECRET in client.get(f"{address}/words/").content.decode()
    entry = LogEntry.objects.get()
    assert entry.object_id == str(row.pk)
    assert SECRET not in entry.object_repr + entry.change_message


def test_the_history_of_a_step_is_shown_and_its_words_with_the_permission_alone(
    library: User, make_user: MakeUser
) -> None:
    step = ActionItem.unscoped.get()
    words = {"quote": f"Not yet, {SECRET}", "outcome": f"Later, {SECRET}"}
    StepChange.of(library.pk).create(action_item=step, kind="moved", at=timezone.now(), **words)
    client = staff_with(make_user, "view_actionitem", "view_stepchange")
    address = f"/admin/coaching/actionitem/{step.pk}"
    page = client.get(f"{address}/change/").content.decode()
    assert "Moved" in page
    assert SECRET not in page
    reader = User.objects.get(username="staff")
    reader.user_permissions.add(Permission.objects.get(codename="read_message_text"))
    shown = client.get(f"{address}/words/").content.decode()
    assert all(text in shown for text in words.values())


def test_documents_are_read_again_with_the_permission(library: User, make_user: MakeUser) -> None:
    document = Document.unscoped.get()
    client = staff_with(make_user, "view_document")
    form = {"action": "read_again", "_selected_action": [str(document.pk)]}
    client.post("/admin/coaching/document/", form)
    assert Document.unscoped.get().state == "review"
    operator = User.objects.get(username="staff")
    operator.user_permissions.add(Permission.objects.get(codename="change_document"))
    assert b"1 queued." in client.post("/admin/coaching/document/", form, follow=True).content
    assert Document.unscoped.get().state == "queued"
    assert ProcrastinateJob.objects.filter(task_name=DOCUMENTS_JOB).exists()
    assert SECRET not in LogEntry.objects.get().object_repr


def test_pages_name_the_icon_so_that_browsers_ask_for_no_other(make_user: MakeUser) -> None:
    client = staff_with(make_user, "view_document")
    for address in ("/admin/", "/admin/coaching/document/"):
        assert '<link rel="icon" type="image/svg+xml"' in client.get(address).content.decode(), address


def test_a_document_shows_its_share_of_what_its_calls_cost(library: User, make_user: MakeUser) -> None:
    call = DocumentCall.of(library.pk).get()
    (document_id,) = call.documents
    DocumentCall.of(library.pk).update(documents=[document_id, document_id + 1])
    analysis = DocumentCall.of(library.pk).create(
        client_id=call.client_id, purpose="summary", key="k2", documents=[document_id]
    )
    for ids, found in (
        ([document_id], {call, analysis}),
        ([document_id + 1, 0], {call}),
        ([0], set()),
        ([], set()),
    ):
        assert set(calls_about(user_ids=[library.pk], document_ids=ids)) == found, "others aren't read"
    client = staff_with(make_user, "view_document", "view_documentcall")
    address = "/admin/coaching/document/"

    def pay(paid_for: DocumentCall, micro_usd: int | None) -> str:
        usage = ModelUsage.of(library.pk).create(purpose="document", model="m", cost_micro_usd=micro_usd)
        CallUsage.of(library.pk).create(call=paid_for, usage=usage)
        return client.get(address).content.decode()

    assert "not known" in pay(analysis, None)
    assert "$0.0015, and 1 of 2 calls not known" in pay(call, 3_000)
    assert "$0.0025, and 1 of 2 calls not known" in pay(call, 2_000)
    page = client.get(f"{address}{document_id}/change/").content.decode()
    assert "Classification: $0.0025" in page
    assert "$0.0000" not in page, "unknown isn't free"
    calls = client.get("/admin/coaching/documentcall/").content.decode()
    assert "$0.0050" in calls
    assert "not known" in calls
