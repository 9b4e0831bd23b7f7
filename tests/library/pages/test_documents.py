"""The forms of a document's page and of the review queue: what each changes, and refusals."""

import re
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue.names import ANALYSIS_JOB, DOCUMENTS_JOB
from coaching.library.clients import own_client
from coaching.library.documents.findings import wait_again
from coaching.library.documents.reasons import SIMILAR
from coaching.library.effects import FILING_UNDONE
from coaching.library.extractors.content_types import WRONG_NAME
from coaching.library.pages.frame import type_choices
from coaching.library.pipeline.stages.assemble import UNLIKELY
from coaching.library.references.files import sync_reference_files
from coaching.library.rows.attached import own_documents
from coaching.library.rows.reading_notes import pictures_note
from coaching.models import (
    ActionItem,
    CallUsage,
    Client,
    Document,
    DocumentCall,
    DocumentCorrection,
    DocumentState,
    KnowledgeEntry,
    LibraryEffect,
    Project,
)
from sessions_app.models import ModelUsage
from tests.library.rows import make_document, make_reference

pytestmark = pytest.mark.django_db

REVIEW = "/library/review/"


@pytest.fixture
def references(db: None) -> None:
    """The shipped references and rules."""
    sync_reference_files()


def document_of(client: Client, name: str = "a.txt", **values: Any) -> Document:
    """Store a document, in review unless `values` say otherwise."""
    values = {"state": DocumentState.REVIEW, "storage_key": f"key of {name}", "size": 1} | values
    return Document.unscoped.create(user_id=client.user_id, client=client, name=name, **values)


def suggested(client: Client, name: str, **values: Any) -> Document:
    """Store a document for which Sage suggests a type."""
    decision = {"file_type": "payslip", "category": "work", "folder": "Staff", "level": "client"}
    return document_of(client, name, **{"reason": "Sage isn’t sure.", **decision, **values})


def acted(browser: Browser, document: Document, **form: Any) -> Document:
    """Send a form of the document's page; return the document as it is then."""
    address = f"/library/documents/{document.pk}/"
    response = browser.post(address, form)
    assert response.status_code == HTTPStatus.SEE_OTHER, response.content.decode()
    assert response["Location"] == address
    return Document.unscoped.get(pk=document.pk)


def refused_with(response: Any, sentence: str) -> None:
    """Check that the page came back with a sentence."""
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert sentence in response.content.decode()


def refused(browser: Browser, document: Document, sentence: str, **form: Any) -> None:
    """Send a form of the document's page that is refused and changes nothing."""
    before = Document.unscoped.filter(pk=document.pk).values().get()
    refused_with(browser.post(f"/library/documents/{document.pk}/", form), sentence)
    assert Document.unscoped.filter(pk=document.pk).values().get() == before


def effects_of(document: Document) -> list[str]:
    """Return the kinds of what is recorded for a document, oldest first."""
    return list(LibraryEffect.of(document.user_id).order_by("id").values_list("kind", flat=True))


# --- a document's page ------------------------------------------------------------------------------------


def test_every_act_of_a_documents_page_is_a_button_and_delete_is_red(signed_in: Browser, user: User) -> None:
    document = document_of(own_client(user.pk))
    page = signed_in.get(f"/library/documents/{document.pk}/").content.decode()
    content = page[page.index("<main") : page.index("</main>")]
    acts = re.findall(r'<(?:summary|button)[^>]*class="([^"]*)"[^>]*>([^<]*)', content)
    assert {name for _, name in acts} >= {"Move…", "Rename…", "Never send it to the AI model", "Delete"}
    assert {classes.split()[0] for classes, _ in acts} == {"button"}
    assert [classes for classes, name in acts if name == "Delete"] == ["button button-small is-final"]


def test_a_document_moves_with_what_was_made_from_it(
    signed_in: Browser, mill: Client, purchase: Project, other_user: User
) -> None:
    document = document_of(own_client(mill.user_id))
    made = {"user_id": mill.user_id, "client_id": document.client_id, "document": document, "title": "Call"}
    ActionItem.unscoped.create(**made)
    moved = acted(signed_in, document, do="move", place=f"project:{purchase.pk}", folder="Leases")
    assert (moved.client_id, moved.project_id, moved.folder) == (mill.pk, purchase.pk, "Leases")
    assert ActionItem.of(mill.user_id).get().project_id == purchase.pk
    moved = acted(signed_in, document, do="move", place=f"client:{mill.pk}")
    assert (moved.client_id, moved.project_id, moved.folder) == (mill.pk, None, "Leases")
    assert effects_of(document) == ["moved", "moved"]
    refused(signed_in, document, "Choose a client or project.", do="move", place="anywhere")
    refused(
        signed_in, document, "1 to 120 characters", do="move", place=f"client:{mill.pk}", folder="x" * 121
    )
    theirs = {"do": "move", "place": f"client:{own_client(other_user.pk).pk}"}
    address = f"/library/documents/{document.pk}/"
    assert signed_in.post(address, theirs).status_code == HTTPStatus.NOT_FOUND


