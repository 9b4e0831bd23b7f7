"""Whatever an export holds is stored, or named among what was left behind."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from coaching.legacy.importers.left import MAX_NAMED, LeftBehind, Leftovers
from coaching.models import Document, Import
from coaching.views.import_words import SHOWN_NAMES
from sessions_app.models import Message
from tests.legacy.exports import (
    chatgpt_conversation,
    chatgpt_node,
    claude_conversation,
    claude_message,
)
from tests.legacy.test_formats import read
from tests.legacy.test_import_command import run_import

pytestmark = pytest.mark.django_db(transaction=True)

POINTER = "sediment://file_7"


def chatgpt() -> dict[str, Any]:
    """Return a conversation with everything that isn't imported."""
    made = chatgpt_conversation()
    picture = {"content_type": "image_asset_pointer", "asset_pointer": POINTER}
    sound = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_8"}
    attachments = [
        {"id": "file_7", "name": "garden.jpg", "mime_type": "image/jpeg"},
        {"id": "file_9", "name": "seeds.pdf", "mime_type": "application/pdf"},
    ]
    about = chatgpt_node("about", "system", "user", kind="user_editable_context", children=("new",))
    about["about"]["message"]["content"] |= {"user_profile": "I keep bees."}
    made["mapping"] |= about
    made["mapping"] |= chatgpt_node("thought", "last", "assistant", kind="thoughts", children=("more",))
    made["mapping"] |= chatgpt_node(
        "more", "thought", "user", picture, sound, "And this?", kind="multimodal_text",
        metadata={"attachments": attachments},
    )  # fmt: skip
    made["mapping"]["new"]["parent"] = "about"
    return made | {"current_node": "more"}


def claude() -> dict[str, Any]:
    """Return a conversation with everything that isn't imported."""
    made = claude_conversation()
    said = claude_message("q4", "human", "And these?", parent="a3", minute=7)
    said["files"] = [{"file_name": "roof.png"}, {"file_name": "plan.dwg"}]
    called = claude_message("a4", "assistant", "Let me see.", parent="q4", minute=8)
    called["content"].append({"type": "tool_use", "name": "web_search", "input": {"query": "boiler"}})
    made["chat_messages"] += [said, called]
    return made


def zipped(path: Path, conversations: list[Any], **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(conversations))
        for name, data in members.items():
            archive.writestr(name.replace("_dot_", "."), data)
    return path


def named(left: dict[str, Any]) -> set[tuple[str, str, str, int]]:
    return {
        (kind, each["name"], each["where"], each["count"])
        for kind, group in left.items()
        for each in group["named"]
    }


def test_what_is_left_behind_of_chatgpt_is_named(tmp_path: Path, user: User) -> None:
    path = zipped(tmp_path / "x.zip", [chatgpt()], chat_dot_html=b"x", file_7_dot_jpg=b"y")
    predicted = run_import(path, user, "--dry-run")
    counts = run_import(path, user)
    assert counts == predicted
    title = "Growing artichokes"
    assert named(counts["left_behind"]) == {
        ("member", "chat.html", "", 1),
        ("tool", "web", "", 1),
        ("picture", "x", title, 1),
        ("file", "seeds.pdf", title, 1),
        ("voice", title, "", 1),
        ("thinking", "thoughts", "", 1),
    }
    assert counts["about"] == [{"kind": "instructions", "project": ""}]
    assert Import.of(user.pk).get().left_behind == counts["left_behind"]
    assert [each.name for each in Document.of(user.pk)] == ["garden.jpg"]
    assert run_import(path, user)["left_behind"] == counts["left_behind"]


def test_what_is_left_behind_of_claude_is_named(tmp_path: Path, user: User) -> None:
    path = zipped(tmp_path / "x.zip", [claude() | {"horoscope": 1}], users_dot_json=b"[]")
    left = run_import(path, user)["left_behind"]
    title = "A letter to the landlord"
    assert named(left) == {
        ("member", "users.json", "", 1),
        ("thinking", "thinking", "", 8),
        ("tool", "web_search", "", 1),
        ("picture", "roof.png", title, 1),
        ("file", "plan.dwg", title, 1),
        ("field", "[].horoscope", "", 1),
    }


def test_nothing_of_a_file_steers_the_terminal(tmp_path: Path, user: User) -> None:
    escape = "\x1b]0;x\x07\x9b2J\u202e"
    made = claude() | {"name": f"A{escape}", escape: 1}
    made["chat_messages"][-1]["content"][-1]["name"] = f"👩‍👧{escape}"
    path = zipped(tmp_path / "x.zip", [made, {"name": escape}])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{escape}.jpg", b"")
    errors = io.StringIO()
    call_command("import_legacy", str(path), "--user", user.username, stdout=io.StringIO(), stderr=errors)
    assert "left behind, tool: 👩‍👧\ufffd]0;x" in errors.getvalue()
    assert all(each.isprintable() or each in "\n\u200d" for each in errors.getvalue())


def test_unknown_fields_above_the_limit_are_counted(tmp_path: Path, user: User) -> None:
    made = claude() | {f"field{number}": 1 for number in range(MAX_NAMED + 20)}
    result = run_import(zipped(tmp_path / "x.zip", [made, made | {"uuid": "k-2"}]), user)
    assert result["left_behind"]["field"]["count"] == MAX_NAMED + 20
    assert len(result["left_behind"]["field"]["named"]) == MAX_NAMED
    assert Import.of(user.pk).get().problem_count == MAX_NAMED + 20


