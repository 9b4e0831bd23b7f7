"""`manage.py backfill_legacy`: blocks in old replies become calls, once, and nothing else changes."""

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.template.loader import render_to_string

from coaching.context.history import stored_message
from coaching.engine.messages import build_api_messages
from coaching.files.permissions import WRITTEN_TYPES
from coaching.legacy.backfill import backfill_steps
from coaching.legacy.tally import Tally
from coaching.legacy_text.parser import parse_blocks
from coaching.models import UserFile, UserFileVersion
from coaching.models.files import is_private
from coaching.personal_data.rows import exported_models, rows_as_json
from coaching.tools import CHAT_TOOLS
from coaching.tools.save_file import SAVE_FILE, SaveFileInput
from coaching.transcript.conversation import items_of
from coaching.transcript.old_replies import ORIGINAL_KEY, draft_of
from coaching.transcript.rows import read_history
from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, Session, ToolCallRecord
from tests.legacy.broken_replies import BROKEN
from tests.legacy.exports import BEGAN
from tests.legacy.strict_requests import check_every_request
from tests.legacy_text.replies import PIECES, RAW_TAG
from tests.stored_turns import open_turn
from tests.tools.committing_context import CommittingContext

pytestmark = pytest.mark.django_db(transaction=True)

LISBON = ZoneInfo("Europe/Lisbon")
REPLIES = (
    (
        'Kept.\n[FILE_UPDATE type="domain" name="Career / Work"]\n# Career\n\nA team.\n[/FILE_UPDATE]\n'
        "What now?\n[SUGGESTED_REPLIES]\nRest\nWork\n[/SUGGESTED_REPLIES]"
    ),
    "[ENTER_MODE: open_day] Good morning.",
    '[DAY_PLAN_DATA]{"intention": "Walk", "priorities": ["Pack"]}[/DAY_PLAN_DATA]\n[SESSION_COMPLETE]',
    "[SESSION_COMPLETE]",
    "Cut [SUGGESTED_REPLIES]\nYes",
    "Only words, [like](https://these.example).",
    "```\n[SESSION_COMPLETE]\n```",
)


