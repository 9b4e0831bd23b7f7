"""The file that is imported: JSON, or a ZIP with JSON in it, checked before anything is unpacked.

Nothing is unpacked to disk: members are read as a stream, so a ZIP bomb costs some time and no space.
"""

import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

from django.utils.translation import gettext_noop

from coaching.legacy.importers.json_stream import Item, NotJson, read_items
from coaching.legacy.importers.things import NotImportable

MEGABYTE = 1 << 20
MOST_FILE_BYTES = 500 * MEGABYTE
MOST_JSON_BYTES = 2_000 * MEGABYTE
"""What the JSON of a ZIP may unpack to."""
MOST_MEMBERS = 50_000
MOST_RATIO = 100
"""Text packs to a tenth, logs to a thirtieth; a bomb to a thousandth."""
SMALL_BYTES = 10 * MEGABYTE
"""Below it any ratio is harmless."""
HASH_BYTES = 1 << 20

NOT_JSON_OR_ZIP = gettext_noop(
    "This is neither a JSON file nor a ZIP. Export your data from ChatGPT, Claude or the earlier Sage, and "
    "upload the file exactly as you get it."
)
BROKEN_ZIP = gettext_noop("This ZIP is damaged or incomplete. Download it again and retry.")
ENCRYPTED_ZIP = gettext_noop("This ZIP is protected by a password. Unpack it and upload the JSON file in it.")
ODD_ZIP = gettext_noop("Sage can’t open this kind of ZIP. Unpack it and upload the JSON file in it.")
TOO_MANY_MEMBERS = gettext_noop("This ZIP has too many files. Unpack it and upload only conversations.json.")
NO_CONVERSATIONS = gettext_noop("This ZIP has no conversations.json, so there’s nothing to import.")
BOMB = gettext_noop("This ZIP unpacks to far more than an export would, so Sage didn’t open it.")
TOO_LARGE = gettext_noop(
    "This file is too large. If it’s a ZIP, unpack it and upload only the conversations.json in it."
)
EMPTY = gettext_noop("This file is empty.")
NOT_JSON = gettext_noop("This file is incomplete or damaged. Download it again and retry.")

_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError)
_STARTS_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_STARTS_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An export's file, which can be read several times. `members` are empty for plain JSON."""

    file: BinaryIO
    size: int
    members: Sequence[str]

    def items(self) -> Iterator[Item]:
        """Yield the items of all its JSON. Raises `NotImportable` with a sentence."""
        if not self.members:
            self.file.seek(0)
            yield from _items(self.file)
            return
        with _zip_errors(), zipfile.ZipFile(self.file) as archive:
            for name in self.members:
                with archive.open(name) as member:
                    yield from _items(cast("BinaryIO", member))

    def sha256(self) -> str:
        """Return the hash of the whole file."""
        return sha256_of(self.file)


def sha256_of(file: BinaryIO) -> str:
    """Return the hash of a seekable file, and leave it at its beginning."""
    file.seek(0)
    found = hashlib.sha256()
    while block := file.read(HASH_BYTES):
        found.update(block)
    file.seek(0)
    return found.hexdigest()


def open_source(file: BinaryIO) -> Source:
    """Check a seekable file. Raises `NotImportable` with a sentence."""
    size = file.seek(0, 2)
    file.seek(0)
    start = file.read(1024)
    if not size:
        raise NotImportable(EMPTY)
    if size > MOST_FILE_BYTES:
        raise NotImportable(TOO_LARGE)
    if start.startswith(_STARTS_ZIP):
        with _zip_errors(), zipfile.ZipFile(file) as archive:
            return Source(file=file, size=size, members=_checked_members(archive))
    if not _STARTS_JSON.match(start):
        raise NotImportable(NOT_JSON_OR_ZIP)
    return Source(file=file, size=size, members=())


def _checked_members(archive: zipfile.ZipFile) -> Sequence[str]:
    """Return the names of the members to read, in order."""
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise NotImportable(TOO_MANY_MEMBERS)
    found = [member for member in members if _CONVERSATIONS.fullmatch(_last_part(member.filename))]
    if not found:
        found = [member for member in members if member.filename.endswith(".json")]
        if len(found) != 1:
            raise NotImportable(NO_CONVERSATIONS)
    if any(member.flag_bits & 1 for member in found):
        raise NotImportable(ENCRYPTED_ZIP)
    unpacked, packed = (sum(sizes) for sizes in zip(*map(_sizes, found), strict=True))
    if unpacked > MOST_JSON_BYTES or unpacked > max(SMALL_BYTES, packed * MOST_RATIO):
        raise NotImportable(BOMB)
    return sorted(member.filename for member in found)


def _sizes(member: zipfile.ZipInfo) -> tuple[int, int]:
    return member.file_size, member.compress_size


def _last_part(name: str) -> str:
    return name.rpartition("/")[2]


def _items(file: BinaryIO) -> Iterator[Item]:
    try:
        yield from read_items(file)
    except NotJson as error:
        raise NotImportable(NOT_JSON, str(error)) from error


@contextmanager
def _zip_errors() -> Iterator[None]:
    try:
        yield
    except NotImplementedError as error:
        raise NotImportable(ODD_ZIP) from error
    except RuntimeError as error:  # a password is wanted
        raise NotImportable(ENCRYPTED_ZIP) from error
    except _ZIP_ERRORS as error:
        raise NotImportable(BROKEN_ZIP) from error
