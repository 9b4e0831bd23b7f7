"""The files in the ZIP of an export, other than its conversations: which messages name them, and their bytes.

They are read one after the other, a piece at a time, and only as far as they may be large.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from coaching.legacy.importers.chatgpt_left import FILE_KEY
from coaching.legacy.importers.left import NOT_IN_EXPORT, FileKind, LeftBehind
from coaching.legacy.importers.sentences import gettext_noop
from coaching.legacy.importers.source import ZIP_ERRORS, Source
from coaching.legacy.importers.things import MAX_REFERENCES, FoundDocument, FoundReference, text_of
from coaching.legacy.importers.wire import PIECE_BYTES
from coaching.legacy.importers.wire_entries import begun, ended, pieces

MAX_DOCUMENTS = 5_000
MAX_BYTES = 1_000 << 20
"""Of all files, unpacked."""
MAX_KEYS = 50_000
MAX_NAMES_BYTES = 10 << 20
NAMES_MEMBER = "conversation_asset_file_names.json"

EMPTY = gettext_noop("This file is empty.")
TOO_LARGE = gettext_noop("It’s larger than a file in your library can be.")
TOO_MANY = gettext_noop("This export has more files, or larger ones, than Sage takes at once.")
DAMAGED = gettext_noop("It’s damaged, protected by a password, or packed in a way that Sage can’t read.")
RECORDING = gettext_noop("Sage doesn’t take recordings and videos.")
MORE_MESSAGES = gettext_noop("Only the first 50 messages with this file refer to it.")

_FOLDERS = ("dalle-generations", "audio", "video")
_PICTURES = {b"\xff\xd8\xff": ".jpg", b"\x89PNG": ".png", b"GIF8": ".gif"}
_SOUNDS = (b"ID3\x02", b"ID3\x03", b"ID3\x04", b"OggS", b"fLaC", b"\xff\xfb", b"\xff\xf3", b"\x1aE\xdf\xa3")
_STILLS = (b"heic", b"heix", b"mif1", b"avif")


@dataclass(slots=True)
class _Named:
    """What messages say about a file."""

    name: str
    kind: FileKind
    where: str
    messages: dict[tuple[str, str], None] = field(default_factory=dict)


class Files:
    """The files that messages name, and those of the ZIP."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._named: dict[str, _Named] = {}
        self._room = MAX_BYTES

    def add(self, found: FoundReference) -> LeftBehind | None:
        """Take in what a message names; return it where it has no key, or there are too many."""
        if not FILE_KEY.fullmatch(found.key):
            return _missing(found.kind, found.name, found.where)
        if found.key not in self._named and len(self._named) >= MAX_KEYS:
            return _missing(found.kind, found.name, found.where, why=TOO_MANY)
        named = self._named.setdefault(found.key, _Named(name=found.name, kind=found.kind, where=found.where))
        message = (found.conversation, found.message)
        if message not in named.messages and len(named.messages) >= MAX_REFERENCES:
            return _missing(found.kind, named.name, found.where, why=MORE_MESSAGES)
        named.messages[message] = None
        return None

    def entries(self, most_bytes: int) -> Iterator[Mapping[str, Any] | LeftBehind]:
        """Yield the files as they are sent, then what isn't there. Files that were read leave `others`."""
        members = [name for name in dict.fromkeys(self._source.others) if self._is_document(name)]
        if members:
            with self._source.archive() as archive:
                names = _display_names(archive, self._source.others)
                for count, member in enumerate(members):
                    yield from self._document(
                        archive, member, names, most_bytes, is_one_more=count < MAX_DOCUMENTS
                    )
            done = {*members, *([NAMES_MEMBER] if names else [])}
            self._source.others = [name for name in self._source.others if name not in done]
        found = set(map(_key_of, members))
        for key, named in self._named.items():
            if key not in found:
                yield _missing(named.kind, named.name, named.where)

    def _is_document(self, name: str) -> bool:
        folders = PurePosixPath(name).parts[:-1]
        is_kept = any(folder in _FOLDERS or folder.startswith("user-") for folder in folders)
        return bool(_key_of(name)) or (is_kept and not name.endswith(".json"))

    def _document(
        self,
        archive: zipfile.ZipFile,
        member: str,
        names: Mapping[str, str],
        most_bytes: int,
        *,
        is_one_more: bool,
    ) -> Iterator[Mapping[str, Any]]:
        named = self._named.get(_key_of(member)) or _Named(name="", kind="file", where="")
        name = _name_of(member, named, names)
        yield begun(
            FoundDocument(
                name=name, kind=named.kind, data=b"", where=named.where, messages=list(named.messages)
            )
        )
        size, head, refusal = 0, b"", "" if is_one_more else TOO_MANY
        for piece in _pieces(archive, member) if not refusal else ():
            if piece is None:
                refusal = DAMAGED
                break
            head = head or piece
            size, self._room = size + len(piece), self._room - len(piece)
            refusal = _refusal(head, size, most_bytes) or (TOO_MANY if self._room < 0 else "")
            if refusal:
                break
            yield from pieces(piece)
        if not size and not refusal:
            refusal = EMPTY
        kind = "voice" if refusal == RECORDING else _kind_of(head, named.kind)
        yield ended(_with_ending(name, head), kind, refusal=refusal)


