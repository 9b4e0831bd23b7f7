"""The versioned store on disk and on S3: versions, ownership, concurrent writers."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User

from coaching.files.drafts import MAX_CONTENT_CHARACTERS, FileDraft, build_draft
from coaching.files.errors import FileRefused
from coaching.files.selectors import read_file, read_versions
from coaching.files.store import StoredFile, restore_version
from coaching.models import FileSource, FileType, UserFile, UserFileVersion
from sessions_app.database import in_database
from tests.files.auditor import audit_files, stored_keys
from tests.files.storing import store_file

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Berlin")

in_a_database = pytest.mark.django_db(transaction=True)


def draft(content: str, file_type: FileType = FileType.OVERVIEW, *, name: str | None = None) -> FileDraft:
    return build_draft(file_type=file_type, file_name=name, content=content, now=NOW, timezone=ZONE)


async def store(user: User, written: FileDraft) -> StoredFile:
    return await store_file(user_id=user.pk, draft=written, source=FileSource.TOOL)


@in_a_database
async def test_every_write_makes_a_version_and_none_is_overwritten(each_storage: str, user: User) -> None:
    first = await store(user, draft("One"))
    second = await store(user, draft("Two"))
    assert (first.version, second.version) == (1, 2)
    assert second.path == "life-map/_overview.md"
    texts = await in_database(audit_files, user.pk)
    assert [text.splitlines()[-1] for text in texts[second.path]] == ["One", "Two"]
    newest = await in_database(read_file, user_id=user.pk, path=second.path)
    assert newest.text.endswith("Two\n")
    assert newest.version.source == FileSource.TOOL
    assert second.size == len(newest.text.encode())


@in_a_database
async def test_the_same_bytes_again_make_no_second_version(each_storage: str, user: User) -> None:
    first = await store(user, draft("One"))
    again = await store(user, draft("One"))
    assert (again.version, again.is_new_version, again.size) == (1, False, first.size)
    await store(user, draft("Two"))
    back = await store(user, draft("One"))
    assert (back.version, back.is_new_version) == (3, True)
    await in_database(audit_files, user.pk)


@pytest.mark.slow
@in_a_database
async def test_writers_at_once_lose_no_version(each_storage: str, user: User) -> None:
    written = [f"Version {number}" for number in range(16)]
    stored = await asyncio.gather(*(store(user, draft(content)) for content in written))
    assert sorted(one.version for one in stored) == list(range(1, 17))
    texts = await in_database(audit_files, user.pk)
    assert {text.splitlines()[-1] for text in texts["life-map/_overview.md"]} == set(written)


@in_a_database
async def test_captures_of_the_same_second_each_get_a_path(disk_storage: object, user: User) -> None:
    captures = [draft("The same thought", FileType.CAPTURE) for _ in range(9)]
    stored = await asyncio.gather(*(store(user, capture) for capture in captures))
    stem = "captures/2026-11-21-100000"
    assert {one.path for one in stored} == {f"{stem}.md"} | {f"{stem}-{n}.md" for n in range(2, 10)}
    assert all(one.is_new_version for one in stored)
    await in_database(audit_files, user.pk)


@in_a_database
async def test_the_same_path_of_two_people_is_two_files(
    disk_storage: object, user: User, other_user: User
) -> None:
    await asyncio.gather(store(user, draft("Mine")), store(other_user, draft("Theirs")))
    mine = await in_database(read_file, user_id=user.pk, path="life-map/_overview.md")
    theirs = await in_database(read_file, user_id=other_user.pk, path="life-map/_overview.md")
    assert (mine.text.splitlines()[-1], theirs.text.splitlines()[-1]) == ("Mine", "Theirs")


FOREIGN_PATHS = [
    "life-map/none.md",
    "",
    "../life-map/_overview.md",
    "a\x00b",
    "\ud800",
    "x" * 5000,
    "sage/context.md",
]


@in_a_database
async def test_a_missing_path_and_anothers_look_alike(
    disk_storage: object, user: User, other_user: User
) -> None:
    await store(other_user, draft("Theirs", FileType.SAGE_CONTEXT))
    for path in FOREIGN_PATHS:
        for read in (read_file, read_versions):
            with pytest.raises(UserFile.DoesNotExist) as missing:
                await in_database(read, user_id=user.pk, path=path)
            assert "Theirs" not in str(missing.value)
        with pytest.raises(UserFile.DoesNotExist):
            await in_database(restore_version, user_id=user.pk, path=path, number=1, now=NOW, timezone=ZONE)
    assert not await in_database(UserFile.of(user.pk).exists)


@in_a_database
async def test_an_older_version_comes_back_as_the_newest_one(each_storage: str, user: User) -> None:
    for content in ("One", "Two"):
        await store(user, draft(content))
    path = "life-map/_overview.md"
    later = NOW + timedelta(days=1)
    restored = await in_database(
        restore_version, user_id=user.pk, path=path, number=1, now=later, timezone=ZONE
    )
    assert restored.version == 3
    versions = await in_database(read_versions, user_id=user.pk, path=path)
    assert [(version.number, version.source) for version in versions] == [
        (3, "user"),
        (2, "tool"),
        (1, "tool"),
    ]
    texts = await in_database(audit_files, user.pk)
    assert texts[path][2] == texts[path][0]
    again = await in_database(restore_version, user_id=user.pk, path=path, number=3, now=later, timezone=ZONE)
    assert not again.is_new_version


@in_a_database
async def test_a_version_that_is_not_there_is_missing(disk_storage: object, user: User) -> None:
    path = (await store(user, draft("One"))).path
    for number in (0, -1, 2, 2**31, 2**80):
        with pytest.raises(UserFileVersion.DoesNotExist):
            await in_database(
                restore_version, user_id=user.pk, path=path, number=number, now=NOW, timezone=ZONE
            )


@in_a_database
async def test_a_text_of_the_greatest_length_is_stored_whole(each_storage: str, user: User) -> None:
    stored = await store(user, draft("ß" * MAX_CONTENT_CHARACTERS))
    assert stored.size > 2 * MAX_CONTENT_CHARACTERS
    await in_database(audit_files, user.pk)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x" * (MAX_CONTENT_CHARACTERS + 1), "100,001 characters; 100,000 is the most"),
        ("a\x00b", "character 2 is NUL"),
        ("ab\ud800", "character 3 is a lone surrogate"),
        ("", "empty"),
        (" \n\n", "empty"),
        ("---\nstatus: good\n---\n", "empty"),
    ],
)
def test_a_text_that_does_not_fit_is_refused_with_the_reason(content: str, message: str) -> None:
    with pytest.raises(FileRefused, match=message):
        draft(content)


@in_a_database
async def test_a_transaction_that_breaks_leaves_the_version_before(each_storage: str, user: User) -> None:
    await store(user, draft("One"))
    # There is no such session, so the version's row can't commit although its object is stored.
    with pytest.raises(Exception, match="foreign key"):
        await store_file(
            user_id=user.pk,
            draft=draft("Two"),
            source=FileSource.TOOL,
            session_id=UUID(int=0),
        )
    texts = await in_database(audit_files, user.pk)
    assert [text.splitlines()[-1] for text in texts["life-map/_overview.md"]] == ["One"]
    assert len(await in_database(stored_keys)) == 2
