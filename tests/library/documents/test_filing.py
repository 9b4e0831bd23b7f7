"""Filing, reviews and corrections, one by one and in bulk."""

import pytest
from django.contrib.auth.models import User
from django.utils.translation import override
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.library.documents import filing, reviews
from coaching.library.documents.corrections import MAX_CORRECTIONS, read_corrections
from coaching.library.documents.filing import Decision, file_document, put_to_review, read_again
from coaching.library.documents.reasons import STILL_READING
from coaching.library.documents.refiling import Refiling, refiled
from coaching.library.documents.reviews import (
    accept_review,
    accept_reviews,
    correct_document,
    correct_documents,
)
from coaching.library.removals import delete_project
from coaching.models import (
    DecidedBy,
    Document,
    DocumentCall,
    DocumentCorrection,
    DocumentSource,
    DocumentState,
    FilingLevel,
    LibraryEffect,
    PlacementRule,
    Project,
)
from sessions_app.errors import Refused
from tests.library.rows import make_client, make_document, make_project, make_reference

pytestmark = pytest.mark.django_db

LEASE = Decision(
    file_type="lease", category="tenancy", folder="Leases", level=FilingLevel.PROJECT, why="It says so."
)


def test_what_belongs_to_a_project_is_reviewed_until_it_has_one(user: User) -> None:
    make_reference(level=FilingLevel.PROJECT)
    client = make_client(user, "Anna")
    document = make_document(client, state=DocumentState.READING, file_type="", folder="")
    filed = file_document(user_id=user.pk, document_id=document.id, decision=LEASE)
    assert (filed.state, filed.reason, filed.why) == ("review", filing.NO_PROJECT, "It says so.")
    with pytest.raises(Refused, match="project"):
        accept_review(user_id=user.pk, document_id=document.id)
    project = make_project(client)
    correct_document(user_id=user.pk, document_id=document.id, file_type="lease", project_id=project.id)
    document.refresh_from_db()
    assert (document.state, document.level, document.project) == ("filed", "project", project)


def test_a_review_is_accepted_one_by_one_and_in_bulk(user: User) -> None:
    make_reference()
    client = make_client(user)
    waiting = [make_document(client, f"{n}.pdf", state=DocumentState.QUEUED) for n in range(3)]
    suggested = Decision(
        file_type="lease", category="tenancy", folder="Leases", level=FilingLevel.CLIENT, confidence=0.4
    )
    for document in waiting[:2]:
        put_to_review(user_id=user.pk, document_id=document.id, reason="Not sure.", decision=suggested)
    empty = make_document(client, "odd.pdf", state=DocumentState.REVIEW, file_type="", folder="")
    ids = [document.id for document in (*waiting, empty)]
    outcome = accept_reviews(user_id=user.pk, document_ids=[*ids, 10**9])
    assert outcome.changed == ids[:2]
    assert {each: str(refusal) for each, refusal in outcome.refused.items()} == {
        ids[2]: reviews.NOT_IN_REVIEW,
        empty.id: reviews.UNDECIDED,
    }
    filed = Document.of(user.pk).filter(state=DocumentState.FILED)
    assert {document.decided_by for document in filed} == {DecidedBy.USER}
    assert LibraryEffect.of(user.pk).count() == 2
    with pytest.raises(Refused, match="200"):
        accept_reviews(user_id=user.pk, document_ids=range(201))


@pytest.mark.slow
def test_corrections_are_kept_for_the_same_client_and_the_oldest_are_forgotten(user: User) -> None:
    make_reference("valuation", folder="Valuations")
    make_reference("lease")
    anna, ben = make_client(user, "Anna"), make_client(user, "Ben")
    documents = [make_document(anna, f"{n}.pdf") for n in range(MAX_CORRECTIONS)]
    theirs = make_document(ben, "ben.pdf")
    correct_document(user_id=user.pk, document_id=theirs.id, file_type="valuation")
    assert [one.name for one in read_corrections(user_id=user.pk, client_id=ben.id)] == ["ben.pdf"]
    ids = [document.id for document in documents]
    outcome = correct_documents(user_id=user.pk, document_ids=ids, file_type="valuation", folder="Old ones")
    assert outcome.changed == ids
    assert DocumentCorrection.of(user.pk).count() == MAX_CORRECTIONS
    assert read_corrections(user_id=user.pk, client_id=ben.id) == []
    kept = read_corrections(user_id=user.pk, client_id=anna.id)
    assert {(one.from_type, one.to_type, one.to_folder) for one in kept} == {
        ("lease", "valuation", "Old ones")
    }


