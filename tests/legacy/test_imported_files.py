"""Files of a ZIP are taken within limits, whatever the ZIP says of them, and named where they aren't."""

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coaching.legacy import documents
from coaching.legacy.importers import members
from coaching.legacy.importers.left import NOT_IN_EXPORT
from coaching.library.documents.filing import rename_document
from coaching.models import Document, Import, LibraryEffect, MadeBy
from coaching.sandbox.limits import MEGABYTE
from sessions_app.models import Message, Session
from tests.jobs.conftest import empty_queue
from tests.legacy.real_exports import chatgpt_2024, png, zipped
from tests.legacy.test_import_command import run_import
from tests.legacy.test_undo import undo

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty_queue() -> None:
    empty_queue()


def imported(tmp_path: Path, user: User, data: bytes) -> dict[str, Any]:
    path = tmp_path / "export.zip"
    path.write_bytes(data)
    return run_import(path, user)


def export(**files: bytes) -> dict[str, bytes]:
    conversations = chatgpt_2024()["conversations.json"]
    return {"conversations.json": conversations} | {
        f"file-{key}-{key.lower()}.txt": data for key, data in files.items()
    }


def reasons(counts: Mapping[str, Any]) -> dict[str, str]:
    return {
        each["name"]: each["why"]
        for group in counts["left_behind"].values()
        for each in group["named"]
        if each["why"] not in ("", NOT_IN_EXPORT)
    }


def names(user: User) -> set[str]:
    return set(Document.of(user.pk).values_list("name", flat=True))


def test_what_is_too_large_empty_or_a_recording_is_named_with_the_reason(
    tmp_path: Path, user: User, settings: Any
) -> None:
    settings.SAGE_MAX_UPLOAD_MB = 1
    large = b"words " * 200_000
    counts = imported(
        tmp_path, user, zipped(export(Large001=large, Empty001=b"", Song0001=b"ID3\x04", Fine0001=b"Fine."))
    )
    assert reasons(counts) == {
        "large001.txt": members.TOO_LARGE,
        "empty001.txt": members.EMPTY,
        "song0001.txt": members.RECORDING,
    }
    assert names(user) == {"fine0001.txt"}


def test_a_zip_that_lies_about_a_file_names_it_and_goes_on(tmp_path: Path, user: User) -> None:
    data = bytearray(zipped(export(Lies0001=b"x" * 4_000, Fine0001=b"Fine.")))
    at = data.rindex(b"file-Lies0001") - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    struct.pack_into("<I", data, at + 24, 3)
    assert reasons(imported(tmp_path, user, bytes(data))) == {"lies0001.txt": members.DAMAGED}
    assert names(user) == {"fine0001.txt"}
    # One that claims to be larger is read as far as it goes.
    struct.pack_into("<I", data, at + 24, 2**31 - 1)
    assert reasons(imported(tmp_path, user, bytes(data))) == {}
    assert Document.of(user.pk).get(name="lies0001.txt").size == 4_000


def odd_members() -> bytes:
    """Return a ZIP with a member whose bytes aren't bzip2, and one that begins far behind the ZIP's end."""
    data = bytearray(zipped(export(Bzip0001=b"x" * 90, Away0001=b"y" * 90, Fine0001=b"Fine.")))
    for at in (data.index(b"file-Bzip0001") - 30 + 8, data.rindex(b"file-Bzip0001") - 46 + 10):
        struct.pack_into("<H", data, at, zipfile.ZIP_BZIP2)
    at, name = data.rindex(b"file-Away0001") - 46, b"file-Away0001-away0001.txt"
    struct.pack_into("<H", data, at + 30, 12)
    struct.pack_into("<L", data, at + 42, 0xFFFFFFFF)
    data[at + 46 + len(name) : at + 46 + len(name)] = struct.pack("<HHQ", 1, 8, 1 << 63)
    struct.pack_into("<L", data, len(data) - 22 + 12, struct.unpack_from("<L", data, len(data) - 10)[0] + 12)
    return bytes(data)


def test_odd_members_of_a_zip_are_named_and_the_rest_is_imported(tmp_path: Path, user: User) -> None:
    counts = imported(tmp_path, user, odd_members())
    assert reasons(counts) == {"bzip0001.txt": members.DAMAGED, "away0001.txt": members.DAMAGED}
    assert (counts["sessions"], names(user)) == (1, {"fine0001.txt"})


