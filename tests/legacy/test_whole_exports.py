"""Everything in an export is imported or listed by name; twice brings nothing; an undo leaves nothing."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from coaching.legacy.documents import FULL, HELD, IN_USE, OF_DELETED
from coaching.legacy.importers.branches import MAX_ANSWERS
from coaching.legacy.importers.members import MORE_MESSAGES
from coaching.legacy.importers.things import MAX_REFERENCES
from coaching.legacy.newer import DELETED
from coaching.library.clients import create_client
from coaching.library.documents.intake import destination_of, take_in
from coaching.models import ClientType, Document, Import, UserFile
from sessions_app.import_links import link
from sessions_app.models import Message, Session, Turn
from sessions_app.organising import delete_session, restore_session
from sessions_app.titles import rename_session
from tests.jobs.conftest import empty_queue
from tests.legacy.real_exports import (
    EXPORTS,
    chatgpt_2023,
    chatgpt_2024,
    chatgpt_2025,
    claude_2024,
    claude_2025,
    png,
    zipped,
)
from tests.legacy.test_import_command import run_import
from tests.legacy.test_undo import undo
from tests.legacy.whole import missing_of

pytestmark = pytest.mark.django_db(transaction=True)

NOTHING_NEW = ("sessions", "branches", "continued", "messages", "completed", "answers", "documents")


@pytest.fixture(autouse=True)
def _empty_queue() -> None:
    empty_queue()


def written(tmp_path: Path, members: Mapping[str, bytes]) -> Path:
    path = tmp_path / "export.zip"
    path.write_bytes(zipped(members))
    return path


def made(user: User) -> dict[str, int]:
    return {
        model.__name__: model.of(user.pk).count() for model in (Session, Turn, Message, Document, UserFile)
    }


@pytest.mark.parametrize("name", EXPORTS)
def test_everything_is_imported_or_named_and_once_and_can_be_undone(
    name: str, tmp_path: Path, user: User
) -> None:
    path = written(tmp_path, EXPORTS[name]())
    predicted = run_import(path, user, "--dry-run")
    assert not any(made(user).values())
    assert run_import(path, user) == predicted
    assert missing_of(path.read_bytes(), user) == []
    before = made(user)

    again = run_import(path, user)
    assert {key: again[key] for key in NOTHING_NEW} == dict.fromkeys(NOTHING_NEW, 0)
    assert made(user) == before

    rows = list(Import.of(user.pk).order_by("pk"))
    for row in reversed(rows):
        assert undo(user, row).kept == []
    assert not any(made(user).values())


def shown(session: Session) -> list[tuple[str, str]]:
    said = Message.within(session).filter(turn__is_withdrawn=False).order_by("number")
    return list(said.values_list("role", "content"))


def test_answers_that_were_asked_for_again_are_other_answers_and_edits_are_branches(
    tmp_path: Path, user: User
) -> None:
    counts = run_import(written(tmp_path, chatgpt_2023()), user)
    assert (counts["sessions"], counts["branches"], counts["messages"], counts["answers"]) == (1, 2, 8, 2)
    main = Session.of(user.pk).get(metadata__imported_id="c-2023")
    assert [text for _, text in shown(main)] == [
        "How do bees spend the winter?",
        "They cluster around the queen.",
        "What do they eat then?",
        "Their stored honey, slowly.",
    ]
    (other,) = Message.within(main).filter(turn__is_withdrawn=True)
    assert (other.content, other.turn.message_number) == ("They sleep, more or less.", 1)
    assert Turn.within(main).get(message_number=1, is_withdrawn=False).messages.count() == 2
    branches = Session.of(user.pk).filter(metadata__origin__branch_of="c-2023").order_by("started_at")
    assert [[text for _, text in shown(each)] for each in branches] == [
        ["How do wasps spend the winter?", "Only young queens survive it."],
        ["Do they need my help?", "Leave them in peace."],
    ]
    assert all(each.archived_at for each in branches)
    assert main.archived_at is None
    assert main.metadata["origin"] == {"model": "gpt-4"}


def test_a_branch_that_is_shown_in_a_newer_export_is_not_stored_twice(tmp_path: Path, user: User) -> None:
    members = chatgpt_2023()
    told: list[dict[str, Any]] = json.loads(members["conversations.json"])
    run_import(written(tmp_path, members), user)
    before = made(user)
    switched = [told[0] | {"current_node": "b5"}]
    again = run_import(
        written(tmp_path, {**members, "conversations.json": json.dumps(switched).encode()}), user
    )
    assert (again["branches"], again["messages"], again["answers"]) == (0, 0, 0)
    assert made(user) == before
    assert again["problems"] == []


def test_an_answer_that_is_shown_in_a_newer_export_becomes_another_answer(tmp_path: Path, user: User) -> None:
    members = chatgpt_2023()
    told: list[dict[str, Any]] = json.loads(members["conversations.json"])
    new = told[0]["mapping"]["a4"]
    del told[0]["mapping"]["a4"]
    older = {**members, "conversations.json": json.dumps(told).encode()}
    assert run_import(written(tmp_path, older), user)["answers"] == 1
    told[0]["mapping"]["a4"] = new
    told[0]["current_node"] = "a4"
    newer = {**members, "conversations.json": json.dumps(told).encode()}
    assert run_import(written(tmp_path, newer), user)["answers"] == 1
    assert Import.of(user.pk).latest("pk").problems == []
    main = Session.of(user.pk).get(metadata__imported_id="c-2023")
    assert shown(main)[1] == ("assistant", "They cluster around the queen.")
    assert Message.within(main).get(turn__is_withdrawn=True).content == "They sleep, more or less."
    delete_session(user_id=user.pk, session_id=main.pk)
    Session.deleted_of(user.pk).exclude(pk=main.pk).delete()
    assert run_import(written(tmp_path, members), user)["branches"] == 0
    assert [each["text"] for each in Import.of(user.pk).latest("pk").problems].count(DELETED) == 2


def test_a_new_answer_goes_to_the_branch_that_has_its_message(tmp_path: Path, user: User) -> None:
    members = chatgpt_2023()
    told: list[dict[str, Any]] = json.loads(members["conversations.json"])
    run_import(written(tmp_path, members), user)
    new = json.loads(json.dumps(told[0]["mapping"]["a6"]).replace('"a6"', '"a7"'))
    told[0]["mapping"]["a7"] = new
    told[0] |= {"current_node": "b5"}
    newer = written(tmp_path, {**members, "conversations.json": json.dumps(told).encode()})
    predicted = run_import(newer, user, "--dry-run")
    counts = run_import(newer, user)
    assert (counts["answers"], counts["branches"], counts["problems"]) == (1, 0, [])
    assert counts == predicted
    assert missing_of(newer.read_bytes(), user) == []


def documents(user: User) -> dict[str, Document]:
    return {each.name: each for each in Document.of(user.pk)}


def test_files_of_chatgpt_are_documents_at_their_messages(tmp_path: Path, user: User) -> None:
    counts = run_import(written(tmp_path, chatgpt_2024()), user)
    found = documents(user)
    assert found.keys() == {"boiler photo.png", "lease.pdf", "A warm boiler.webp", "notes.txt"}
    session = Session.of(user.pk).get()
    asked = Message.within(session).get(content__startswith="(An image)\n\nIs this a leak?")
    assert asked.metadata["documents"] == [found["boiler photo.png"].pk, found["lease.pdf"].pk]
    drawn = Message.within(session).get(content__startswith="(An image)\n\nA warm boiler. It hums")
    assert drawn.role == "assistant"
    assert len(drawn.metadata["documents"]) == 1
    assert {each.session_id for each in found.values() if each.name != "notes.txt"} == {session.pk}
    assert found["notes.txt"].session_id is None
    named = counts["left_behind"]["file"]["named"]
    assert [(each["name"], each["why"]) for each in named] == [("missing.pdf", "It isn’t in this export.")]


def test_names_of_newer_files_are_known_and_recordings_are_named(tmp_path: Path, user: User) -> None:
    counts = run_import(written(tmp_path, chatgpt_2025()), user)
    assert {each.name for each in Document.of(user.pk)} == {"plan.md", "Race poster.png"}
    (voice,) = counts["left_behind"]["voice"]["named"]
    assert voice["where"] == "Running again"
    assert "recordings" in voice["why"]


def test_documents_of_claudes_projects_and_what_is_too_long_for_the_proposal_are_in_the_library(
    tmp_path: Path, user: User
) -> None:
    run_import(written(tmp_path, claude_2024()), user)
    found = documents(user)
    assert found.keys() == {"house rules.md", "lease.pdf.txt"}
    assert {each.import_project for each in found.values()} == {"The flat"}
    assert Session.of(user.pk).get().metadata["origin"] == {"model": "claude-3-opus", "project": "The flat"}
    run_import(written(tmp_path, claude_2025()), user)
    assert "Custom instructions – Nights.md" in documents(user)


def test_the_same_bytes_are_one_document_and_ones_own_stays_after_an_undo(tmp_path: Path, user: User) -> None:
    own = take_in(
        user_id=user.pk,
        name="mine.pdf",
        data=chatgpt_2024()["file-Lease001-lease.pdf"],
        destination=destination_of(user_id=user.pk),
    )
    members = {**chatgpt_2024(), "file-Copy0001-copy.txt": b"Nobody names this file."}
    counts = run_import(written(tmp_path, members), user)
    assert counts["documents"] == 3
    assert "lease.pdf" not in documents(user)
    asked = Message.of(user.pk).get(content__contains="Is this a leak?")
    assert own.pk in asked.metadata["documents"]
    assert undo(user).kept == []
    assert [each.pk for each in Document.of(user.pk)] == [own.pk]


def test_a_clients_document_with_the_same_bytes_is_not_taken_for_ones_own(tmp_path: Path, user: User) -> None:
    client = create_client(user_id=user.pk, name="Bergmann", client_type=ClientType.COMPANY)
    theirs = take_in(
        user_id=user.pk,
        name="theirs.pdf",
        data=chatgpt_2024()["file-Lease001-lease.pdf"],
        destination=destination_of(user_id=user.pk, client_id=client.pk),
    )
    run_import(written(tmp_path, chatgpt_2024()), user)
    asked = Message.of(user.pk).get(content__contains="Is this a leak?")
    assert theirs.pk not in asked.metadata["documents"]
    assert "lease.pdf" in documents(user)


def test_a_document_that_another_import_names_goes_with_that_one(tmp_path: Path, user: User) -> None:
    run_import(written(tmp_path, chatgpt_2024()), user)
    first = Import.of(user.pk).get()
    told: list[dict[str, Any]] = json.loads(chatgpt_2024()["conversations.json"])
    told[0] |= {"conversation_id": "c-other"}
    run_import(written(tmp_path, {**chatgpt_2024(), "conversations.json": json.dumps(told).encode()}), user)
    assert Document.of(user.pk).count() == 4
    assert {(each["name"], each["text"]) for each in undo(user, first).kept} == {
        (name, HELD) for name in ("boiler photo.png", "lease.pdf", "A warm boiler.webp", "notes.txt")
    }
    assert documents(user).keys() >= {"boiler photo.png", "lease.pdf", "notes.txt"}
    assert undo(user, Import.of(user.pk).exclude(pk=first.pk).get()).kept == []
    assert not Document.of(user.pk).exists()


def test_documents_of_a_conversation_that_stays_stay_and_those_of_a_deleted_one_go(
    tmp_path: Path, user: User
) -> None:
    run_import(written(tmp_path, chatgpt_2024()), user)
    session = Session.of(user.pk).get()
    rename_session(user_id=user.pk, session_id=session.pk, title="Mine")
    row = undo(user)
    assert {(each["name"], each["text"]) for each in row.kept if "document" in each} == {
        (name, IN_USE) for name in ("boiler photo.png", "lease.pdf", "A warm boiler.webp")
    }
    assert documents(user).keys() == {"boiler photo.png", "lease.pdf", "A warm boiler.webp"}
    Document.of(user.pk).delete()
    session.delete()
    run_import(written(tmp_path, chatgpt_2024()), user)
    delete_session(user_id=user.pk, session_id=Session.of(user.pk).get().pk)
    assert undo(user, Import.of(user.pk).latest("pk")).kept == []
    assert not Document.of(user.pk).exists()


def test_documents_of_a_project_that_two_imports_have_go_with_the_last(tmp_path: Path, user: User) -> None:
    for _ in range(2):
        run_import(written(tmp_path, claude_2024()), user)
    first, second = Import.of(user.pk).order_by("pk")
    undo(user, first)
    assert "house rules.md" in documents(user)
    undo(user, second)
    assert not Document.of(user.pk).exists()


def test_what_finds_no_place_is_named_once_and_so_are_older_notes_projects_and_pictures_of_a_result(
    tmp_path: Path, user: User
) -> None:
    (told,) = json.loads(chatgpt_2023()["conversations.json"])
    mapping = told["mapping"]
    for number in range(MAX_ANSWERS + 1):
        mapping[f"x{number}"] = json.loads(json.dumps(mapping["a6"]).replace('"a6"', f'"x{number}"'))
    picture = {"messages": [{"message_type": "image", "image_url": "file-service://file-Chart001"}]}
    mapping["a6"]["message"]["metadata"] |= {"aggregate_result": picture}
    told["gizmo_id"] = "g-p-12"
    older = json.loads(json.dumps(told).replace("keep bees", "kept bees").replace("c-2023", "c-2022"))
    older["create_time"] -= 1_000
    members = {"conversations.json": json.dumps([told, older]).encode(), "file-Chart001-chart.png": png(3)}
    left = run_import(written(tmp_path, members), user)["left_behind"]
    assert {kind: left[kind]["count"] for kind in ("branch", "instructions")} == {
        "branch": 2,
        "instructions": 1,
    }
    assert "message" not in left
    assert "chart.png" in documents(user)
    assert Session.of(user.pk).get(metadata__imported_id="c-2023").metadata["origin"]["project"] == "g-p-12"


def test_files_of_a_conversation_that_was_just_deleted_do_not_come_back(tmp_path: Path, user: User) -> None:
    path = written(tmp_path, chatgpt_2024())
    run_import(path, user)
    Document.of(user.pk).delete()
    session = Session.of(user.pk).get()
    delete_session(user_id=user.pk, session_id=session.pk)
    counts = run_import(path, user)
    assert documents(user).keys() == {"notes.txt"}
    left = [each for kind in ("picture", "file") for each in counts["left_behind"][kind]["named"]]
    assert {each["name"] for each in left if each["why"] == OF_DELETED} == {
        "boiler photo.png", "lease.pdf", "A warm boiler.webp",
    }  # fmt: skip
    restore_session(user_id=user.pk, session_id=session.pk)
    assert run_import(path, user)["documents"] == 3


def test_messages_beyond_those_that_can_refer_to_a_file_are_named(tmp_path: Path, user: User) -> None:
    (told,) = json.loads(chatgpt_2023()["conversations.json"])
    file = {"attachments": [{"id": "file-All00001", "name": "all.txt"}]}
    for number in range(MAX_REFERENCES + 3):
        node = json.loads(json.dumps(told["mapping"]["b1"]).replace('"b1"', f'"x{number}"'))
        node["message"]["metadata"] = file
        told["mapping"][f"x{number}"] = node | {"parent": f"x{number - 1}" if number else "a6"}
    told["current_node"] = f"x{MAX_REFERENCES + 2}"
    members = {"conversations.json": json.dumps([told]).encode(), "file-All00001-all.txt": b"For all."}
    counts = run_import(written(tmp_path, members), user)
    assert Message.of(user.pk).filter(metadata__has_key="documents").count() == MAX_REFERENCES
    (named,) = counts["left_behind"]["file"]["named"]
    assert (named["name"], named["count"], named["why"]) == ("all.txt", 3, MORE_MESSAGES)


def test_other_branches_are_deleted_and_restored_with_their_conversation(tmp_path: Path, user: User) -> None:
    run_import(written(tmp_path, chatgpt_2023()), user)
    main = Session.of(user.pk).get(metadata__imported_id="c-2023")
    own = Session.of(user.pk).exclude(pk=main.pk).earliest("started_at")
    Session.of(user.pk).filter(pk=own.pk).update(last_message_number=own.last_message_number + 1)
    delete_session(user_id=user.pk, session_id=main.pk)
    assert list(Session.of(user.pk)) == [own]
    restore_session(user_id=user.pk, session_id=main.pk)
    assert Session.of(user.pk).count() == 3


def test_a_message_has_as_many_documents_as_can_be_sent_again(tmp_path: Path, user: User) -> None:
    (told,) = json.loads(chatgpt_2023()["conversations.json"])
    files = {f"file-Many{number:04}": b"%d" % number for number in range(11)}
    told["mapping"]["a2"]["message"]["metadata"]["attachments"] = [{"id": key, "name": key} for key in files]
    run_import(written(tmp_path, {"conversations.json": json.dumps([told]).encode(), **files}), user)
    asked = Message.of(user.pk).get(metadata__has_key="documents")
    assert (len(asked.metadata["documents"]), Document.of(user.pk).count()) == (10, 11)
    assert FULL in [each["text"] for each in Import.of(user.pk).get().problems]


def test_a_link_waits_for_who_changes_its_message_and_keeps_what_they_wrote(
    tmp_path: Path, user: User
) -> None:
    run_import(written(tmp_path, chatgpt_2023()), user)
    row = Message.of(user.pk).get(metadata__imported_id="a2")
    import_id = Import.of(user.pk).get().pk
    at = [("c-2023", "a2")]

    def link_it() -> None:
        link(user_id=user.pk, import_id=import_id, document_id=7, messages=at)
        connection.close()

    thread = Thread(target=link_it)
    with transaction.atomic():
        Session.of(user.pk).select_for_update().get(pk=row.session_id)
        thread.start()
        time.sleep(0.3)
        Message.of(user.pk).filter(pk=row.pk).update(metadata={**row.metadata, "kept": True})
    thread.join()
    row.refresh_from_db()
    assert (row.metadata["documents"], row.metadata["kept"]) == ([7], True)