def test_a_correction_holds_no_words_of_what_is_withheld_or_deleted(user: User) -> None:
    make_reference("valuation", folder="Valuations")
    client = make_client(user)
    secret = make_document(client, "secret.pdf", text="Only for me.", is_withheld=True)
    open_, gone = (make_document(client, f"{name}.pdf", text="For all.") for name in ("open", "gone"))

    def examples() -> list[str]:
        return [one.name for one in read_corrections(user_id=user.pk, client_id=client.id)]

    ids = [document.id for document in (secret, open_, gone)]
    assert correct_documents(user_id=user.pk, document_ids=ids, file_type="valuation").changed == ids
    assert examples() == ["gone.pdf", "open.pdf"]
    filing.withhold_document(user_id=user.pk, document_id=open_.id, is_withheld=True)
    filing.delete_document(user_id=user.pk, document_id=gone.id)
    assert examples() == []
    filing.delete_document(user_id=user.pk, document_id=open_.id)
    assert not DocumentCorrection.of(user.pk).exists()


def test_a_correction_goes_where_the_rules_say_for_the_client(user: User) -> None:
    make_reference("valuation", folder="Valuations", level=FilingLevel.PROJECT)
    PlacementRule.objects.create(file_type="valuation", client_type="self", folder="Home", level="client")
    own, annas = make_document(make_client(user)), make_document(make_client(user, "Anna"))
    correct_document(user_id=user.pk, document_id=own.id, file_type="valuation")
    own.refresh_from_db()
    assert (own.folder, own.level) == ("Home", FilingLevel.CLIENT)
    with pytest.raises(Refused, match=filing.NO_PROJECT):
        correct_document(user_id=user.pk, document_id=annas.id, file_type="valuation")


def test_a_type_that_is_not_in_the_vocabulary_is_refused(user: User) -> None:
    make_reference("old", is_retired=True)
    document = make_document(make_client(user))
    for file_type in ("old", "made-up", ""):
        with pytest.raises(Refused, match=reviews.UNKNOWN_TYPE):
            correct_document(user_id=user.pk, document_id=document.id, file_type=file_type)
    make_reference("valuation")
    with pytest.raises(Refused, match=r"1 to 120"):
        correct_document(user_id=user.pk, document_id=document.id, file_type="valuation", folder="x" * 121)
    document.refresh_from_db()
    assert document.file_type == "lease"


def test_it_is_read_again_with_all_attempts(user: User) -> None:
    document = make_document(
        make_client(user),
        state=DocumentState.FAILED,
        reason="Broken.",
        attempts=3,
        source=DocumentSource.COMMAND,
    )
    read_again(user_id=user.pk, document_id=document.id)
    document.refresh_from_db()
    assert (document.state, document.attempts, document.reason) == ("queued", 0, "")
    assert ProcrastinateJob.objects.filter(args__user_id=user.pk).exists(), "workers read it now"
    with pytest.raises(Refused, match=STILL_READING):
        read_again(user_id=user.pk, document_id=document.id)
    slow = make_document(make_client(user), state=DocumentState.REFUSED, reason="It takes too long.")
    assert read_again(user_id=user.pk, document_id=slow.id).state == DocumentState.QUEUED


def test_deleting_reads_its_duplicates(user: User) -> None:
    client = make_client(user)
    document = make_document(client)
    twin = make_document(client, "again.pdf", state=DocumentState.DUPLICATE, duplicate_of=document)
    filing.delete_document(user_id=user.pk, document_id=document.id)
    twin.refresh_from_db()
    assert (twin.state, twin.duplicate_of) == (DocumentState.QUEUED, None)


