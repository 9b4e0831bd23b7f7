"""`manage.py import_legacy`: an export becomes rows, once, with its own times, as its user's own."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from coaching.models import Import, ImportState, Profile, PulseRating, UserFile
from sessions_app.models import Message, Session, SessionStatus, Turn
from tests.legacy.exports import BEGAN, LIGHTHOUSE, write_sage_export

pytestmark = pytest.mark.django_db(transaction=True)

SIZE = {"sessions": 12, "messages": 120, "files": 6, "ratings": 10}


def run_import(path: Path, user: User, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command(
        "import_legacy", str(path), "--user", user.username, "--json", *options, stdout=out, stderr=StringIO()
    )
    counts: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return counts


def rows_of(user: User) -> dict[str, list[Any]]:
    """Return what an import makes, without keys, which are always new."""
    messages = Message.of(user.pk).order_by("session__started_at", "session__title", "number")
    shown = messages.filter(turn__is_withdrawn=False)
    others = messages.filter(turn__is_withdrawn=True)
    return {
        "sessions": list(
            Session.of(user.pk)
            .order_by("started_at", "title")
            .values_list(
                "kind", "status", "title", "started_at", "last_active_at", "ended_at", "last_message_number"
            )
        ),
        "turns": list(
            Turn.of(user.pk)
            .order_by("started_at", "ended_at")
            .values_list("status", "started_at", "ended_at")
        ),
        # Other answers stand behind the messages that were stored when they came.
        "messages": list(shown.values_list("role", "content", "created_at", "metadata__imported_id")),
        "answers": list(others.order_by("created_at").values_list("content", "metadata__imported_id")),
        "files": list(UserFile.of(user.pk).order_by("path").values_list("path", "sha256", "updated_at")),
        "ratings": list(
            PulseRating.of(user.pk).order_by("rated_at", "domain").values_list("domain", "rating", "rated_at")
        ),
    }


def recalled(user: User, query: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("recall", query, "--user", user.username, "--json", stdout=out)
    hits: list[dict[str, Any]] = json.loads(out.getvalue())
    return hits


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return write_sage_export(tmp_path / "export.json", **SIZE)


def write(tmp_path: Path, data: object) -> Path:
    path = tmp_path / "written.json"
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return path


def one_session(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "sessions": [
            {"id": "s", "kind": "open_conversation", "status": "active", "messages": list(messages)} | fields
        ]
    }


def said(role: str, text: str, *, key: str = "", minute: int = 0) -> dict[str, Any]:
    moment = BEGAN + timedelta(minutes=minute)
    return {"id": key or f"{role}-{minute}", "role": role, "content": text, "created_at": moment.isoformat()}


def test_an_import_keeps_times_order_and_words(export: Path, user: User) -> None:
    counts = run_import(export, user)
    # Of the blocks' daily logs none is in the export.
    logs = UserFile.of(user.pk).filter(path__startswith="daily-logs/").count()
    assert logs > 0
    assert counts == {
        "sessions": 12,
        "branches": 0,
        "continued": 0,
        "messages": 120,
        "completed": 0,
        "answers": 0,
        "documents": 0,
        "files": 6 + logs,
        "ratings": 10,
        "skipped": 0,
        "unread": 0,
        "about": [],
        "left_behind": {},
        "problems": [],
        "problem_count": 0,
    }
    first = Session.of(user.pk).order_by("started_at")[0]
    assert first.started_at == BEGAN
    assert first.last_active_at == BEGAN + timedelta(minutes=18)
    assert first.metadata["imported_id"] == "s-0"
    messages = list(first.messages.order_by("number"))
    assert [message.role for message in messages] == ["user", "assistant"] * 5
    assert [message.metadata["imported_id"] for message in messages] == [
        f"m-0-{place}" for place in range(10)
    ]
    assert [message.created_at for message in messages] == [
        BEGAN + timedelta(minutes=2 * n) for n in range(10)
    ]
    assert first.turns.count() == 5
    file = UserFile.of(user.pk).get(path="check-ins/2023-01-02.md")
    assert (file.created_at, file.updated_at) == (BEGAN, BEGAN)
    assert file.versions.get().created_at == BEGAN
    assert "The harbour, week 0." in file.versions.get().content


def test_twice_gives_the_same_rows(export: Path, user: User) -> None:
    made = run_import(export, user)
    before = rows_of(user)
    again = run_import(export, user)
    assert rows_of(user) == before
    assert (again["sessions"], again["messages"], again["files"], again["ratings"]) == (0, 0, 0, 0)
    assert again["skipped"] == made["sessions"] + SIZE["files"] + made["ratings"]
    assert set(Import.of(user.pk).values_list("state", flat=True)) == {ImportState.FINISHED}


def test_a_dry_run_changes_nothing_and_says_what_the_import_does(export: Path, user: User) -> None:
    predicted = run_import(export, user, "--dry-run")
    assert not Session.of(user.pk).exists()
    assert not UserFile.of(user.pk).exists()
    assert not Import.of(user.pk).exists()
    assert not Profile.of(user.pk).exists()
    assert run_import(export, user) == predicted


def test_recall_finds_the_words_of_an_import(export: Path, user: User, other_user: User) -> None:
    run_import(export, user)
    assert [hit["importedId"] for hit in recalled(user, f"{LIGHTHOUSE}7")][:1] == ["m-7-0"]
    assert [hit["source"] for hit in recalled(user, "harbour week 3")][:1] == ["file"]
    assert not recalled(other_user, f"{LIGHTHOUSE}7")


def test_nobody_elses_rows_are_touched_and_two_people_may_import_the_same_file(
    export: Path, user: User, other_user: User
) -> None:
    run_import(export, other_user)
    before = rows_of(other_user)
    assert run_import(export, user)["sessions"] == SIZE["sessions"]
    assert rows_of(other_user) == before
    assert rows_of(user) == before
    ids = set(Session.of(user.pk).values_list("pk", flat=True))
    assert ids.isdisjoint(Session.of(other_user.pk).values_list("pk", flat=True))


def test_an_assistant_message_without_a_question_gets_a_turn_of_its_own(tmp_path: Path, user: User) -> None:
    path = write(
        tmp_path,
        one_session(
            said("assistant", "Hello!"),
            said("user", "Hi.", minute=1),
            said("assistant", "How are you?", minute=2),
            said("assistant", "Still there?", minute=3),
            said("user", "Yes.", minute=4),
            said("user", "Sorry.", minute=5),
        ),
    )
    run_import(path, user)
    session = Session.of(user.pk).get()
    turns = [
        [message.content for message in turn.messages.order_by("number")]
        for turn in session.turns.order_by("started_at")
    ]
    assert turns == [["Hello!"], ["Hi.", "How are you?"], ["Still there?"], ["Yes."], ["Sorry."]]


def test_an_expired_arc_never_becomes_completed(tmp_path: Path, user: User) -> None:
    words = said("assistant", "Done. [SESSION_COMPLETE]", minute=1)
    sessions = [
        one_session(said("user", "Day."), words, id=status, kind="open_day", status=status)["sessions"][0]
        for status in ("active", "expired", "abandoned", "completed")
    ]
    run_import(write(tmp_path, {"sessions": sessions}), user)
    found = {row.metadata["imported_id"]: row for row in Session.of(user.pk)}
    assert {key: row.status for key, row in found.items()} == {
        "active": SessionStatus.EXPIRED,
        "expired": SessionStatus.EXPIRED,
        "abandoned": SessionStatus.ABANDONED,
        "completed": SessionStatus.COMPLETED,
    }
    assert all(row.ended_at == BEGAN + timedelta(minutes=1) for row in found.values())


def test_what_cannot_be_read_is_named_with_its_line_and_stops_nothing(
    tmp_path: Path, user: User, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "export.json"
    path.write_text(
        '{"sessions": [\n'
        '  {"id": "s", "kind": "open_conversation", "mood": 1, "messages": [\n'
        '    {"id": "a", "role": "user", "content": "Hi.", "created_at": "2024-05-01T08:00:00Z"},\n'
        '    {"id": "b",\n'
        '     "role": "wizard", "content": "?", "created_at": "2024-05-01T08:00:00Z"}]},\n'
        '  {"kind": "open_day", "messages": []}],\n'
        ' "files": [{"path": "elsewhere/x.md", "content": "x", "updated_at": "2024-05-01T08:00:00Z"}],\n'
        ' "ratings": [{"domain": "health", "rating": 9, "rated_at": "2024-05-01"}]}\n'
    )
    errors, out = StringIO(), StringIO()
    call_command("import_legacy", str(path), "--user", user.username, "--json", stdout=out, stderr=errors)
    counts = json.loads(out.getvalue())
    assert (counts["sessions"], counts["messages"], counts["unread"]) == (1, 1, 4)
    lines = errors.getvalue()
    assert "line 5, sessions[0].messages[1].role" in lines
    assert "line 6, sessions[1].id: This is missing." in lines
    assert "line 7, files[0]" in lines
    assert "line 8, ratings[0].rating" in lines
    assert "sessions[].mood" in lines


def test_a_broken_file_changes_nothing_and_names_the_line(tmp_path: Path, export: Path, user: User) -> None:
    cut = tmp_path / "cut.json"
    text = export.read_text()
    cut.write_text(text[: text.index('"files"')])
    with pytest.raises(CommandError, match=r"Line \d+ isn’t valid JSON"):
        run_import(cut, user)
    assert not Session.of(user.pk).exists()
    assert not Import.of(user.pk).exclude(state=ImportState.FAILED).exists()


def test_the_profile_fills_only_empty_fields(export: Path, user: User, other_user: User) -> None:
    Profile.of(other_user.pk).create(name="Grace")
    for person in (user, other_user):
        run_import(export, person)
    filled, kept = Profile.of(user.pk).get(), Profile.of(other_user.pk).get()
    assert (filled.name, filled.timezone) == ("Ada", "Europe/Lisbon")
    assert (kept.name, kept.timezone) == ("Grace", "Europe/Lisbon")


def test_a_file_that_exists_stays(tmp_path: Path, user: User) -> None:
    file = {"path": "life-plan/current.md", "content": "The old plan.", "updated_at": BEGAN.isoformat()}
    run_import(write(tmp_path, {"files": [file]}), user)
    counts = run_import(write(tmp_path, {"files": [file | {"content": "Another plan."}]}), user)
    assert (counts["files"], counts["skipped"]) == (0, 1)
    held = UserFile.of(user.pk).get()
    assert held.versions.get().content == "The old plan.\n"


def test_times_ahead_become_now_and_missing_ones_follow_the_message_before(
    tmp_path: Path, user: User
) -> None:
    path = write(
        tmp_path,
        one_session(
            said("user", "First."),
            {"id": "x", "role": "assistant", "content": "Second."},
            said("user", "Third.", key="y") | {"created_at": "2999-01-01T00:00:00Z"},
        ),
    )
    run_import(path, user)
    times = list(Message.of(user.pk).order_by("number").values_list("created_at", flat=True))
    assert times[:2] == [BEGAN, BEGAN]
    assert datetime(2026, 1, 1, tzinfo=UTC) < times[2] <= timezone.now()
