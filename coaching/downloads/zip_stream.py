"""A zip created while it is sent, with only a few pieces in memory and safe names on any system."""

import io
import re
import unicodedata
import zipfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sessions_app.database import in_database_unhurried, no_time_limits

MAX_PART_CHARACTERS = 100
MAX_PARTS = 12
PIECE_BYTES = 1 << 16

_ZIP_BEGINS = (1980, 1, 1, 0, 0, 0)
_OWNER_ONLY = 0o600 << 16
# Separators, characters that Windows refuses, control characters, and bidirectional marks.
_UNFIT = re.compile(
    r"[\\:*?\"<>|\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of an archive: its path under the archive's own folder, and its text or bytes in pieces.

    `is_stored`: the pieces come from the storage and are read without a database connection.
    """

    path: str
    changed_at: datetime
    pieces: Iterable[str | bytes]
    is_stored: bool = False


class ArchiveNames:
    """Gives the entries of a folder unique names, case-insensitively."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._taken: set[str] = set()

    def take(self, path: str) -> str:
        """Return a safe name for that path, numbered if it is taken."""
        name = safe_name(path)
        stem, dot, ending = name.rpartition(".")
        if not dot or "/" in ending:
            stem, dot, ending = name, "", ""
        number = 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{stem}-{number}{dot}{ending}"
        self._taken.add(name.casefold())
        return f"{self._folder}/{name}"


class _Buffer(io.RawIOBase):
    """A write-only buffer for the archive; bytes stay until they are taken."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._kept += data
        return len(data)

    def __len__(self) -> int:
        return len(self._kept)

    def take(self) -> bytes:
        kept, self._kept = self._kept, bytearray()
        return bytes(kept)


def write_zip(entries: Iterable[Entry], *, folder: str, zone: ZoneInfo) -> Iterator[bytes]:
    """Yield a zip of the entries in one folder, piece by piece; times in it are those of `zone`.

    The entries are read without database time limits, however many there are. Only those that are stored may
    wait for anything else: the limits are lifted on the connection that a piece starts with.
    """
    pieces = _pieces_of_zip(entries, folder, zone)
    is_storage_next = False
    while True:
        with nullcontext() if is_storage_next else no_time_limits():
            found = next(pieces, None)
        if found is None:
            return
        piece, is_storage_next = found
        if piece:
            yield piece


def _pieces_of_zip(entries: Iterable[Entry], folder: str, zone: ZoneInfo) -> Iterator[tuple[bytes, bool]]:
    """Yield pieces, each with whether the next one waits for the storage and not for the database."""
    names, outlet = ArchiveNames(folder), _Buffer()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            info = _zip_info(names.take(entry.path), entry.changed_at, zone)
            with archive.open(info, "w") as target:
                if entry.is_stored:
                    yield outlet.take(), True
                for piece in entry.pieces:
                    target.write(piece.encode() if isinstance(piece, str) else piece)
                    if len(outlet) >= PIECE_BYTES:
                        yield outlet.take(), entry.is_stored
                if entry.is_stored:
                    yield b"", False
    yield outlet.take(), False


async def send_pieces(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield pieces that ORM code creates, off the event loop and in threads that conversations don't need."""
    while piece := await in_database_unhurried(next, pieces, b""):
        yield piece


def safe_name(path: str) -> str:
    """Return a relative path of plain parts. A path that Sage made stays unchanged."""
    parts = [_safe_part(part) for part in unicodedata.normalize("NFC", path).split("/")]
    kept = [part for part in parts if part][-MAX_PARTS:]
    return "/".join(kept) or "_"


def _safe_part(part: str) -> str:
    plain = _UNFIT.sub("_", part).strip(" .")
    if not plain:
        return ""  # a parent folder, or the same one
    if _DEVICE.match(plain):
        plain = f"_{plain}"
    return plain[:MAX_PART_CHARACTERS].rstrip(". ") or "_"


def _zip_info(name: str, changed_at: datetime, zone: ZoneInfo) -> zipfile.ZipInfo:
    local = changed_at.astimezone(zone).timetuple()[:6]
    info = zipfile.ZipInfo(name, date_time=max(local, _ZIP_BEGINS))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = _OWNER_ONLY
    return info