@pytest.mark.slow
@pytest.mark.usefixtures("references")
def test_a_corrected_type_files_a_document_and_is_remembered(
    signed_in: Browser, mill: Client, purchase: Project
) -> None:
    document = suggested(mill, "a.txt")
    filed = acted(signed_in, document, do="type", file_type="invoice")
    assert (filed.state, filed.file_type, filed.folder) == ("filed", "invoice", "Company accounts")
    assert (filed.decided_by, filed.reason) == ("user", "")
    assert effects_of(document) == ["corrected"]
    remembered = DocumentCorrection.of(mill.user_id).get()
    withheld = suggested(mill, "b.txt", is_withheld=True)
    address = f"/library/documents/{withheld.pk}/"
    said = signed_in.post(address, {"do": "type", "file_type": "invoice"}, follow=True).content.decode()
    assert "<p>Saved.</p>" in said
    assert (remembered.from_type, remembered.to_type) == ("payslip", "invoice")
    for unknown in ("", "nonsense", "no\x00nsense"):
        refused(signed_in, document, "That document type doesn’t exist.", do="type", file_type=unknown)
    refused(signed_in, document, "Choose a project first.", do="type", file_type="rent-schedule")
    acted(signed_in, document, do="move", place=f"project:{purchase.pk}")
    filed = acted(signed_in, document, do="type", file_type="rent-schedule", folder="Rents")
    assert (filed.level, filed.folder, filed.project_id) == ("project", "Rents", purchase.pk)


def test_a_document_is_renamed_but_not_to_nothing(signed_in: Browser, mill: Client) -> None:
    document = document_of(mill)
    assert acted(signed_in, document, do="rename", name="../Pay\x00slip.txt").name == "Payslip.txt"
    assert effects_of(document) == ["renamed"]
    refused(signed_in, document, "A document needs a name.", do="rename", name=" ")
    refused(signed_in, document, "nothing was changed.", do="nonsense")


def test_a_suggestion_is_accepted_where_there_is_one(signed_in: Browser, mill: Client) -> None:
    document = suggested(mill, "a.txt")
    assert acted(signed_in, document, do="accept").state == "filed"
    assert effects_of(document) == ["filed"]
    refused(signed_in, document, "This document no longer needs a review.", do="accept")
    refused(signed_in, document_of(mill, "b.txt"), "Choose a type.", do="accept")


def test_a_review_without_a_suggestion_is_filed_where_it_says_so(signed_in: Browser, mill: Client) -> None:
    words, places = "Choose a type…", []
    for document in (document_of(mill, "a.txt"), suggested(mill, "b.txt")):
        page = signed_in.get(f"/library/documents/{document.pk}/").content.decode()
        decision = page.partition('id="decision"')[2].partition("</section>")[0]
        assert page.count(words) == 1
        places.append(words in decision)
    assert places == [True, False]


def test_a_document_is_kept_from_the_model_and_allowed_again(signed_in: Browser, mill: Client) -> None:
    document = document_of(mill)
    assert acted(signed_in, document, do="withhold").is_withheld
    assert not acted(signed_in, document, do="allow").is_withheld
    assert effects_of(document) == ["withheld", "withheld"]


def test_a_document_is_read_again_when_its_reading_is_over(signed_in: Browser, mill: Client) -> None:
    document = document_of(mill, state=DocumentState.FAILED, reason="Broken.", attempts=2)
    again = acted(signed_in, document, do="again")
    assert (again.state, again.reason, again.attempts) == ("queued", "", 0)
    assert ProcrastinateJob.objects.filter(task_name=DOCUMENTS_JOB, args__user_id=mill.user_id).exists()
    refused(signed_in, document, "Sage is still reading this document.", do="again")
    refused(signed_in, document, "Sage is still reading this document.", do="move", place=f"client:{mill.pk}")
    unread = document_of(mill, "b.txt", state=DocumentState.REFUSED, reason="Too large.", storage_key=None)
    refused(signed_in, unread, "it isn’t stored.", do="again")


