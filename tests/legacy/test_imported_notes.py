"""What another app knew about a person is proposed for Sage's page about them, and never written unasked."""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from coaching.files.drafts import build_draft
from coaching.files.selectors import read_file
from coaching.files.store import store_edit
from coaching.legacy.about import MAX_TEXT_CHARACTERS, PAGE, PROPOSED, text_of_proposal
from coaching.legacy.importers import reader
from coaching.legacy.importers.about import MAX_NOTES_CHARACTERS, FoundNote
from coaching.legacy.importers.assembly import Assembly
from coaching.legacy.importers.bounded import TOO_DEEP
from coaching.legacy.importers.left import LeftBehind
from coaching.legacy.importers.things import Format, FoundDocument, Problem, Thing, UnknownFields
from coaching.legacy.importers.wire import decode
from coaching.legacy.undoing import ADDED_BY_YOU
from coaching.models import FileSource, FileType, Import, UserFile
from tests.legacy.exports import chatgpt_conversation, chatgpt_node, claude_conversation
from tests.legacy.test_import_command import run_import
from tests.legacy.test_undo import undo

UTC_ZONE = ZoneInfo("UTC")
PROJECT = {
    "uuid": "p-1",
    "name": "Thesis",
    "description": "About bees.",
    "prompt_template": "Always cite.",
    "docs": [{"uuid": "d", "filename": "outline.md", "content": "1. Bees"}],
}
MEMORY = {
    "conversations_memory": "**Work**\n\nAda keeps bees.",
    "project_memories": {"p-1": "The thesis is about bees.", "p-2": " "},
    "account_uuid": "a-1",
}


def chatgpt(key: str, *, about: str, memories: str, day: int) -> dict[str, Any]:
    """Return a conversation that began with what ChatGPT knew then."""
    made = chatgpt_conversation()
    about_node = chatgpt_node("about", "system", "user", kind="user_editable_context", children=("known",))
    about_node["about"]["message"]["metadata"] |= {
        "is_visually_hidden_from_conversation": True,
        "user_context_message_data": {"about_user_message": about, "about_model_message": "Be brief."},
    }
    known = chatgpt_node("known", "about", "assistant", kind="model_editable_context", children=("new",))
    known["known"]["message"]["content"] |= {"model_set_context": memories}
    made["mapping"] |= about_node
    made["mapping"] |= known
    made["mapping"]["new"]["parent"] = "known"
    return made | {"conversation_id": key, "id": key, "create_time": made["create_time"] + 86_400 * day}


def claude_zip(*, memories: Any = (MEMORY,), **members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([claude_conversation()]))
        archive.writestr("memories.json", json.dumps(memories))
        archive.writestr("projects.json", json.dumps([PROJECT]))
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_json", ".json"), data)
    return out.getvalue()


def sent(data: bytes, read_as: Format) -> Sequence[Thing]:
    assembly = Assembly(1 << 20)
    frames = map(decode, reader.answers(reader.request(read_as=read_as), io.BytesIO(data)))
    return [thing for frame in frames for thing in assembly.take(frame.found)]


def notes(things: Sequence[Thing]) -> dict[tuple[str, str], str]:
    return {(thing.kind, thing.project): thing.text for thing in things if isinstance(thing, FoundNote)}


def files(things: Sequence[Thing]) -> dict[tuple[str, str], bytes]:
    return {(thing.name, thing.project): thing.data for thing in things if isinstance(thing, FoundDocument)}


def left(things: Sequence[Thing]) -> set[tuple[str, str, str]]:
    found = {(thing.kind, thing.name, thing.where) for thing in things if isinstance(thing, LeftBehind)}
    return {each for each in found if each[0] in ("member", "file", "instructions")}


def test_the_newest_instructions_and_memories_of_chatgpt_are_found() -> None:
    export = [
        chatgpt("c-2", about="I keep bees.", memories="1. Has bees.\n2. Likes tea.", day=2),
        chatgpt("c-1", about="I keep cats.", memories="1. Has cats.", day=1),
    ]
    assert notes(sent(json.dumps(export).encode(), "chatgpt")) == {
        ("instructions", ""): "I keep bees.\n\nBe brief.",
        ("memories", ""): "1. Has bees.\n2. Likes tea.",
    }


def test_claudes_memories_and_the_instructions_of_projects_are_found() -> None:
    garden = {"name": "Garden", "prompt_template": "Speak of soil.", "mood": 1}
    things = sent(claude_zip(projects__g_json=json.dumps(garden).encode(), users_json=b"[]"), "claude")
    assert notes(things) == {
        ("memories", ""): "**Work**\n\nAda keeps bees.",
        ("memories", "Thesis"): "The thesis is about bees.",
        ("instructions", "Thesis"): "About bees.\n\nAlways cite.",
        ("instructions", "Garden"): "Speak of soil.",
    }
    assert left(things) == {("member", "users.json", "")}
    assert files(things) == {("outline.md", "Thesis"): b"1. Bees"}
    assert UnknownFields(names=frozenset({"about you[].mood"})) in things


