"""The file that is imported: JSON or JSONL, or a ZIP with JSON in it, checked before anything is unpacked.

Nothing is unpacked to disk: members are read as a stream, so a ZIP bomb costs some time and no space.
"""

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import IO, BinaryIO

from coaching.legacy.importers.bounded import NotJson, TooMuch
from coaching.legacy.importers.json_stream import Item, read_items
from coaching.legacy.importers.layouts import HEAD_BYTES, holds_conversations, in_utf8
from coaching.legacy.importers.sentences import gettext_noop
from coaching.legacy.importers.things import NotImportable
from coaching.sandbox.limits import MEGABYTE

MAX_FILE_BYTES = 500 * MEGABYTE
MAX_JSON_BYTES = 2_000 * MEGABYTE
"""What the JSON of a ZIP may unpack to."""
MAX_MEMBERS = 50_000
MAX_RATIO = 100
"""Text packs to a tenth, logs to a thirtieth; a bomb to a thousandth."""
MAX_ABOUT_BYTES = 100 * MEGABYTE
"""Of all files about a person in a ZIP, packed and unpacked."""
MAX_ABOUT_MEMBERS = 500
SMALL_BYTES = 10 * MEGABYTE
"""Below it any ratio is harmless."""

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
TOO_MUCH = gettext_noop(
    "This file holds far more entries, or a far larger one, than an export would, so Sage didn’t read it."
)
REFUSALS = (
    NOT_JSON_OR_ZIP, BROKEN_ZIP, ENCRYPTED_ZIP, ODD_ZIP, TOO_MANY_MEMBERS, NO_CONVERSATIONS, BOMB, TOO_LARGE,
    EMPTY, NOT_JSON, TOO_MUCH,
)  # fmt: skip

_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.jsonl?")
ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, struct.error, OSError, OverflowError, ValueError
)  # fmt: skip
"""What a damaged ZIP makes `zipfile` raise, as `bz2` an `OSError` and a lying offset an `OverflowError`."""
_STARTS_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_STARTS_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")


@dataclass(slots=True, kw_only=True)
class Source:
    """An export's file, which can be read several times. `members` are empty for plain JSON, `others` are
    the rest of a ZIP.

    `json_bytes` are in it once unpacked, `read_bytes` of these have been read.
    """

    file: BinaryIO
    json_bytes: int
    members: Sequence[str] = ()
    others: list[str] = field(default_factory=list)
    read_bytes: int = field(default=0, init=False)

    def items(self) -> Iterator[Item]:
        """Yield the items of all its JSON. Raises `NotImportable` with a sentence."""
        self.read_bytes = 0
        if not self.members:
            yield from self._items(self._again)
            return
        with _zip_errors(), zipfile.ZipFile(self.file) as archive:
            for name in self.members:
                yield from self._items(partial(archive.open, name))

    @contextmanager
    def archive(self) -> Iterator[zipfile.ZipFile]:
        """Open the ZIP. Raises `NotImportable` with a sentence."""
        with _zip_errors(), zipfile.ZipFile(self.file) as archive:
            yield archive

    def about_person(self) -> Iterator[tuple[str, Item]]:
        """Yield what Claude's exports have about a person, by member; those that were read leave `others`.

        A member that can't be read stays there.
        """
        named = sorted(filter(_is_about_person, self.others), reverse=True)[:MAX_ABOUT_MEMBERS]
        if not named:
            return
        done, room = set(), MAX_ABOUT_BYTES
        with _zip_errors(), zipfile.ZipFile(self.file) as archive:
            for name in named:
                room -= sum(_sizes(archive.getinfo(name)))
                if room < 0:
                    break
                try:
                    yield from ((name, item) for item in _items_of_member(archive, name))
                except (*ZIP_ERRORS, NotImplementedError, RuntimeError, NotJson, TooMuch):
                    continue
                done.add(name)
        self.others = [name for name in self.others if name not in done]

    def _again(self) -> AbstractContextManager[BinaryIO]:
        self.file.seek(0)
        return nullcontext(self.file)

    def _items(self, opened: Callable[[], AbstractContextManager[IO[bytes]]]) -> Iterator[Item]:
        with opened() as file:
            is_sequence = holds_conversations(in_utf8(file.read))
        with opened() as file:
            yield from self._items_of(file, is_sequence=is_sequence)

    def _items_of(self, file: IO[bytes], *, is_sequence: bool) -> Iterator[Item]:
        def read(size: int) -> bytes:
            block = file.read(size)
            self.read_bytes += len(block)
            return block

        try:
            yield from read_items(in_utf8(read), is_sequence=is_sequence)
        except NotJson as error:
            raise NotImportable(NOT_JSON, str(error)) from error
        except TooMuch as error:
            raise NotImportable(TOO_MUCH) from error


