"""Checks on a ZIP archive that need only its directory, before anything is unpacked."""

import io
import stat
import zipfile

from coaching.library.extractors.extracted import LOCKED, Unread

MAX_RATIO = 100
MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_MEMBERS = 1_000
SMALL_BYTES = 1024 * 1024
"""A member that unpacks to less can't do harm by its ratio alone; blank tables compress that well."""
PROLOG_BYTES = 4_096

_ARCHIVES = (
    ".zip",
    ".jar",
    ".7z",
    ".rar",
    ".gz",
    ".tgz",
    ".bz2",
    ".xz",
    ".tar",
    ".zst",
    ".docx",
    ".xlsx",
    ".pptx",
)
_ARCHIVE_STARTS = (b"PK\x03\x04", b"7z\xbc\xaf", b"Rar!", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
_EMBEDDED = (".docx", ".xlsx", ".pptx")
"""What Office embeds behind charts and objects. It is never opened."""


def open_archive(data: bytes) -> zipfile.ZipFile:
    """Open an archive whose directory is harmless. Raises `Unread`."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError):
        raise Unread("broken", "The file is damaged: it ends too early or parts of it are missing.") from None
    if len(members) > MAX_MEMBERS:
        raise Unread("refused", f"The file consists of more than {MAX_MEMBERS:,} parts.")
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED_BYTES:
        raise Unread("refused", f"Unpacked, the file has more than {MAX_UNPACKED_BYTES // 1024**2} MB.")
    packed = sum(member.compress_size for member in members)
    if _is_too_dense(unpacked, packed) or any(
        _is_too_dense(member.file_size, member.compress_size) for member in members
    ):
        raise Unread("refused", f"Unpacked, the file has more than {MAX_RATIO} times its size.")
    for member in members:
        _check_member(archive, member)
    return archive


def _is_too_dense(unpacked: int, packed: int) -> bool:
    return unpacked > SMALL_BYTES and unpacked > MAX_RATIO * max(1, packed)


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    if stat.S_ISLNK(member.external_attr >> 16):
        raise Unread("refused", "The file contains a link to another file.")
    if member.flag_bits & 1:
        raise Unread("needs_password", LOCKED)
    name = member.filename.lower()
    start = _start(archive, member)
    is_archive = name.endswith(_ARCHIVES) or start.startswith(_ARCHIVE_STARTS)
    if is_archive and not ("/embeddings/" in name and name.endswith(_EMBEDDED)):
        raise Unread("refused", "The file contains another archive.")
    if name.endswith((".xml", ".rels")) and (b"<!DOCTYPE" in start or b"<!ENTITY" in start):
        raise Unread("refused", "The file contains instructions to load other files.")


def _start(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(member) as opened:
            return opened.read(PROLOG_BYTES)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError):
        return b""