def accept_form(browser: Browser, document: Document) -> dict[str, list[str]]:
    """Return what the page's form for all suggestions sends."""
    page = browser.get(f"/library/documents/{document.pk}/").content.decode()
    form = page.partition('class="made-accept"')[2].partition("</form>")[0]
    sent: dict[str, list[str]] = {"do": ["proposals"]}
    for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form):
        sent.setdefault(name, []).append(value)
    return sent


def test_all_suggestions_of_a_document_are_accepted_as_the_page_showed_them(
    signed_in: Browser, mill: Client
) -> None:
    document = document_of(mill)
    made: dict[str, Any] = {"user_id": mill.user_id, "client": mill, "state": "proposed"}
    KnowledgeEntry.unscoped.create(**made, document=document, title="Rent", content="900")
    call = ActionItem.unscoped.create(**made, document=document, title="Call")
    ActionItem.unscoped.create(**made, title="Of no document")
    form = accept_form(signed_in, document)
    call.title = "Call at once"  # changed and added after the page was loaded
    call.save()
    ActionItem.unscoped.create(**made, document=document, title="Pay me")
    acted(signed_in, document, **form)
    assert KnowledgeEntry.of(mill.user_id).get().state == "accepted"
    assert set(ActionItem.of(mill.user_id).values_list("state", flat=True)) == {"proposed"}
    for old in (form, {"do": ["proposals"]}):
        refused(signed_in, document, "These suggestions have changed since this page was loaded.", **old)
    acted(signed_in, document, **accept_form(signed_in, document))
    waiting = ActionItem.of(mill.user_id).filter(state="proposed")
    assert waiting.get().title == "Of no document"


def test_a_deleted_document_leaves_what_was_accepted_and_its_duplicate_is_read(
    signed_in: Browser, mill: Client
) -> None:
    document = document_of(mill)
    twin = document_of(mill, "twin.txt", state=DocumentState.DUPLICATE, duplicate_of=document)
    made: dict[str, Any] = {"user_id": mill.user_id, "client": mill, "document": document}
    KnowledgeEntry.unscoped.create(**made, title="Kept", content="x")
    KnowledgeEntry.unscoped.create(**made, title="Proposed", content="x", state="proposed")
    response = signed_in.post(f"/library/documents/{document.pk}/", {"do": "delete"})
    assert (response.status_code, response["Location"]) == (HTTPStatus.SEE_OTHER, "/library/")
    remaining = Document.of(mill.user_id).get()
    assert (remaining.pk, remaining.state, remaining.duplicate_of_id) == (twin.pk, "queued", None)
    kept = KnowledgeEntry.of(mill.user_id).get()
    assert (kept.title, kept.document_id) == ("Kept", None)
    gone = signed_in.post(f"/library/documents/{document.pk}/", {"do": "delete"})
    assert gone.status_code == HTTPStatus.NOT_FOUND


# --- the review queue -------------------------------------------------------------------------------------


def decided(browser: Browser, **form: Any) -> str:
    """Send a form of the review queue; return the page that follows."""
    response = browser.post(REVIEW, form, follow=True)
    ((address, status),) = response.redirect_chain
    assert (address.partition("?")[0], status) == (REVIEW, HTTPStatus.SEE_OTHER)
    return response.content.decode()


def states_of(*documents: Document) -> list[str]:
    """Return the documents' states now."""
    return [Document.unscoped.get(pk=document.pk).state for document in documents]


def test_all_ticked_are_accepted_and_each_refusal_is_named(
    signed_in: Browser, mill: Client, other_user: User
) -> None:
    first, second, unticked = (suggested(mill, f"{number}.txt") for number in range(3))
    undecided = document_of(mill, "unknown.txt")
    theirs = suggested(own_client(other_user.pk), "theirs.txt")
    ticked = [first.pk, second.pk, undecided.pk, theirs.pk, "x"]
    page = decided(signed_in, do="accept", document=ticked)
    assert "2 documents filed." in page
    assert "unknown.txt: Sage has no suggestion for this document. Choose a type." in page
    assert "theirs.txt" not in page
    assert states_of(first, second) == ["filed", "filed"]
    assert states_of(unticked, undecided, theirs) == ["review"] * 3
    assert "1 document filed." in decided(signed_in, accept=unticked.pk)
    refused_with(signed_in.post(REVIEW, {"do": "accept"}), "Select at least one document first.")