def left_of(made: dict[str, Any]) -> set[tuple[str, str, int]]:
    left = Leftovers()
    for thing in read([made])[1]:
        if isinstance(thing, LeftBehind):
            left.add(thing)
    return {(kind, name, count) for kind, name, _, count in named(dict(left.by_kind()))}


def test_calls_of_chatgpt_count_once_and_only_shown_documents_are_left_out() -> None:
    title = "Growing artichokes"
    made = chatgpt_conversation() | {"current_node": "n9", "title": title}
    tool = {"role": "tool", "metadata": {}}
    written = json.dumps({"name": "Letter", "type": "document", "content": "Dear Ada,"})
    nodes: list[tuple[str, str, dict[str, Any]]] = [
        ("assistant", written, {"recipient": "canmore.create_textdoc"}),
        ("tool", "Created.", {"author": tool | {"name": "canmore.create_textdoc"}}),
        ("assistant", '{"comments": []}', {"recipient": "canmore.comment_textdoc"}),
        ("tool", "Commented.", {"author": tool | {"name": "canmore.comment_textdoc"}}),
        ("assistant", '{"name": ', {"recipient": "canmore.create_textdoc"}),
        ("tool", "Found.", {"author": tool | {"name": "myfiles_browser"}}),
        ("user", "Unseen.", {"metadata": {"is_visually_hidden_from_conversation": True}}),
        ("assistant", "print(1)", {"kind": "code"}),
        ("user", "Nameless.", {"id": ""}),
        ("assistant", "The end.", {}),
    ]
    for number, (role, text, fields) in enumerate(nodes):
        parent = f"n{number - 1}" if number else "last"
        made["mapping"] |= chatgpt_node(f"n{number}", parent, role, text, **fields)
    made["mapping"]["n8"]["id"] = ""
    assert left_of(made) == {
        ("tool", "web", 1),
        ("tool", "canmore.comment_textdoc", 1),
        ("tool", "canmore.create_textdoc", 1),
        ("tool", "myfiles_browser", 1),
        ("tool", "code", 1),
        ("message", title, 2),
    }


def test_sources_files_and_summaries_of_claude_are_named() -> None:
    said = claude_message("q1", "human", "Hello.") | {
        "files_v2": [{"file_name": "roof.png"}, {"file_uuid": "f-2"}],
        "sync_sources": [{"type": "gdrive", "config": {"name": "Budget"}}, {"type": "github"}, 5],
    }
    nameless = claude_message("", "human", "Nameless.", minute=1)
    made = claude_conversation() | {"chat_messages": [said, nameless], "summary": "They said hello."}
    title = "A letter to the landlord"
    assert left_of(made) == {
        ("thinking", "thinking", 2),
        ("picture", "roof.png", 1),
        ("file", "f-2", 1),
        ("file", "Budget", 1),
        ("file", "github", 1),
        ("summary", title, 1),
        ("message", title, 1),
    }


def words_in(value: Any, key: str = "") -> set[str]:
    """Return the texts of an export that a person has written or read, or that name a file."""
    if isinstance(value, dict):
        return set().union(*(words_in(each, name) for name, each in value.items()))
    if isinstance(value, list):
        return set().union(*(words_in(each, key) for each in value))
    is_words = key in ("text", "parts", "extracted_content", "file_name")
    return {value} if isinstance(value, str) and value.strip() and is_words else set()


@pytest.mark.parametrize("make", [chatgpt, claude])
def test_every_word_of_an_export_is_stored_or_belongs_to_something_named(
    tmp_path: Path, user: User, make: Any
) -> None:
    made = make()
    left = run_import(zipped(tmp_path / "x.zip", [made]), user)["left_behind"]
    stored = "\n".join(Message.of(user.pk).values_list("content", flat=True))
    names = {name for _, name, _, _ in named(left)}
    missing = {words for words in words_in(made) if words not in stored and words not in names}
    # Of what isn't there in its own words: a tool's result and marks of sources.
    assert missing <= {
        "A page.",
        "In deep soil \ue200cite\ue202turn0search0\ue201with sun【3†source】.",
    }


def test_many_things_are_named_up_to_a_limit_and_counted(tmp_path: Path, user: User, client: Client) -> None:
    out = tmp_path / "x.zip"
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("conversations.json", json.dumps([claude() | {"name": "\x00<b>A\ud83d"}]))
        for number in range(MAX_NAMED + 1_234):
            archive.writestr(f"photos/{number}.jpg", b"")
    left = run_import(out, user)["left_behind"]
    assert left["member"]["count"] == MAX_NAMED + 1_234
    assert len(left["member"]["named"]) == MAX_NAMED
    client.force_login(user)
    page = client.get("/settings/import/").content.decode()
    assert "What was left behind" in page
    assert "photos/7.jpg" in page
    assert f"photos/{SHOWN_NAMES}.jpg" not in page
    assert f"and {MAX_NAMED + 1_234 - SHOWN_NAMES:,} more" in page
    assert "&lt;b&gt;A" in page
    assert "<b>A" not in page