def test_a_project_goes_with_what_calls_hold_of_it_and_copies_elsewhere_are_read(user: User) -> None:
    client = make_client(user, "Anna")
    project = make_project(client)
    lease = make_document(client, project=project)
    copy = make_document(client, "copy.pdf", state=DocumentState.DUPLICATE, duplicate_of=lease)
    for documents in ([lease.id], [lease.id, copy.id]):
        DocumentCall.of(user.pk).create(
            client=client, purpose="summary", key=str(documents), documents=documents, request="The rent."
        )
    delete_project(user_id=user.pk, project_id=project.id)
    copy.refresh_from_db()
    assert (copy.state, copy.duplicate_of) == (DocumentState.QUEUED, None)
    assert DocumentCall.of(user.pk).get().documents == [lease.id, copy.id]
    filing.delete_document(user_id=user.pk, document_id=copy.id)
    assert not DocumentCall.of(user.pk).exists()


def test_anothers_document_and_places_look_missing(user: User, other_user: User) -> None:
    make_reference()
    document = make_document(make_client(user))
    theirs = make_project(make_client(other_user, "Anna"))
    for call in (
        lambda who: filing.read_again(user_id=who, document_id=document.id),
        lambda who: accept_review(user_id=who, document_id=document.id),
        lambda who: correct_document(user_id=who, document_id=document.id, file_type="lease"),
        lambda who: filing.move_document(user_id=who, document_id=document.id, folder="Mine"),
        lambda who: filing.rename_document(user_id=who, document_id=document.id, name="Mine"),
        lambda who: filing.withhold_document(user_id=who, document_id=document.id, is_withheld=True),
        lambda who: filing.delete_document(user_id=who, document_id=document.id),
        lambda who: filing.read_download(user_id=who, document_id=document.id),
        lambda who: file_document(user_id=who, document_id=document.id, decision=LEASE),
    ):
        with pytest.raises(Document.DoesNotExist):
            call(other_user.pk)
    assert accept_reviews(user_id=other_user.pk, document_ids=[document.id]).changed == []
    with pytest.raises(Project.DoesNotExist):
        filing.move_document(user_id=user.pk, document_id=document.id, project_id=theirs.id)
    with pytest.raises(Project.DoesNotExist):
        correct_document(user_id=user.pk, document_id=document.id, file_type="lease", project_id=theirs.id)
    assert not LibraryEffect.of(user.pk).exists()


def test_a_folder_is_the_own_one_of_that_name_before_a_shipped_one_that_is_shown_so(user: User) -> None:
    make_reference()
    anna, ben = make_client(user, "Anna"), make_client(user, "Ben")
    own = make_document(anna, folder="Arbeit")
    shipped, other = make_document(anna, folder="Work"), make_document(anna, folder="Home")
    elsewhere = make_document(ben, folder="Home")
    with override("de"):
        for document, folder in ((own, "Arbeit"), (shipped, "Work"), (other, "Arbeit"), (elsewhere, "Work")):
            filing.move_document(user_id=user.pk, document_id=document.id, folder="Arbeit")
            document.refresh_from_db()
            assert document.folder == folder
        filing.move_document(user_id=user.pk, document_id=own.id, client_id=ben.id, folder="Arbeit")
        own.refresh_from_db()
        assert (own.client, own.folder) == (ben, "Arbeit")
        correct_document(user_id=user.pk, document_id=shipped.id, file_type="lease", folder="Arbeit")
        shipped.refresh_from_db()
        assert shipped.folder == "Work", "it stays in the folder that is shown so"


def test_a_model_names_an_own_folder_or_a_shipped_one_in_any_language(user: User) -> None:
    make_reference()
    anna, ben = make_client(user, "Anna"), make_client(user, "Ben")
    make_document(anna, folder="Arbeit")
    for client, named, folder in (
        (anna, "Arbeit", "Arbeit"),
        (ben, "Arbeit", "Work"),
        (anna, "Trabajo", "Work"),
        (anna, "Grandma’s", "Grandma’s"),
    ):
        document = make_document(client)
        _, becomes = refiled(user_id=user.pk, document_id=document.id, to=Refiling(folder=named))
        assert becomes.folder == folder
