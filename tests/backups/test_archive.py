"""An archive is read whole or not at all, whatever became of it."""

import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sage.backups.archive import (
    BLOCK,
    HEAD,
    REPORT,
    SUMS,
    ArchiveWriter,
    header,
    read_archive,
)
from sage.backups.contents import examine
from sage.backups.encryption import CHUNK_BYTES, MAGIC, TAG_BYTES
from sage.backups.errors import ArchiveDamaged, BackupError
from tests.thoroughness import sample

KEY = bytes(range(32))
CONTENTS = {
    "database/000000000": os.urandom(2 * CHUNK_BYTES + 77),
    "objects/users/1/0f": b"",
    "objects/users/2/aa": b"x" * BLOCK,
}


def made(key: bytes | None = None) -> bytes:
    file = io.BytesIO()
    writer = ArchiveWriter(file, key=key)
    writer.add_json(HEAD, {"format": 1})
    for name, data in CONTENTS.items():
        writer.add(name, len(data), [data[:5], data[5:]])
    writer.add_json(REPORT, {})
    writer.finish()
    return file.getvalue()


def read(archive: bytes, key: bytes | None = None) -> dict[str, bytes]:
    members = read_archive(io.BytesIO(archive), key=key)
    return {member.name: b"".join(member.pieces()) for member in members}


def assert_is_refused(archive: bytes, key: bytes | None = None) -> None:
    with pytest.raises(BackupError):
        read(archive, key)


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_what_was_written_is_read(key: bytes | None) -> None:
    found = read(made(key), key)
    assert {name: found[name] for name in CONTENTS} == CONTENTS


def test_other_programs_read_a_plain_archive() -> None:
    with tarfile.open(fileobj=io.BytesIO(made())) as archive:
        assert [member.name for member in archive][1:4] == list(CONTENTS)
        found = archive.extractfile("database/000000000")
        assert found is not None
        assert found.read() == CONTENTS["database/000000000"]


def test_no_plain_text_is_in_an_encrypted_archive() -> None:
    archive = made(KEY)
    assert b"database" not in archive
    assert made(KEY) != archive  # another salt each time


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_a_cut_archive_is_refused(key: bytes | None) -> None:
    archive = made(key)
    borders = [len(MAGIC), len(MAGIC) + 32, *range(0, len(archive), CHUNK_BYTES + TAG_BYTES)]
    borders += range(0, len(archive), BLOCK)
    for length in sample(sorted({near for at in borders for near in (at - 1, at, at + 1)}), of_each=16):
        if 0 <= length < len(archive):
            assert_is_refused(archive[:length], key)
    assert_is_refused(archive[:-1], key)


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_a_flipped_bit_is_refused(key: bytes | None) -> None:
    archive = made(key)
    for at in sample(range(0, len(archive), 13), of_each=311):
        changed = bytearray(archive)
        changed[at] ^= 1 << at % 8
        assert_is_refused(bytes(changed), key)


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_more_bytes_at_the_end_are_refused(key: bytes | None) -> None:
    assert_is_refused(made(key) + b"\x00", key)
    assert_is_refused(made(key) + bytes(BLOCK * 2), key)


def test_swapped_chunks_are_refused() -> None:
    archive, size = made(KEY), CHUNK_BYTES + TAG_BYTES
    start = len(MAGIC) + 32
    first, second = archive[start : start + size], archive[start + size : start + 2 * size]
    assert_is_refused(archive[:start] + second + first + archive[start + 2 * size :], KEY)


def test_another_key_is_told_from_damage() -> None:
    with pytest.raises(BackupError, match="isn't the key") as raised:
        read(made(KEY), bytes(32))
    assert not isinstance(raised.value, ArchiveDamaged)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(BackupError, match="set SAGE_BACKUP_KEY"):
        read(made(KEY))


def test_a_plain_archive_is_refused_where_they_are_encrypted() -> None:
    with pytest.raises(BackupError, match="isn't encrypted"):
        read(made(), KEY)