def test_all_that_were_shown_and_are_sure_are_accepted_together(signed_in: Browser, mill: Client) -> None:
    similar = f"{SIMILAR}\nb.txt."
    sure = [suggested(mill, f"{number}.txt", reason=similar, confidence=0.95) for number in range(3)]
    doubted = [
        suggested(mill, "weak.txt", reason=similar, confidence=0.79),
        suggested(
            mill,
            "close.txt",
            reason=similar,
            confidence=0.9,
            alternatives=[{"file_type": "invoice", "confidence": 0.8}],
        ),
        suggested(mill, "unlikely.txt", reason=f"{similar}\n{UNLIKELY}", confidence=1.0),
        suggested(mill, "undone.txt", reason=FILING_UNDONE, confidence=1.0),
    ]
    page = signed_in.get(REVIEW).content.decode()
    assert "Accept the 3 suggestions on this page that Sage is sure about" in page
    form = {
        "do": "accept-all",
        "seen_at": re.findall(r'name="seen_at" value="([^"]+)"', page)[0],
        "shown": re.findall(r'name="shown" value="(\d+)"', page),
    }
    assert form["shown"] == [str(document.pk) for document in sure]
    late = suggested(mill, "late.txt", reason=similar, confidence=0.99)
    sure[2].file_type = "invoice"  # changed after the page was loaded
    sure[2].save()
    page = decided(signed_in, **form | {"shown": [*form["shown"], *(each.pk for each in doubted)]})
    assert "2 documents filed." in page
    assert "2.txt: This suggestion has changed since the page was loaded." in page
    assert states_of(*sure) == ["filed", "filed", "review"]
    assert states_of(*doubted, late) == ["review"] * 5
    refused_with(signed_in.post(REVIEW, {"do": "accept-all"}), "These suggestions have changed")


@pytest.mark.parametrize(
    ("values", "said", "unsaid"),
    [
        ({"state": "duplicate", "reason": "x"}, "didn’t read this copy", ("found no text", "has read")),
        ({"state": "failed", "reason": "x", "is_read": True}, "couldn’t read", ("found no text", "has read")),
        ({"state": "review", "reason": "x", "is_read": True}, "found no text", ("has read",)),
    ],
)
def test_a_document_page_does_not_contradict_itself(
    signed_in: Browser, mill: Client, values: dict[str, Any], said: str, unsaid: tuple[str, ...]
) -> None:
    read_at = timezone.now() if values.pop("is_read", False) else None
    document = document_of(mill, **values, read_at=read_at)
    page = signed_in.get(f"/library/documents/{document.pk}/").content.decode()
    assert said in page
    assert not [sentence for sentence in unsaid if sentence in page]


@pytest.mark.parametrize(
    ("note", "shown", "is_in_part"),
    [
        (pictures_note([2]), "Sage hasn’t read the pages that are pictures: 2.", True),
        (pictures_note([1, 2, 3, 7]), "Sage hasn’t read the pages that are pictures: 1–3, 7.", True),
        (f"{WRONG_NAME}\na PDF.", "By its content it is: a PDF.", False),
        ("", "", False),
    ],
)
def test_a_document_with_pages_that_are_pictures_counts_as_read_in_part(
    signed_in: Browser, mill: Client, note: str, shown: str, is_in_part: bool
) -> None:
    document = document_of(
        mill, state=DocumentState.FILED, folder="Letters", read_at=timezone.now(), reading_note=note
    )
    page = signed_in.get(f"/library/documents/{document.pk}/").content.decode()
    assert shown in page
    assert ("Sage has read a part of this document." in page) == is_in_part
    assert ("Sage has read this document." in page) != is_in_part
    (attached,) = own_documents(user_id=mill.user_id, ids=[document.pk])
    assert attached.is_read_in_part == is_in_part


@pytest.mark.usefixtures("references")
def test_all_ticked_get_the_type_that_is_chosen(
    signed_in: Browser, mill: Client, purchase: Project, other_user: User
) -> None:
    first, second = suggested(mill, "1.txt"), document_of(mill, "2.txt", project=purchase)
    theirs = suggested(own_client(other_user.pk), "theirs.txt")
    ticked = [first.pk, second.pk, theirs.pk]
    for unknown, sentence in (("", "Choose a type first."), ("nonsense", "That document type doesn’t exist")):
        response = signed_in.post(
            REVIEW, {"do": "correct", "document": ticked, "file_type": unknown}, follow=True
        )
        assert sentence in response.content.decode()
    assert states_of(first, second, theirs) == ["review"] * 3
    page = decided(signed_in, do="correct", document=ticked, file_type="rent-schedule")
    assert "1 document filed." in page
    assert "1.txt: Documents of this type belong in a project. Choose a project first." in page
    assert states_of(first, second, theirs) == ["review", "filed", "review"]
    one = {"correct": first.pk, f"file_type-{first.pk}": "invoice", f"folder-{first.pk}": "Bills"}
    assert "1 document filed." in decided(signed_in, **one)
    first.refresh_from_db()
    assert (first.file_type, first.folder) == ("invoice", "Bills")
    assert DocumentCorrection.of(mill.user_id).count() == 2
    assert not DocumentCorrection.of(other_user.pk).exists()