def _missing(kind: FileKind, name: str, where: str, *, why: str = NOT_IN_EXPORT) -> LeftBehind:
    return LeftBehind(kind=kind, name=name, where="" if name == where else where, why=why)


def _pieces(archive: zipfile.ZipFile, member: str) -> Iterator[bytes | None]:
    """Yield a member's bytes in pieces, and None where it can't be read."""
    try:
        with archive.open(member) as file:
            while piece := file.read(PIECE_BYTES):
                yield piece
    except (*ZIP_ERRORS, NotImplementedError, RuntimeError):
        yield None


def _refusal(head: bytes, size: int, most_bytes: int) -> str:
    if _is_recording(head):
        return RECORDING
    return TOO_LARGE if size > most_bytes else ""


def _is_recording(head: bytes) -> bool:
    if head[4:8] == b"ftyp":
        return head[8:12] not in _STILLS
    return head.startswith(_SOUNDS) or (head[:4] == b"RIFF" and head[8:12] in (b"WAVE", b"AVI "))


def _ending_of(head: bytes) -> str:
    """Return the ending for the name of a picture or a PDF, empty for another file."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    if head.startswith(b"%PDF-"):
        return ".pdf"
    return next((ending for start, ending in _PICTURES.items() if head.startswith(start)), "")


def _kind_of(head: bytes, kind: FileKind) -> FileKind:
    ending = _ending_of(head)
    return kind if ending in ("", ".pdf") else "picture"


def _with_ending(name: str, head: bytes) -> str:
    """Return a name with the ending of what its file is, instead of `.dat`."""
    ending = _ending_of(head)
    return name[: -len(".dat")] + ending if ending and name.endswith(".dat") else name


def _key_of(member: str) -> str:
    found = FILE_KEY.match(member.rpartition("/")[2])
    return found[0] if found else ""


def _name_of(member: str, named: _Named, names: Mapping[str, str]) -> str:
    """Return a file's own name, as far as the export knows it."""
    last = member.rpartition("/")[2]
    own = last[len(_key_of(member)) :].lstrip("-")
    if named.kind == "voice":
        return last
    told = named.name if named.name != _key_of(member) else ""
    if told and not PurePosixPath(told).suffix:
        told += PurePosixPath(last).suffix
    is_own = own and not own.startswith(".")
    return told or names.get(member) or names.get(last) or (own if is_own else last)


def _display_names(archive: zipfile.ZipFile, members: list[str]) -> Mapping[str, str]:
    """Return what files were called, where newer exports say it."""
    if NAMES_MEMBER not in members:
        return {}
    try:
        with archive.open(NAMES_MEMBER) as file:
            data = file.read(MAX_NAMES_BYTES + 1)
        found = json.loads(data) if len(data) <= MAX_NAMES_BYTES else {}
    except (*ZIP_ERRORS, NotImplementedError, RuntimeError, RecursionError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {name: shown for name, value in pairs if (shown := text_of(value).strip())}
