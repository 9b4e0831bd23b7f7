"""Checks on a ZIP archive before it is read: its directory, and how each member begins."""

import io
import stat
import zipfile
import zlib

from coaching.library.extractors.doctype import Doctype, find_doctype
from coaching.library.extractors.extracted import LOCKED, Unread, gettext_noop

MAX_RATIO = 100
MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_MEMBERS = 1_000
SMALL_BYTES = 1024 * 1024
"""A member that unpacks to less can't do harm by its ratio alone; blank tables compress that well."""
PROLOG_BYTES = 64 * 1024
"""Where nearly every member's root element begins; of others all is read."""

INCOMPLETE = gettext_noop("This file is damaged or incomplete.")
TOO_MANY_PARTS = gettext_noop("This file has too many parts.")
TOO_LARGE_INSIDE = gettext_noop("This file unpacks to more than Sage can read.")
TOO_DENSE = gettext_noop("This file unpacks to far more than its size, so Sage didn’t open it.")
HAS_LINK = gettext_noop("This file contains a link to another file.")
HAS_ARCHIVE = gettext_noop("This file contains another archive.")
LOADS_FILES = gettext_noop("This file contains instructions to load other files.")

DAMAGES = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError)
"""What reading a damaged member raises."""

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
_TYPED = (".svg", ".htm", ".html", ".xhtml", ".mht")
"""What often names its type; without declarations that means nothing."""
_EMBEDDED = (".docx", ".xlsx", ".pptx")
"""What Office embeds behind charts and objects. It is never opened."""


def open_archive(data: bytes, *, may_name_types: bool = False) -> zipfile.ZipFile:
    """Open an archive whose directory is harmless. Raises `Unread`.

    XML that names its type without declaring anything is harmless (`may_name_types`) where the parsers of
    what is read in the archive load nothing.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError):
        raise Unread("broken", INCOMPLETE) from None
    if len(members) > MAX_MEMBERS:
        raise Unread("refused", TOO_MANY_PARTS)
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED_BYTES:
        raise Unread("refused", TOO_LARGE_INSIDE)
    packed = sum(member.compress_size for member in members)
    if _is_too_dense(unpacked, packed) or any(
        _is_too_dense(member.file_size, member.compress_size) for member in members
    ):
        raise Unread("refused", TOO_DENSE)
    for member in members:
        _check_member(archive, member, may_name_types=may_name_types)
    return archive


def _is_too_dense(unpacked: int, packed: int) -> bool:
    return unpacked > SMALL_BYTES and unpacked > MAX_RATIO * max(1, packed)


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, *, may_name_types: bool) -> None:
    if stat.S_ISLNK(member.external_attr >> 16):
        raise Unread("refused", HAS_LINK)
    if member.flag_bits & 1:
        raise Unread("needs_password", LOCKED)
    name = member.filename.lower()
    start = _first_bytes(archive, member, PROLOG_BYTES)
    is_archive = name.endswith(_ARCHIVES) or start.startswith(_ARCHIVE_STARTS)
    if is_archive and not ("/embeddings/" in name and name.endswith(_EMBEDDED)):
        raise Unread("refused", HAS_ARCHIVE)
    if _has_doctype(archive, member, start, may_name_types=may_name_types):
        raise Unread("refused", LOADS_FILES)


def _has_doctype(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, start: bytes, *, may_name_types: bool
) -> bool:
    """Say so for any member: a package's relationships can have any of them parsed, whatever its name."""
    found = find_doctype(start)
    if found is Doctype.UNKNOWN and member.file_size > len(start):
        found = find_doctype(_first_bytes(archive, member, -1))
    is_typed = may_name_types or member.filename.lower().endswith(_TYPED)
    return found is Doctype.SUBSET or (found is Doctype.PLAIN and not is_typed)


def _first_bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo, count: int) -> bytes:
    try:
        with archive.open(member) as opened:
            return opened.read(count)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError):
        return b""
