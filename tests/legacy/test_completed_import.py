"""What an earlier version imported without the texts of attachments is completed by importing again."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from coaching.context.budget import count_tokens
from coaching.legacy.completing import NOT_COMPLETED
from coaching.legacy.undoing import COMPLETED_SINCE
from coaching.models import Import, ImportState
from sessions_app import import_completions
from sessions_app.models import Message, Session, SessionBrief, Turn
from sessions_app.organising import delete_session
from sessions_app.services import open_turn
from tests.jobs.conftest import empty_queue
from tests.legacy.exports import claude_conversation, claude_message
from tests.legacy.test_import_command import recalled, rows_of, run_import, write
from tests.legacy.test_newer_export import problems_of
from tests.legacy.test_undo import undo
from tests.stored_turns import new_turn

pytestmark = pytest.mark.django_db(transaction=True)

CLAUSE = "The tenant keeps a walrus at all times."
AS_BEFORE = "Is this fair?\n\nMy diary.\n\n(Attached: lease.pdf, photo.jpg)"


def export(*, more: bool = False) -> list[dict[str, Any]]:
    """Return a conversation in whose first message a lease is attached."""
    asked = claude_message("q1", "human", "Is this fair?", minute=1)
    asked["attachments"] = [
        {"file_name": "", "extracted_content": "My diary."},
        {"file_name": "lease.pdf", "extracted_content": CLAUSE},
    ]
    asked["files"] = [{"file_name": "lease.pdf"}, {"file_name": "photo.jpg"}]
    said = [asked, claude_message("a1", "assistant", "Hardly.", minute=2)]
    if more:
        said.append(claude_message("q2", "human", "And the deposit?", minute=3))
    return [claude_conversation() | {"chat_messages": said, "current_leaf_message_uuid": None}]


def imported_before(tmp_path: Path, user: User) -> Session:
    """Import as a version did that left the texts of attachments out."""
    empty_queue()
    run_import(write(tmp_path, export()), user)
    session = Session.of(user.pk).get()
    Message.of(user.pk).filter(number=1).update(content=AS_BEFORE)
    return session


def remember(user: User) -> None:
    """Store a brief and a summary as their jobs do."""
    session = Session.of(user.pk).get()
    SessionBrief.within(session).create(
        session=session,
        version=SessionBrief.within(session).count() + 1,
        text="- A walrus.",
        covers_from=1,
        covers_until=2,
        input_version=1,
        model="test",
        cost_micro_usd=0,
    )
    Session.of(user.pk).update(brief_covers=2, summary="About a lease.", summary_covers=2)


def completing(user: User) -> Import:
    """Return the import that has completed messages."""
    return Import.of(user.pk).filter(counts__completed__gt=0).get()


def go_on(user: User, session: Session) -> None:
    open_turn(new_turn(session, owner="test"), text="On here.", client_id=None)


def test_the_text_of_an_attachment_is_stored_found_and_removed_by_an_undo(tmp_path: Path, user: User) -> None:
    empty_queue()
    assert run_import(write(tmp_path, export()), user)["completed"] == 0
    assert f"**lease.pdf**\n\n```\n{CLAUSE}\n```" in Message.of(user.pk).get(number=1).content
    assert recalled(user, "walrus")[0]["importedId"] == "q1"
    assert undo(user).kept == []
    assert not Message.of(user.pk).exists()


def test_importing_again_completes_what_was_imported_before(
    tmp_path: Path, user: User, other_user: User
) -> None:
    imported_before(tmp_path, user)
    before = rows_of(user)
    path = write(tmp_path, export(more=True))
    predicted = run_import(path, user, "--dry-run")
    assert rows_of(user) == before
    counts = run_import(path, user)
    assert counts == predicted
    assert (counts["completed"], counts["continued"], counts["sessions"], counts["skipped"]) == (1, 1, 0, 0)
    assert problems_of(user) == []
    run_import(path, other_user)
    assert rows_of(user) == rows_of(other_user)
    assert recalled(user, "walrus")[0]["message"] == 1

    again = run_import(path, user)
    assert (again["completed"], again["messages"], again["skipped"]) == (0, 0, 1)
    assert rows_of(user) == rows_of(other_user)

    row = Import.of(user.pk).filter(counts__completed=1).get()
    assert undo(user, row).kept == []
    assert rows_of(user) == before
    assert recalled(user, "walrus") == []
    assert run_import(path, user)["completed"] == 1


def test_the_same_file_of_an_import_that_was_stopped_completes_it(tmp_path: Path, user: User) -> None:
    imported_before(tmp_path, user)
    Import.of(user.pk).update(state=ImportState.CANCELLED, ended_at=timezone.now())
    counts = run_import(write(tmp_path, export()), user)
    assert (counts["sessions"], counts["completed"]) == (1, 1)
    assert Import.of(user.pk).count() == 1
    assert CLAUSE in Message.of(user.pk).get(number=1).content
    assert undo(user).kept == []
    assert not Session.of(user.pk).exists()


def test_a_conversation_that_went_on_or_was_deleted_or_edited_stays_as_it_is(
    tmp_path: Path, user: User
) -> None:
    session = imported_before(tmp_path, user)
    path = write(tmp_path, export())
    Message.of(user.pk).filter(number=1).update(content="Something else.")
    assert run_import(path, user)["completed"] == 0
    Message.of(user.pk).filter(number=1).update(content=AS_BEFORE)
    go_on(user, session)
    assert run_import(path, user)["completed"] == 0
    assert problems_of(user) == [NOT_COMPLETED]
    assert Message.of(user.pk).get(number=1).content == AS_BEFORE
    Turn.of(user.pk).filter(status="running").delete()
    Session.of(user.pk).update(last_message_number=2)
    delete_session(user_id=user.pk, session_id=session.pk)
    assert run_import(path, user)["completed"] == 0


def test_an_undo_keeps_what_was_completed_where_the_conversation_went_on(tmp_path: Path, user: User) -> None:
    session = imported_before(tmp_path, user)
    run_import(write(tmp_path, export()), user)
    go_on(user, session)
    row = Import.of(user.pk).filter(counts__completed=1).get()
    assert [each["text"] for each in undo(user, row).kept] == [COMPLETED_SINCE]
    assert CLAUSE in Message.of(user.pk).get(number=1).content


def test_what_sage_remembered_of_a_completed_message_is_withdrawn(tmp_path: Path, user: User) -> None:
    imported_before(tmp_path, user)
    for step in (lambda: run_import(write(tmp_path, export()), user), lambda: undo(user, completing(user))):
        remember(user)
        step()
        session = Session.of(user.pk).get()
        assert (session.brief_covers, session.summary, session.summary_covers) == (0, "", 0)
        assert not SessionBrief.within(session).filter(is_withdrawn=False).exists()


def test_the_estimated_price_of_briefs_follows_the_length_of_the_conversation(
    tmp_path: Path, user: User
) -> None:
    imported_before(tmp_path, user)
    made_by = Import.of(user.pk).get()
    less = made_by.brief_tokens - count_tokens(Message.of(user.pk).get(number=1).content)
    Import.of(user.pk).update(brief_tokens=less)
    shorter = count_tokens(AS_BEFORE)
    run_import(write(tmp_path, export()), user)
    made_by.refresh_from_db()
    longer = count_tokens(Message.of(user.pk).get(number=1).content)
    assert longer > shorter
    assert made_by.brief_tokens == less + longer - shorter
    undo(user, completing(user))
    made_by.refresh_from_db()
    assert made_by.brief_tokens == less


def test_many_messages_are_completed_in_parts(
    tmp_path: Path, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_completions, "ROWS_AT_ONCE", 2)
    said = [
        claude_message(f"q{number}", "human", "Is this fair?", minute=number)
        | {"attachments": [{"file_name": "lease.pdf", "extracted_content": CLAUSE}]}
        for number in range(5)
    ]
    path = write(
        tmp_path, [claude_conversation() | {"chat_messages": said, "current_leaf_message_uuid": None}]
    )
    empty_queue()
    run_import(path, user)
    Message.of(user.pk).update(content="Is this fair?\n\n(Attached: lease.pdf)")
    before = rows_of(user)
    assert run_import(path, user)["completed"] == 5
    session = Session.of(user.pk).get()
    assert session.metadata["completed"] == {str(completing(user).pk): 5}
    assert Message.of(user.pk).filter(content__contains=CLAUSE).count() == 5
    undo(user, completing(user))
    assert rows_of(user) == before
    assert not Message.of(user.pk).filter(metadata__has_key="completed_by").exists()


def test_danger_in_a_document_is_not_its_readers(tmp_path: Path, user: User) -> None:
    moment = timezone.now().isoformat()
    words = "I want to kill myself."
    asked = claude_message("q1", "human", "What is this novel about?") | {"created_at": moment}
    said = claude_message("q2", "human", words) | {"created_at": moment}
    asked["attachments"] = [{"file_name": "novel.txt", "extracted_content": words}]
    path = tmp_path / "export.json"
    path.write_text(json.dumps([claude_conversation() | {"chat_messages": [asked, said]}]))
    call_command("import_legacy", str(path), "--user", user.username, stdout=StringIO(), stderr=StringIO())
    marked = Message.of(user.pk).order_by("number").values_list("metadata__danger_elsewhere", flat=True)
    assert [mark is not None for mark in marked] == [False, True]