def test_thousands_of_files_are_taken_up_to_a_limit_and_the_others_by_importing_again(
    tmp_path: Path, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_NEW", 3)
    data = zipped(export(**{f"Many{number:04}": b"%d" % number for number in range(5)}))
    counts = imported(tmp_path, user, data)
    assert (counts["documents"], set(reasons(counts).values())) == (3, {documents.TOO_MANY})
    counts = imported(tmp_path, user, data)
    assert (counts["documents"], reasons(counts)) == (2, {})
    assert len(names(user)) == 5


def test_files_take_half_of_the_room_and_the_others_are_named(
    tmp_path: Path, user: User, settings: Any
) -> None:
    settings.SAGE_MAX_FILES = 2
    path = tmp_path / "export.zip"
    path.write_bytes(zipped(export(One00001=b"One.", Two00001=b"Two.")))
    predicted = run_import(path, user, "--dry-run")
    counts = run_import(path, user)
    assert counts == predicted
    assert reasons(counts) == {"two00001.txt": documents.NO_ROOM}
    settings.SAGE_MAX_FILES, settings.SAGE_MAX_FILES_MB = 9, 10 / MEGABYTE
    assert run_import(path, user)["documents"] == 0, "8 bytes are more than half of 10"


def test_names_in_a_zip_are_only_shown(tmp_path: Path, user: User) -> None:
    files = {"user-x/../../etc/file-Deep0001-\x1bpasswd": b"x", "file-Twin0001-a.txt": b"y"}
    out = io.BytesIO(zipped(export() | files))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(out, "a") as archive:
        archive.writestr("file-Twin0001-a.txt", b"z")
    imported(tmp_path, user, out.getvalue())
    assert names(user) == {"passwd", "a.txt"}
    (session,) = Session.of(user.pk)
    assert all("Deep0001" not in str(row.metadata) for row in Message.within(session))


def test_a_document_that_its_person_changed_stays_after_an_undo_and_is_named(
    tmp_path: Path, user: User, client: Client
) -> None:
    imported(tmp_path, user, zipped(export(Kept0001=b"Kept.", Gone0001=b"Gone.")))
    kept = Document.of(user.pk).get(name="kept0001.txt")
    rename_document(user_id=user.pk, document_id=kept.pk, name="Mine.txt")
    assert LibraryEffect.of(user.pk).filter(made_by=MadeBy.USER).exists()
    row = undo(user, Import.of(user.pk).get())
    assert row.kept == [{"document": str(kept.pk), "name": "Mine.txt", "text": documents.CHANGED}]
    assert names(user) == {"Mine.txt"}
    client.force_login(user)
    assert f'href="/library/documents/{kept.pk}/"' in client.get("/settings/import/").content.decode()


def test_files_are_shown_at_their_messages_and_say_where_they_come_from(
    tmp_path: Path, user: User, client: Client
) -> None:
    members_of = dict(chatgpt_2024())
    told = json.loads(members_of["conversations.json"])
    again = {**told[0]["mapping"]["m5"], "id": "again"}
    again["message"] = {**again["message"], "id": "again", "content": {
        "content_type": "multimodal_text",
        "parts": ["Look here.", {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Again001"}],
    }}  # fmt: skip
    told[0]["mapping"]["again"] = again
    members_of |= {"conversations.json": json.dumps(told).encode(), "file-Again001-look.png": png(9)}
    imported(tmp_path, user, zipped(members_of))
    client.force_login(user)
    session = Session.of(user.pk).get()
    page = client.get(f"/chat/{session.pk}/").content.decode()
    at = {name: page.index(f">{name}<") for name in ("boiler photo.png", "lease.pdf", "A warm boiler.webp")}
    assert at["lease.pdf"] < page.index("It looks like condensation.") < at["A warm boiler.webp"]
    assert "Model: gpt-4o." in page
    other = session.turns.get(is_withdrawn=True)
    assert ">look.png<" in client.get(f"/chat/{session.pk}/answers/{other.pk}/").content.decode()
    document = Document.of(user.pk).get(name="lease.pdf")
    shown = client.get(f"/library/documents/{document.pk}/").content.decode()
    assert "From your ChatGPT export, imported on " in shown
    assert f'href="/chat/{session.pk}/">a conversation' in shown