@pytest.mark.parametrize("taken_at", ["2026-11-28T03:17:00", "0001-01-01T00:00:00+14:00", 5])
def test_an_odd_moment_is_refused(taken_at: object, tmp_path: Path) -> None:
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    values = {"sage": "1", "postgres": 18, "has_vectors": False, "migrations": [], "format": 1}
    writer.add_json(HEAD, {**values, "taken_at": taken_at})
    writer.finish()
    (tmp_path / "one.tar").write_bytes(file.getvalue())
    with pytest.raises(ArchiveDamaged):
        examine(tmp_path / "one.tar")


def forged(names: Sequence[str], change: Callable[[bytes], bytes] = bytes) -> bytes:
    """Return an archive with right sums, whatever its names and headers."""
    parts, digest = [], hashlib.sha256()
    for name in names:
        parts.append(change(header(name, 0)))
        digest.update(f"{name} 0 {hashlib.sha256().hexdigest()}\n".encode())
    sums = f'{{"members": {len(names)}, "sha256": "{digest.hexdigest()}"}}'.encode()
    parts += [header(SUMS, len(sums)), sums, bytes(-len(sums) % BLOCK), bytes(2 * BLOCK)]
    return b"".join(parts)


def test_a_forged_archive_is_read_if_nothing_is_wrong_with_it() -> None:
    assert list(read(forged(["objects/users/1/a", "objects/users/1/b"]))) == [
        "objects/users/1/a",
        "objects/users/1/b",
    ]


@pytest.mark.parametrize(
    "names",
    [
        ["objects/../../etc/passwd"],
        ["/etc/passwd"],
        ["objects/users//a"],
        ["objects/users/.hidden"],
        ["objects\\users"],
        ["objects/users/1/a", "objects/users/1/a"],
        ["objects/users/1/b", "objects/users/1/a"],
        ["zzz"],
        [""],
    ],
)
def test_odd_names_are_refused(names: list[str]) -> None:
    assert_is_refused(forged(names))


@pytest.mark.parametrize("kind", list(b"1234567xgLK"))
def test_only_ordinary_files_are_read(kind: int) -> None:
    def change(block: bytes) -> bytes:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        info.type = bytes([kind])
        return info.tobuf(tarfile.USTAR_FORMAT)

    assert_is_refused(forged(["objects/users/1/a"], change))


@pytest.mark.parametrize("size", [1, 8**11 - 1])
def test_a_size_that_isnt_there_is_refused(size: int) -> None:
    archive = made()
    at = archive.index(header("objects/users/1/0f", 0))
    assert_is_refused(archive[:at] + header("objects/users/1/0f", size) + archive[at + BLOCK :])


def test_ten_gigabytes_of_zeros_are_refused_at_once() -> None:
    class Zeros:
        taken = 0

        def read(self, size: int) -> bytes:
            self.taken += size
            return bytes(size)

    zeros = Zeros()
    with pytest.raises(ArchiveDamaged):
        list(read_archive(zeros))
    assert zeros.taken < 10 * BLOCK


def test_large_values_are_not_read_into_memory() -> None:
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    writer.add(REPORT, 2, [b"{}"])
    writer.finish()
    small, large = header(REPORT, 2), header(REPORT, 2 << 20)
    file = io.BytesIO(file.getvalue().replace(small, large))
    with pytest.raises(ArchiveDamaged):
        next(read_archive(file)).json()


@pytest.mark.parametrize(("name", "size"), [("objects/users/1/a", 8**11), (REPORT, (1 << 20) + 1)])
def test_nothing_is_written_that_would_not_be_read(name: str, size: int) -> None:
    with pytest.raises(BackupError, match="larger than"):
        ArchiveWriter(io.BytesIO()).add(name, size, [])


def test_an_archive_of_nothing_but_sums_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.tar").write_bytes(forged([]))
    with pytest.raises(ArchiveDamaged):
        examine(tmp_path / "empty.tar")