@pytest.mark.parametrize(
    "damaged", [b"[", b"{", b"", b"[" * 5_000, b"\xff\xfe[", b'{"conversations_memory": 5}x']
)
def test_what_is_damaged_there_is_named_and_stops_nothing(damaged: bytes) -> None:
    things = sent(claude_zip(memories_copy_json=damaged), "claude")
    assert ("member", "memories_copy.json", "") in left(things)
    assert ("memories", "") in notes(things)


def test_a_project_that_is_too_large_or_nested_too_deeply_is_named() -> None:
    deep = b"[" + b"[" * 5_000 + b"]" * 5_000 + b', {"name": "Garden", "prompt_template": "Speak of soil."}]'
    things = sent(claude_zip(projects__g_json=deep), "claude")
    assert Problem(where="projects/g.json, line 1, [0]", text=TOO_DEEP.reason) in things
    assert notes(things)["instructions", "Garden"] == "Speak of soil."


def test_notes_that_do_not_fit_on_a_page_become_a_document() -> None:
    long = MEMORY | {"project_memories": {"p-1": "x" * MAX_NOTES_CHARACTERS}}
    things = sent(claude_zip(memories=[long]), "claude")
    assert ("memories", "Thesis") not in notes(things)
    assert files(things)["Memories – Thesis.md", "Thesis"] == b"x" * MAX_NOTES_CHARACTERS


ADDRESS = "/settings/import/"


def page_about(user: User) -> str:
    file = UserFile.of(user.pk).filter(path=PAGE).first()
    return read_file(user_id=user.pk, path=PAGE).text if file else ""


@pytest.fixture
def signed_in(client: Client, user: User, tmp_path: Path) -> Client:
    """Return a client of somebody who has imported what Claude knew about them."""
    path = tmp_path / "claude.zip"
    path.write_bytes(claude_zip())
    run_import(path, user)
    client.force_login(user)
    return client


def answer(client: Client, user: User, **given: str) -> Any:
    row = Import.of(user.pk).latest("created_at")
    return client.post(f"{ADDRESS}{row.pk}/about/", given)


@pytest.mark.django_db(transaction=True)
def test_nothing_is_written_until_its_person_says_yes(signed_in: Client, user: User) -> None:
    row = Import.of(user.pk).get()
    assert (row.about["state"], len(row.about["notes"])) == (PROPOSED, 3)
    assert page_about(user) == ""
    shown = signed_in.get(ADDRESS).content.decode()
    assert "What Claude knew about you" in shown
    assert "### Memories of the project “Thesis”\n\nThe thesis is about bees." in shown
    text = text_of_proposal(row).replace("Ada keeps bees.", "I keep bees.")
    assert answer(signed_in, user, answer="add", text=text.replace("\n", "\r\n")).status_code == 302
    assert "## From Claude, imported on " in page_about(user)
    assert "I keep bees." in page_about(user)
    assert UserFile.of(user.pk).get(path=PAGE).versions.get().source == FileSource.USER
    assert "To add to Sage" not in signed_in.get(ADDRESS).content.decode()
    # A second yes adds nothing, and loses nothing that was typed.
    again = answer(signed_in, user, answer="add", text="Twice.")
    assert (again.status_code, "Twice." in again.content.decode()) == (422, True)
    assert "Twice." not in page_about(user)


@pytest.mark.django_db(transaction=True)
def test_it_is_added_below_what_the_page_says(signed_in: Client, user: User) -> None:
    draft = build_draft(
        file_type=FileType.SAGE_CONTEXT, content="I live in Lisbon.", now=timezone.now(), timezone=UTC_ZONE
    )
    store_edit(user_id=user.pk, draft=draft, expected_version=0)
    answer(signed_in, user, answer="add", text="I keep bees.")
    assert page_about(user).rstrip().endswith("I live in Lisbon.\n\nI keep bees.")
    assert UserFile.of(user.pk).get(path=PAGE).version_number == 2
    kept = undo(user, Import.of(user.pk).get()).kept
    assert kept == [{"path": PAGE, "text": ADDED_BY_YOU}]


@pytest.mark.django_db(transaction=True)
def test_importing_again_proposes_only_what_is_new(signed_in: Client, user: User, tmp_path: Path) -> None:
    path = tmp_path / "claude.zip"
    run_import(path, user)
    assert Import.of(user.pk).latest("created_at").about == {}
    path.write_bytes(claude_zip(memories=[MEMORY | {"conversations_memory": "Ada keeps goats."}]))
    run_import(path, user)
    row = Import.of(user.pk).latest("created_at")
    assert [note["text"] for note in row.about["notes"]] == ["Ada keeps goats."]
    assert answer(signed_in, user, answer="dismiss").status_code == 302
    assert page_about(user) == ""
    assert undo(user, row).about == {}


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_added_stays_on_the_page_with_the_reason(signed_in: Client, user: User) -> None:
    for text, sentence in (("  ", "nothing to add"), ("x" * (MAX_TEXT_CHARACTERS + 1), "too long")):
        response = answer(signed_in, user, answer="add", text=text)
        assert response.status_code == 422
        assert sentence in response.content.decode()
        assert text in response.content.decode()
    assert page_about(user) == ""