def open_source(file: BinaryIO) -> Source:
    """Check a seekable file. Raises `NotImportable` with a sentence."""
    size = file.seek(0, 2)
    file.seek(0)
    start = file.read(HEAD_BYTES)
    if not size:
        raise NotImportable(EMPTY)
    if size > MAX_FILE_BYTES:
        raise NotImportable(TOO_LARGE)
    if start.startswith(_STARTS_ZIP):
        with _zip_errors(), zipfile.ZipFile(file) as archive:
            return _zipped(file, archive)
    if not _STARTS_JSON.match(in_utf8(BytesIO(start).read)(len(start))):
        raise NotImportable(NOT_JSON_OR_ZIP)
    return Source(file=file, json_bytes=size)


def _zipped(file: BinaryIO, archive: zipfile.ZipFile) -> Source:
    """Choose the members to read, in order."""
    held = archive.infolist()
    if len(held) > MAX_MEMBERS:
        raise NotImportable(TOO_MANY_MEMBERS)
    found = [member for member in held if _CONVERSATIONS.fullmatch(_last_part(member.filename))]
    if not found:
        found = [member for member in held if member.filename.endswith((".json", ".jsonl"))]
        if len(found) != 1:
            raise NotImportable(NO_CONVERSATIONS)
    if any(member.flag_bits & 1 for member in found):
        raise NotImportable(ENCRYPTED_ZIP)
    unpacked, packed = (sum(sizes) for sizes in zip(*map(_sizes, found), strict=True))
    if unpacked > MAX_JSON_BYTES or unpacked > max(SMALL_BYTES, packed * MAX_RATIO):
        raise NotImportable(BOMB)
    members = sorted(member.filename for member in found)
    read = {id(member) for member in found}
    others = [each.filename for each in held if id(each) not in read and not each.is_dir()]
    return Source(file=file, json_bytes=unpacked, members=members, others=others)


def _is_about_person(name: str) -> bool:
    """Return whether a member is `memories.json`, `projects.json`, or in the folder `projects`."""
    folder, _, last = name.rpartition("/")
    return last.endswith(".json") and (
        last.startswith(("memories", "projects")) or folder.rpartition("/")[2] == "projects"
    )


def _items_of_member(archive: zipfile.ZipFile, name: str) -> Iterator[Item]:
    """Yield the objects of a list in a member, or its only one. Raises what reading it raises."""
    with archive.open(name) as file:
        start = in_utf8(file.read)(HEAD_BYTES)
    is_object = start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    with archive.open(name) as file:
        yield from read_items(in_utf8(file.read), is_sequence=is_object)


def _sizes(member: zipfile.ZipInfo) -> tuple[int, int]:
    return member.file_size, member.compress_size


def _last_part(name: str) -> str:
    return name.rpartition("/")[2]


@contextmanager
def _zip_errors() -> Iterator[None]:
    try:
        yield
    except NotImplementedError as error:
        raise NotImportable(ODD_ZIP) from error
    except RuntimeError as error:  # a password is wanted
        raise NotImportable(ENCRYPTED_ZIP) from error
    except ZIP_ERRORS as error:
        raise NotImportable(BROKEN_ZIP) from error
