"""Effects: each change of the library has one, and one click undoes it unless something changed since."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from coaching.library import effects
from coaching.library.decisions import edit
from coaching.library.documents.filing import Decision, file_document, move_document, rename_document
from coaching.library.documents.reviews import correct_document
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.effects import CHANGED_SINCE, PLACE_GONE, UNDONE_ALREADY, undo
from coaching.library.proposals import propose
from coaching.library.removals import delete_client
from coaching.library.resolutions import Becomes, Resolution, resolve
from coaching.models import (
    ActionItem,
    ActionPriority,
    ActionState,
    DocumentCorrection,
    DocumentState,
    EffectKind,
    EntryState,
    FilingLevel,
    LibraryEffect,
    MadeBy,
)
from sessions_app.errors import Refused
from tests.library.rows import make_client, make_document, make_project, make_reference

pytestmark = pytest.mark.django_db

TODAY = date(2027, 3, 1)
NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)


def resolved(step: ActionItem, becomes: Becomes) -> LibraryEffect | None:
    resolution = Resolution(becomes=becomes, today=TODAY, now=NOW)
    return resolve(user_id=step.user_id, step_id=step.pk, resolution=resolution)


def newest(user: User) -> LibraryEffect:
    effect = LibraryEffect.of(user.pk).order_by("-id").first()
    assert effect is not None
    return effect


def make_action(user: User) -> ActionItem:
    new = NewAction(client_id=make_client(user).id, title="Call the bank", due_date=date(2027, 3, 31), page=2)
    return propose(user_id=user.pk, new=new, made_by=MadeBy.CHAT, is_accepted=True, tool_use_id="toolu_1")


def test_what_was_made_is_dismissed_and_stays_on_record(user: User) -> None:
    item = make_action(user)
    effect = newest(user)
    assert (effect.kind, effect.before, effect.tool_use_id) == (EffectKind.ACTION_CREATED, {}, "toolu_1")
    assert (effect.after["due_date"], effect.after["page"]) == ("2027-03-31", 2)
    undo(user_id=user.pk, effect_id=effect.id)
    item.refresh_from_db()
    assert item.state == ActionState.DISMISSED
    with pytest.raises(Refused, match=UNDONE_ALREADY):
        undo(user_id=user.pk, effect_id=effect.id)


def test_what_has_changed_since_is_not_undone(user: User) -> None:
    item = make_action(user)
    made = newest(user)
    values: dict[str, Any] = {
        "description": "",
        "priority": ActionPriority.HIGH,
        "due_date": date(2027, 4, 1),
    }
    edit(
        user_id=user.pk, model=ActionItem, row_id=item.pk, changes={"title": "Call the bank again", **values}
    )
    edited = newest(user)
    with pytest.raises(Refused, match=CHANGED_SINCE):
        undo(user_id=user.pk, effect_id=made.id)
    undo(user_id=user.pk, effect_id=edited.id)
    item.refresh_from_db()
    assert (item.title, item.due_date, item.priority) == ("Call the bank", date(2027, 3, 31), "medium")
    undo(user_id=user.pk, effect_id=made.id)


def test_done_is_undone_with_its_time(user: User) -> None:
    item = make_action(user)
    effect = resolved(item, "done")
    assert effect
    undo(user_id=user.pk, effect_id=effect.id)
    item.refresh_from_db()
    assert (item.state, item.done_at) == (ActionState.OPEN, None)
    assert resolved(item, "open") is None


def test_a_filing_that_is_undone_goes_to_review(user: User) -> None:
    document = make_document(
        make_client(user), state=DocumentState.READING, file_type="", folder="", category=""
    )
    decision = Decision(
        file_type="lease", category="tenancy", folder="Leases", level=FilingLevel.CLIENT, summary="A lease."
    )
    file_document(user_id=user.pk, document_id=document.id, decision=decision)
    undo(user_id=user.pk, effect_id=newest(user).id)
    document.refresh_from_db()
    assert (document.state, document.file_type, document.summary) == (DocumentState.REVIEW, "", "")
    assert "undid" in document.reason


def test_a_correction_that_is_undone_is_no_example(user: User) -> None:
    make_reference("valuation", folder="Valuations")
    document = make_document(make_client(user), text="Market value")
    effect = correct_document(user_id=user.pk, document_id=document.id, file_type="valuation")
    assert effect
    assert DocumentCorrection.of(user.pk).get().excerpt == "Market value"
    undo(user_id=user.pk, effect_id=effect.id)
    document.refresh_from_db()
    assert (document.file_type, document.folder) == ("lease", "Leases")
    assert not DocumentCorrection.of(user.pk).exists()


def test_a_move_takes_along_what_was_made_and_brings_it_back(user: User) -> None:
    ours, theirs = make_client(user), make_client(user, "Anna")
    document = make_document(ours)
    new = NewEntry(client_id=ours.id, title="Lease", content="Ends in March.", document_id=document.id)
    entry = propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
    assert entry.state == EntryState.PROPOSED
    project = make_project(theirs)
    effect = move_document(user_id=user.pk, document_id=document.id, project_id=project.id)
    assert effect
    entry.refresh_from_db()
    assert (entry.client_id, entry.project_id) == (theirs.id, project.id)
    undo(user_id=user.pk, effect_id=effect.id)
    entry.refresh_from_db()
    document.refresh_from_db()
    assert {entry.client_id, document.client_id} == {ours.id}
    assert document.project_id is None


def test_nothing_goes_back_to_a_client_that_is_gone(user: User) -> None:
    anna, ben = make_client(user, "Anna"), make_client(user, "Ben")
    document = make_document(anna)
    effect = move_document(user_id=user.pk, document_id=document.id, client_id=ben.id)
    assert effect
    delete_client(user_id=user.pk, client_id=anna.id)
    with transaction.atomic(), pytest.raises(Refused, match=PLACE_GONE):
        undo(user_id=user.pk, effect_id=effect.id)
    document.refresh_from_db()
    assert document.client_id == ben.id


def test_a_change_to_the_same_is_no_effect(user: User) -> None:
    document = make_document(make_client(user))
    assert rename_document(user_id=user.pk, document_id=document.id, name="lease.pdf") is None
    assert not LibraryEffect.of(user.pk).exists()


def test_anothers_effect_looks_missing(user: User, other_user: User) -> None:
    make_action(user)
    with pytest.raises(LibraryEffect.DoesNotExist):
        undo(user_id=other_user.pk, effect_id=newest(user).id)


def test_over_the_limit_the_oldest_go_those_first_that_can_hardly_be_undone(
    user: User, other_user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effects, "MAX_EFFECTS", 4)
    monkeypatch.setattr(effects, "COUNTED_EVERY", 1)
    make_action(other_user)
    kept = make_action(user)
    edited, undone = make_action(user), make_action(user)
    undo(user_id=user.pk, effect_id=newest(user).id)
    resolved(edited, "done")

    def about() -> list[int | None]:
        return [effect.action_item_id for effect in LibraryEffect.of(user.pk).order_by("id")]

    assert about() == [kept.id, edited.id, undone.id, edited.id]
    fourth = make_action(user)
    assert about() == [kept.id, undone.id, edited.id, fourth.id]
    fifth = make_action(user)
    assert about() == [kept.id, edited.id, fourth.id, fifth.id]
    sixth = make_action(user)
    assert about() == [edited.id, fourth.id, fifth.id, sixth.id]
    assert LibraryEffect.of(other_user.pk).count() == 1
