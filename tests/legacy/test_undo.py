"""The undo of an import removes what it made, except what its user has changed since."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.files.edits import build_edit, editable_of
from coaching.files.organising import delete_file
from coaching.files.selectors import read_file
from coaching.files.store import store_edit
from coaching.legacy.imports import begin_undo, job_steps
from coaching.legacy.one_at_a_time import BUSY, only_import_of
from coaching.legacy.undoing import EDITED, WENT_ON, names_of_kept
from coaching.models import Import, ImportState, Profile, PulseRating, RecallPassage, UserFile
from sessions_app.errors import Refused
from sessions_app.models import Message, Session, Turn
from sessions_app.organising import delete_session, restore_session
from sessions_app.services import open_turn
from sessions_app.titles import rename_session
from tests.jobs.conftest import empty_queue
from tests.legacy.exports import write_sage_export
from tests.legacy.test_import_command import rows_of, run_import
from tests.stored_turns import new_turn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    empty_queue()
    return write_sage_export(tmp_path / "export.json", sessions=10, messages=60, files=4, ratings=5)


def undo(user: User, row: Import | None = None) -> Import:
    row = row or Import.of(user.pk).get()
    begin_undo(user_id=user.pk, import_id=row.pk)
    for _ in job_steps(row.pk):
        pass
    row.refresh_from_db()
    empty_queue()
    return row


@pytest.mark.slow
def test_an_undo_removes_all_that_the_import_made(export: Path, user: User, other_user: User) -> None:
    run_import(export, other_user)
    others = rows_of(other_user)
    run_import(export, user)
    row = undo(user)
    assert (row.state, row.kept) == (ImportState.UNDONE, [])
    for model in (Session, Turn, Message, UserFile, PulseRating, RecallPassage):
        assert not model.of(user.pk).exists(), model
    assert (Profile.of(user.pk).get().name, Profile.of(user.pk).get().timezone) == ("", "UTC")
    assert rows_of(other_user) == others
    assert run_import(export, user)["sessions"] == 10


def test_an_undo_keeps_what_a_conversation_continues_that_was_just_deleted(export: Path, user: User) -> None:
    """It can still be restored, and is about what was said before."""
    run_import(export, user)
    ended = Session.of(user.pk).filter(status="completed").first()
    assert ended is not None
    opened = open_turn(new_turn(ended, owner="test"), text="More.", client_id=None)
    delete_session(user_id=user.pk, session_id=opened.session_id)
    row = undo(user)
    assert [each["text"] for each in names_of_kept(row)] == [WENT_ON]
    restore_session(user_id=user.pk, session_id=opened.session_id)
    assert Session.of(user.pk).get(pk=opened.session_id).continues_id == ended.pk


def test_an_undo_keeps_what_was_edited_or_continued_and_names_it(export: Path, user: User) -> None:
    run_import(export, user)
    newest, second, *_ = Session.of(user.pk).filter(kind="open_conversation").order_by("-started_at")
    ended = Session.of(user.pk).filter(status="completed").first()
    assert ended is not None
    open_turn(new_turn(newest, owner="test"), text="And now?", client_id=None)
    rename_session(user_id=user.pk, session_id=second.pk, title="Mine")
    open_turn(new_turn(ended, owner="test"), text="More.", client_id=None)
    held = read_file(user_id=user.pk, path="check-ins/2023-01-03.md")
    draft = build_edit(
        held,
        body="Changed.",
        attributes=editable_of(held).attributes,
        now=timezone.now(),
        timezone=Profile.of(user.pk).get().zone,
    )
    store_edit(user_id=user.pk, draft=draft, expected_version=1)

    row = undo(user)
    kept = set(Session.of(user.pk).filter(imported_until__gt=0).values_list("pk", flat=True))
    assert kept == {newest.pk, second.pk, ended.pk}
    assert newest.messages.count() == 7
    assert UserFile.of(user.pk).get().path == "check-ins/2023-01-03.md"
    assert [(each["name"], each["text"]) for each in names_of_kept(row)][-1] == (
        "check-ins/2023-01-03.md",
        EDITED,
    )
    assert {each["name"] for each in names_of_kept(row) if each["text"] == WENT_ON} >= {"Mine"}


def test_a_second_import_at_the_same_time_is_refused_with_a_sentence(export: Path, user: User) -> None:
    with only_import_of(user.pk), pytest.raises(Refused, match="Another import"), only_import_of(user.pk):
        pass
    run_import(export, user)
    row = Import.of(user.pk).get()
    begin_undo(user_id=user.pk, import_id=row.pk)
    with only_import_of(user.pk), pytest.raises(Refused) as refused:
        list(job_steps(row.pk))
    assert str(refused.value) == BUSY
    with pytest.raises(Import.DoesNotExist):
        begin_undo(user_id=user.pk + 1, import_id=row.pk)
    empty_queue()


def test_what_was_just_deleted_is_undone_too_and_cannot_be_restored(export: Path, user: User) -> None:
    run_import(export, user)
    untouched, continued, *_ = Session.of(user.pk).filter(kind="open_conversation").order_by("-started_at")
    opened = open_turn(new_turn(continued, owner="t"), text="And now?", client_id=None)
    Turn.of(user.pk).filter(pk=opened.turn.pk).update(status="completed", ended_at=timezone.now())
    for session in (untouched, continued):
        delete_session(user_id=user.pk, session_id=session.pk)
    for file in list(UserFile.of(user.pk)):
        delete_file(user_id=user.pk, path=file.path, now=timezone.now())

    row = undo(user)
    assert (row.state, row.kept) == (ImportState.UNDONE, [])
    assert not UserFile.deleted_of(user.pk).exists()
    with pytest.raises(Session.DoesNotExist):
        restore_session(user_id=user.pk, session_id=untouched.pk)
    # What was written here can be restored as before.
    restore_session(user_id=user.pk, session_id=continued.pk)
    assert [message.content for message in continued.messages.all()][-1] == "And now?"
    assert Session.of(user.pk).count() == 1