@pytest.mark.usefixtures("references")
def test_a_transcripts_page_has_two_buttons_for_reading_it_again(signed_in: Browser, user: User) -> None:
    document = make_document(own_client(user.pk), text="Ada: Hello.", file_type="call-transcript")
    address = f"/library/documents/{document.pk}/"
    page = signed_in.get(address).content.decode()
    assert "Sage hasn’t looked for facts in the whole text yet." in page
    assert "Sage hasn’t analysed what was said yet." in page
    for do, said in (("facts", "is reading the whole text for"), ("analyse", "is analysing what was said")):
        assert f'value="{do}"' in page
        acted(signed_in, document, do=do)
        page = signed_in.get(address).content.decode()
        assert f"Sage {said}" in page
        assert f'value="{do}"' not in page
    jobs = ProcrastinateJob.objects.filter(task_name=ANALYSIS_JOB, args__document_id=document.pk)
    assert sorted(job.args["kind"] for job in jobs) == ["facts", "transcript"]
    part = {"HX-Request": "true", "HX-Target": "readings"}
    assert "every 3s" in signed_in.get(address, headers=part).content.decode()
    jobs.delete()
    over = signed_in.get(address, headers=part)
    assert "HX-Refresh" not in over.headers, "somebody may be typing"
    assert "Load the page again" in over.content.decode()
    assert "Load the page again" not in signed_in.get(address).content.decode()


@pytest.mark.usefixtures("references")
def test_a_page_says_that_a_reading_waits(signed_in: Browser, user: User) -> None:
    document = make_document(own_client(user.pk), text="Ada: Hello.")
    job: dict[str, Any] = {"document_id": document.pk, "kind": "facts", "session_id": None}
    wait_again(**job, waited_seconds=0)
    page = signed_in.get(f"/library/documents/{document.pk}/").content.decode()
    assert "The search for facts in the whole text is waiting." in page
    assert "every 60s" in page


@pytest.mark.usefixtures("references")
def test_a_page_says_what_the_calls_about_its_document_cost(signed_in: Browser, user: User) -> None:
    document = make_document(own_client(user.pk), text="A letter.", file_type="letter")
    address = f"/library/documents/{document.pk}/"
    assert "Cost:" not in signed_in.get(address).content.decode()
    call = DocumentCall.of(user.pk).create(
        client_id=document.client_id, purpose="classify", key="classify:1", documents=[document.pk, 0]
    )
    usage = ModelUsage.of(user.pk).create(
        model="m", input_tokens=2_000, cache_read_tokens=6_000, output_tokens=400, cost_micro_usd=12_000
    )
    CallUsage.of(user.pk).create(call=call, usage=usage)
    words = "Reading it took 1 request to the AI model with about 4,200 tokens. Cost: $0.0060."
    assert words in signed_in.get(address).content.decode()
    for nothing in (None, 0):
        usage.cost_micro_usd = nothing
        usage.save()
        assert "Cost:" not in signed_in.get(address).content.decode()


def test_two_folders_that_would_be_shown_alike_have_two_names(
    references: None, signed_in: Browser, mill: Client
) -> None:
    document = make_document(mill, "own.txt", folder="Arbeit", file_type="payslip")
    make_document(mill, "shipped.txt", folder="Work", file_type="payslip")
    make_document(mill, "late.txt", folder="Ärzte", file_type="letter")
    german = {"accept-language": "de"}
    whole, first = (
        signed_in.get(path, headers=german).content.decode()
        for path in (f"/library/clients/{mill.pk}/", "/library/")
    )
    assert re.findall(r"<h2><bdi>(.+?)</bdi></h2>", whole) == ["Arbeit", "Work", "Ärzte"]
    assert re.findall(r'(?s)-folder-\d".+?<bdi>(.+?)</bdi>', first) == ["Arbeit", "Work", "Ärzte"]
    page = signed_in.get(f"/library/documents/{document.pk}/", headers=german).content.decode()
    offered = re.findall(r'<option value="(Arbeit|Work|Wohnen)"></option>', page)
    assert offered == ["Arbeit", "Wohnen", "Work"]


def test_types_of_two_categories_with_one_name_can_all_be_chosen() -> None:
    for category in ("correspondence", "letters"):
        make_reference(f"{category}-type", category=category)
    assert type_choices() == {
        "Letters": [("correspondence-type", "Correspondence type"), ("letters-type", "Letters type")]
    }
