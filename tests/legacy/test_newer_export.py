"""A newer export of a known conversation continues it, unless somebody went on in it here."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import F

from coaching.legacy.newer import CHANGED, DELETED, EDITED, USED_HERE
from coaching.legacy.undoing import ADDED_SINCE
from coaching.models import Import, ImportState
from sessions_app.models import Message, Session, Turn
from sessions_app.organising import delete_session, restore_session
from sessions_app.services import open_turn
from tests.jobs.conftest import empty_queue
from tests.legacy.exports import (
    BEGAN,
    chatgpt_conversation,
    chatgpt_node,
    claude_conversation,
    claude_message,
)
from tests.legacy.test_import_command import one_session, recalled, rows_of, run_import, said, write
from tests.legacy.test_undo import undo
from tests.stored_turns import new_turn

pytestmark = pytest.mark.django_db(transaction=True)


def sage(until: int) -> Any:
    """Return the first messages of a conversation: the third is a question without its answer."""
    messages = [
        said("user", "About tea."),
        said("assistant", "Noted. [SESSION_COMPLETE]", minute=1),
        said("user", "And the kettle?", minute=2),
        said("assistant", "It whistles.", minute=3),
        said("user", "The saxophone, too.", minute=4),
        said("assistant", "Less well.", minute=5),
        said("assistant", "Or better.", minute=6),
    ]
    return one_session(*messages[:until])


def chatgpt(until: int) -> Any:
    """Return a conversation with that many shown messages; its branch was chosen before."""
    made = chatgpt_conversation()
    keys = ["new", "second", "picture", "last", "more", "answer", "again"]
    mapping = made["mapping"]
    mapping["last"]["children"].append("more")
    mapping |= chatgpt_node("more", "last", "user", "The saxophone, too.", children=("answer",), minute=9)
    mapping |= chatgpt_node("answer", "more", "assistant", "Less well.", children=("again",), minute=10)
    mapping |= chatgpt_node("again", "answer", "assistant", "Or better.", minute=11)
    for key in keys[until:]:  # not written yet
        del mapping[key]
    return [made | {"current_node": keys[until - 1]}]


def claude(until: int) -> Any:
    """Return a conversation with that many shown messages, of a branch."""
    made = claude_conversation()
    shown = ["q1", "a1", "q3", "a3", "q4", "a4", "a5"]
    made["chat_messages"] += [
        claude_message("q4", "human", "The saxophone, too.", parent="a3", minute=7),
        claude_message("a4", "assistant", "Less well.", parent="q4", minute=8),
        claude_message("a5", "assistant", "Or better.", parent="a4", minute=9),
    ]
    gone = {*shown[until:], "q2", "a2"}
    said = [each for each in made["chat_messages"] if each["uuid"] not in gone]
    return [made | {"chat_messages": said, "current_leaf_message_uuid": shown[until - 1]}]


FORMATS: Mapping[str, Callable[[int], Any]] = {"sage": sage, "chatgpt": chatgpt, "claude": claude}


def problems_of(user: User) -> list[str]:
    return [problem["text"] for problem in Import.of(user.pk).latest("created_at").problems]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("until", [2, 3])
def test_a_newer_export_leaves_the_rows_of_one_that_came_alone(
    tmp_path: Path, user: User, other_user: User, name: str, until: int
) -> None:
    empty_queue()
    export = FORMATS[name]
    run_import(write(tmp_path, export(until)), user)
    older = rows_of(user)
    newer = write(tmp_path, export(7))
    predicted = run_import(newer, user, "--dry-run")
    assert rows_of(user) == older
    counts = run_import(newer, user)
    assert counts == predicted
    assert (counts["sessions"], counts["continued"], counts["messages"]) == (0, 1, 7 - until)
    assert counts["skipped"] == 0
    run_import(newer, other_user)
    assert rows_of(user) == rows_of(other_user)
    assert recalled(user, "saxophone")[0]["importedId"] in ("user-4", "more", "q4")

    again = run_import(newer, user)
    assert (again["continued"], again["messages"], again["skipped"]) == (0, 0, 1)
    assert rows_of(user) == rows_of(other_user)
    for older_still in (until, 1):
        assert run_import(write(tmp_path, export(older_still)), user)["messages"] == 0
    assert rows_of(user) == rows_of(other_user)

    # An undo takes back only what the newer export brought.
    row = Import.of(user.pk).filter(counts__continued=1).get()
    assert undo(user, row).kept == []
    assert rows_of(user) == older
    assert run_import(write(tmp_path, export(7)), user)["continued"] == 1
    assert rows_of(user) == rows_of(other_user)


@pytest.mark.parametrize("name", FORMATS)
def test_a_conversation_that_went_on_here_or_was_deleted_is_left_alone(
    tmp_path: Path, user: User, name: str
) -> None:
    export = FORMATS[name]
    run_import(write(tmp_path, export(4)), user)
    session = Session.of(user.pk).get(archived_at=None)
    open_turn(new_turn(session, owner="test"), text="On here.", client_id=None)
    before = rows_of(user)
    counts = run_import(write(tmp_path, export(7)), user)
    assert (counts["continued"], counts["messages"], counts["skipped"]) == (0, 0, 1)
    assert rows_of(user) == before
    assert problems_of(user) == [USED_HERE]
    Turn.of(user.pk).filter(status="running").delete()
    Session.of(user.pk).filter(archived_at=None).update(last_message_number=F("imported_until"))
    delete_session(user_id=user.pk, session_id=session.pk)
    assert run_import(write(tmp_path, export(7)), user)["continued"] == 0
    assert problems_of(user) == [DELETED]


def test_a_running_turn_keeps_its_conversation(tmp_path: Path, user: User) -> None:
    run_import(write(tmp_path, sage(3)), user)
    session = Session.of(user.pk).get()
    session.turns.create(status="running")
    assert run_import(write(tmp_path, sage(5)), user)["continued"] == 0
    assert problems_of(user) == [USED_HERE]


def test_what_was_edited_elsewhere_stays_and_is_named(tmp_path: Path, user: User) -> None:
    run_import(write(tmp_path, sage(2)), user)
    call_command("backfill_legacy", stdout=StringIO(), stderr=StringIO())
    assert run_import(write(tmp_path, sage(3)), user)["continued"] == 1
    assert problems_of(user) == []
    newer = sage(5)
    newer["sessions"][0]["messages"][0]["content"] = "About coffee."
    assert run_import(write(tmp_path, newer), user)["messages"] == 2
    assert problems_of(user) == [EDITED]
    texts = list(Message.of(user.pk).order_by("number").values_list("content", flat=True))
    assert texts == ["About tea.", "Noted.", "And the kettle?", "It whistles.", "The saxophone, too."]


def test_another_branch_is_not_mixed_with_the_stored_one(tmp_path: Path, user: User) -> None:
    run_import(write(tmp_path, chatgpt(5)), user)
    before = rows_of(user)
    [branched] = chatgpt(5)
    branched["mapping"]["last"]["children"].append("edited")
    branched["mapping"] |= chatgpt_node("edited", "last", "user", "The trombone.", minute=12)
    path = write(tmp_path, [branched | {"current_node": "edited"}])
    counts = run_import(path, user)
    assert (counts["continued"], counts["branches"], counts["problems"]) == (0, 1, [])
    session = Session.of(user.pk).get(metadata__imported_id="c-1/edited")
    assert session.messages.get().content == "The trombone."
    assert undo(user, Import.of(user.pk).latest("pk")).kept == []
    assert rows_of(user) == before
    # An insertion before the end would have to move what is stored.
    older = sage(4)
    run_import(write(tmp_path, older), user)
    older["sessions"][0]["messages"].insert(1, said("assistant", "Squeezed in.", key="x"))
    assert run_import(write(tmp_path, older), user)["continued"] == 0
    assert problems_of(user) == [CHANGED]
    # What was deleted before the end stays here, and the rest is appended.
    shorter = sage(6)
    del shorter["sessions"][0]["messages"][1]
    assert run_import(write(tmp_path, shorter), user)["messages"] == 2


def test_an_import_that_is_taken_up_counts_what_it_has_appended(tmp_path: Path, user: User) -> None:
    run_import(write(tmp_path, sage(3)), user)
    newer = write(tmp_path, sage(6))
    counts = run_import(newer, user)
    row = Import.of(user.pk).latest("created_at")
    row.state = ImportState.RUNNING
    row.save()
    assert run_import(newer, user) == counts
    assert Import.of(user.pk).count() == 2


def test_an_undo_keeps_additions_behind_which_something_was_said(tmp_path: Path, user: User) -> None:
    empty_queue()
    for until in (2, 4, 6):
        run_import(write(tmp_path, sage(until)), user)
    first, second, third = Import.of(user.pk).order_by("created_at")
    before = rows_of(user)
    assert [each["text"] for each in undo(user, second).kept] == [ADDED_SINCE]
    assert rows_of(user) == before
    assert undo(user, third).kept == []
    assert Message.of(user.pk).count() == 4
    assert undo(user, first).kept == []
    assert not Session.of(user.pk).exists()


def test_an_arc_that_ended_elsewhere_ends_here_and_an_expired_one_stays_expired(
    tmp_path: Path, user: User, settings: Any
) -> None:
    settings.SAGE_SESSION_TTL_HOURS = 24 * 365 * 20

    def arc(until: int, status: str) -> Path:
        export = sage(until)
        export["sessions"][0] |= {"kind": "open_day", "status": status}
        return write(tmp_path, json.loads(json.dumps(export)))

    run_import(arc(2, "active"), user)
    run_import(arc(4, "completed"), user)
    session = Session.of(user.pk).get()
    assert (session.status, session.ended_at) == ("completed", BEGAN + timedelta(minutes=3))
    Session.of(user.pk).all().delete()
    run_import(arc(2, "expired"), user)
    run_import(arc(4, "completed"), user)
    session = Session.of(user.pk).get()
    assert (session.status, session.ended_at) == ("expired", BEGAN + timedelta(minutes=3))


@pytest.mark.parametrize("name", FORMATS)
def test_an_undo_takes_its_messages_out_of_a_conversation_that_was_just_deleted(
    tmp_path: Path, user: User, name: str
) -> None:
    run_import(write(tmp_path, FORMATS[name](3)), user)
    older = rows_of(user)
    run_import(write(tmp_path, FORMATS[name](7)), user)
    session = Session.of(user.pk).get(archived_at=None)
    delete_session(user_id=user.pk, session_id=session.pk)
    assert undo(user, Import.of(user.pk).get(counts__continued=1)).kept == []
    restore_session(user_id=user.pk, session_id=session.pk)
    assert rows_of(user) == older