@pytest.fixture
def history(user: User, tmp_path: Path) -> User:
    """Somebody with a generated history that was imported; the first replies are well known."""
    chance = random.Random(14)
    known = [*REPLIES, *BROKEN]
    replies = known + [
        "".join(chance.choices(PIECES, k=chance.randint(1, 14))) for _ in range(60 - len(known))
    ]
    sessions = []
    for number in range(6):
        said = [
            ("user", "[SESSION_COMPLETE], I typed") if place % 2 == 0 else ("assistant", "")
            for place in range(20)
        ]
        messages = [
            {
                "id": f"m-{number}-{place}",
                "role": role,
                "content": text or replies[number * 10 + place // 2] or "Hm.",
                "created_at": (BEGAN + timedelta(days=number, minutes=place)).isoformat(),
            }
            for place, (role, text) in enumerate(said)
        ]
        status = "active" if number else "expired"
        begun = (BEGAN + timedelta(days=number)).isoformat()
        sessions.append(
            {
                "id": f"s-{number}",
                "kind": "open_conversation",
                "status": status,
                "started_at": begun,
                "messages": messages,
            }
        )
    path = tmp_path / "export.json"
    path.write_text(
        json.dumps({"profile": {"name": "Ada", "timezone": "Europe/Lisbon"}, "sessions": sessions})
    )
    call_command("import_legacy", str(path), "--user", user.username, stdout=StringIO(), stderr=StringIO())
    return user


def backfill(*options: str) -> dict[str, int]:
    out = StringIO()
    call_command("backfill_legacy", "--json", *options, stdout=out, stderr=StringIO())
    counts: dict[str, int] = json.loads(out.getvalue().splitlines()[-1])
    return counts


def rows_of(user: User) -> list[Any]:
    messages = Message.of(user.pk).order_by("pk")
    return [
        list(messages.values_list("pk", "number", "role", "content", "metadata", "created_at", "turn_id")),
        list(Session.of(user.pk).order_by("pk").values()),
        list(UserFileVersion.of(user.pk).order_by("pk").values_list("pk", "sha256")),
        ToolCallRecord.of(user.pk).count(),
    ]


def pages_of(user: User) -> list[str]:
    sessions = Session.of(user.pk).order_by("started_at")
    return [
        render_to_string("coaching/components/item.html", {"item": item})
        for session in sessions
        for item in items_of(read_history(session), zone=LISBON)
    ]


@pytest.mark.slow
def test_a_dry_run_changes_nothing_and_predicts_the_run_which_happens_once(history: User) -> None:
    before, pages = rows_of(history), pages_of(history)
    predicted = backfill("--dry-run")
    assert rows_of(history) == before
    assert predicted["messages"] > 30
    assert predicted["unread"] > 10
    assert predicted["sessions"] == 6
    assert (predicted["files"], predicted["ratings"], predicted["skipped"]) == (0, 0, 0)
    assert backfill("--batch-size", "7") == predicted
    after = rows_of(history)
    assert after[1:] == before[1:], "sessions, files and calls stay"
    assert pages_of(history) == pages, "and so does what people see"
    assert set(backfill().values()) == {0}
    assert rows_of(history) == after


def test_what_is_stored_has_no_tag_and_keeps_the_original(history: User) -> None:
    before = {row.pk: row for row in Message.of(history.pk)}
    backfill("--user", history.username)
    for row in Message.of(history.pk):
        old = before[row.pk]
        if row.role == MessageRole.USER or not parse_blocks(old.content).has_tags:
            assert (row.content, row.metadata) == (old.content, old.metadata)
            continue
        assert row.metadata[ORIGINAL_KEY] == old.content
        assert row.metadata["imported_id"] == old.metadata["imported_id"]
        assert row.metadata["round_ends"][-1] == len(row.content)
        assert not RAW_TAG.search(row.content) or "```" in row.content or "~~~" in row.content
        ids = [call["id"] for call in row.metadata["tool_calls"]]
        assert len(set(ids)) == len(ids)


@pytest.mark.slow
def test_every_request_from_it_is_accepted(history: User) -> None:
    before = check_every_request(history.pk)
    assert (before.refusals, before.whole, before.prefixes) == ([], 6, 120)
    backfill()
    after = check_every_request(history.pk)
    assert (after.refusals, after.whole, after.prefixes) == ([], 6, 120)
    for session in Session.of(history.pk):
        said = [stored_message(message) for message in session.messages.order_by("number")]
        assert "FILE_UPDATE" not in str(build_api_messages(said, CHAT_TOOLS.saved_fields))


def test_the_model_reads_the_blocks_as_its_own_calls(history: User) -> None:
    backfill()
    session = Session.of(history.pk).order_by("started_at")[0]
    said = [stored_message(message) for message in session.messages.order_by("number")[:3]]
    _, first, results, second, _ = build_api_messages(said, CHAT_TOOLS.saved_fields)
    assert [block.get("name", block.get("text")) for block in first["content"]] == ["Kept.", "save_file"]
    assert first["content"][1]["input"] == {
        "file_type": "domain",
        "file_name": "career",
        "content": "[saved: 17 chars]",
    }
    assert json.loads(results["content"][0]["content"]) == {"success": True, "path": "life-map/career.md"}
    assert [block.get("name", block.get("text")) for block in second["content"]] == [
        "What now?",
        "show_options",
    ]


def test_an_import_that_is_taken_up_afterwards_still_finds_the_files(history: User, tmp_path: Path) -> None:
    files = UserFile.of(history.pk).filter(path="life-map/career.md")
    files.delete()
    backfill()
    call_command(
        "import_legacy",
        str(tmp_path / "export.json"),
        "--user",
        history.username,
        stdout=StringIO(),
        stderr=StringIO(),
    )
    assert files.count() == 1
    assert Message.of(history.pk).filter(metadata__has_key=ORIGINAL_KEY).count() > 30


def test_it_goes_on_where_it_was_stopped(history: User) -> None:
    predicted = backfill("--dry-run")
    for _ in range(3):
        steps = backfill_steps(Tally(), batch_size=5)
        next(steps)
        next(steps)
    rest = backfill()
    assert rest["messages"] < predicted["messages"]
    assert Message.of(history.pk).filter(metadata__has_key=ORIGINAL_KEY).count() == predicted["messages"]
    assert set(backfill().values()) == {0}


def test_a_conversation_in_use_is_left_for_later(history: User) -> None:
    session = Session.of(history.pk).get(metadata__imported_id="s-2")
    key = open_turn(session)
    predicted = backfill("--dry-run")
    assert predicted["skipped"] > 0
    assert backfill() == predicted
    assert not session.messages.filter(metadata__has_key=ORIGINAL_KEY).exists()
    session.turns.filter(id=key.turn_id).delete()
    assert backfill()["messages"] == predicted["skipped"]


def test_a_locked_conversation_is_not_waited_for(history: User) -> None:
    session = Session.of(history.pk).get(metadata__imported_id="s-3")
    with transaction.atomic():
        Session.unscoped.select_for_update(no_key=True).get(id=session.id)
        with ThreadPoolExecutor(max_workers=1) as threads:
            counts = threads.submit(_in_its_own_connection, backfill).result(60)
    assert counts["skipped"] > 0
    assert counts["sessions"] == 5


def test_a_message_that_changed_meanwhile_is_left_alone(history: User) -> None:
    steps = backfill_steps(Tally(), batch_size=1)
    next(steps)
    tally = Tally()
    message = Message.of(history.pk).filter(content="[SESSION_COMPLETE]").first()
    assert message is not None
    Message.unscoped.filter(pk=message.pk).update(metadata={"round_ends": [1]})
    list(backfill_steps(tally))
    message.refresh_from_db()
    assert message.content == "[SESSION_COMPLETE]"


def test_the_original_is_exported_with_its_message(history: User) -> None:
    backfill()
    (messages,) = (owned for owned in exported_models() if owned.label == "sessions_app.Message")
    exported = json.loads("".join(rows_as_json(messages, user_id=history.pk)))
    assert REPLIES[0] in [row["metadata"].get(ORIGINAL_KEY) for row in exported]


def test_only_the_named_person_is_rewritten_and_odd_options_are_refused(history: User) -> None:
    other = User.objects.create_user("eve", "eve@example.org", "x")
    assert set(backfill("--user", other.username).values()) == {0}
    with pytest.raises(CommandError, match="1 to 10,000"):
        backfill("--batch-size", "0")
    with pytest.raises(CommandError, match="nobody"):
        backfill("--user", "nobody-here")


@pytest.mark.parametrize("file_type", [name for name in WRITTEN_TYPES if not is_private(name)])
async def test_a_block_and_the_same_call_give_the_same_bytes(user: User, file_type: str) -> None:
    name = {"domain": "career", "reflection-prompt": "What now"}.get(file_type, "")
    block = (
        f'[FILE_UPDATE type="{file_type}" name="{name}" preview_line="In short"]\n'
        "---\ntype: other\n---\n# Title\n\nBody, *with* marks.\n[/FILE_UPDATE]"
    )
    (call,) = parse_blocks(block).calls
    kind = {"day-plan": "open_day", "daily-log": "close_day", "check-in": "weekly_checkin"}.get(file_type)
    context = CommittingContext(user_id=user.pk, effective_kind=kind or "open_conversation", timezone=LISBON)
    result = await SAVE_FILE.run(context, SaveFileInput.model_validate(dict(call.input)))
    path = json.loads(result.content)["path"]
    message = Message(created_at=context.now)
    draft = draft_of(call, message, zone=LISBON)
    assert draft.path.text() == path
    versions = UserFileVersion.of(user.pk).filter(file__path=path)
    assert await in_database(list, versions.values_list("content", flat=True)) == [draft.text]


def _in_its_own_connection(work: Callable[[], Any]) -> Any:
    try:
        return work()
    finally:
        connection.close()
