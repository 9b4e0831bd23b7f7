"""The independent reader of exports notices what is missing, in another role or order, or doubled."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db.models import F

from coaching.library.documents.filing import delete_document
from coaching.models import Document, Import
from sessions_app.models import Message, Session
from tests.jobs.conftest import empty_queue
from tests.legacy.real_exports import EXPORTS, zipped
from tests.legacy.test_import_command import run_import
from tests.legacy.whole import added_to, missing_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def message(user: User, key: str) -> Message:
    return Message.of(user.pk).get(metadata__imported_id=key)


def change_a_word(user: User) -> None:
    Message.of(user.pk).filter(metadata__imported_id="m5").update(content="It looks like condensations.")


def change_a_role(user: User) -> None:
    Message.of(user.pk).filter(metadata__imported_id="m7").update(role="user")


def change_the_order(user: User) -> None:
    Message.of(user.pk).filter(metadata__imported_id="m2").update(number=F("number") + 100)


def double_a_message(user: User) -> None:
    row = message(user, "m5")
    row.pk, row.client_id, row.number = None, "imported:twice", row.number + 200
    row.turn = row.session.turns.create(status="completed", ended_at=row.created_at)
    row.save(force_insert=True)


def forget_a_file(user: User) -> None:
    delete_document(user_id=user.pk, document_id=Document.of(user.pk).get(name="notes.txt").pk)


def unlink_a_file(user: User) -> None:
    row = message(user, "m9")
    del row.metadata["documents"]
    row.save()


def forget_names(kind: str) -> Callable[[User], None]:
    def forget(user: User) -> None:
        row = Import.of(user.pk).get()
        del row.left_behind[kind]
        row.save()

    return forget


def forget_origins(user: User) -> None:
    Session.of(user.pk).update(metadata={"imported_id": Session.of(user.pk).get().metadata["imported_id"]})


DAMAGE: Mapping[str, Mapping[str, Callable[[User], None]]] = {
    "chatgpt_2024": {
        "c-2024/m5.content.parts.0: It looks like condensation【4†source】.": change_a_word,
        "c-2024/m7 is stored as the user’s": change_a_role,
        "c-2024/m5 doesn’t follow m2": change_the_order,
        "c-2024/m5 is stored 2 times": double_a_message,
        "file-Stray001-notes.txt": forget_a_file,
        "c-2024/m9.content.parts.0.asset_pointer: file-service://file-Drawn001": unlink_a_file,
        "c-2024/m4.content.parts.0: A page about boilers.": forget_names("tool"),
        "c-2024/m5.metadata.citations.0.metadata.title: Boilers explained": forget_names("source"),
        "chat.html": forget_names("member"),
        "c-2024/m5.metadata.model_slug: gpt-4o": forget_origins,
    },
    "chatgpt_2025": {
        "c-2025/r4.metadata.targeted_reply: with ten minutes": forget_names("metadata"),
        "c-2025/r2.content.thoughts.0.summary: Thinking about knees": forget_names("thinking"),
        "c-2025/audio/file_00000000sound-12.wav": forget_names("voice"),
    },
    "claude_2025": {
        "k-2025/s5.content.3.content.0.text: File created successfully.": forget_names("tool"),
        "k-2025.summary: They talked about sleep.": forget_names("summary"),
    },
}
"""By export: what is said to be missing after which damage, one after the other."""


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_noticed(name: str, tmp_path: Path, user: User) -> None:
    empty_queue()
    path = tmp_path / "export.zip"
    path.write_bytes(zipped(EXPORTS[name]()))
    run_import(path, user)
    assert missing_of(path.read_bytes(), user) == []
    for found, damage in DAMAGE[name].items():
        assert found not in missing_of(path.read_bytes(), user)
        damage(user)
        assert found in missing_of(path.read_bytes(), user)


def test_a_message_that_no_export_has_is_noticed(tmp_path: Path, user: User) -> None:
    empty_queue()
    path = tmp_path / "export.zip"
    path.write_bytes(zipped(EXPORTS["claude_2025"]()))
    run_import(path, user)
    assert added_to([path.read_bytes()], user) == []
    rename_a_message(user)
    assert added_to([path.read_bytes()], user) == ["k-2025/nobody"]


def rename_a_message(user: User) -> None:
    row = Message.of(user.pk).order_by("number").last()
    assert row is not None
    row.metadata["imported_id"] = "nobody"
    row.save()
