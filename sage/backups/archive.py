"""The archive: a plain tar file whose every byte is determined by the names and contents of its members.

Members are ordinary files in strictly ascending order of their names, so none can be there twice:
`archive.json`, `database/…`, `keys/…`, `objects/…`, `report.json`, and `sums.json` with a hash over names,
sizes and hashes of all before it. A reader compares each header with the one that it would write: links,
devices, other owners and names that lead elsewhere aren't special cases, they are damage. Nothing is read
into memory by a size that the archive claims.
"""

import hashlib
import json
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sage.backups.encryption import MAGIC, DecryptingFile, EncryptingFile, Readable, Writable
from sage.backups.errors import ArchiveDamaged, BackupError

HEAD = "archive.json"
DATABASE = "database/"
KEYS = "keys/"
OBJECTS = "objects/"
REPORT = "report.json"
SUMS = "sums.json"

BLOCK = 512
PIECE_BYTES = 1 << 16
MAX_JSON_BYTES = 1 << 20
_MAX_NAME_BYTES = 100
MAX_SIZE = 8**11 - 1
_NAME_CHARACTERS = frozenset(string.ascii_letters + string.digits + "._-")
_END = bytes(2 * BLOCK)
_CUT = "The archive is cut short."
_FOREIGN = "The archive is damaged, or Sage didn't make it."
_CHANGED = "The archive is damaged: its contents don't match its checksum."


class ArchiveWriter:
    """Writes members in order; `finish` makes it whole."""

    def __init__(self, file: Writable, *, key: bytes | None = None) -> None:
        self._encrypting = EncryptingFile(file, key) if key else None
        self._file: Writable = self._encrypting or file
        self._sums = _Sums()

    def add(self, name: str, size: int, pieces: Iterable[bytes]) -> None:
        """Write a member of exactly `size` bytes. Raises `ValueError` for a name that isn't allowed now."""
        self._sums.check_name(name)
        self._put(name, size, pieces)

    def add_json(self, name: str, values: Mapping[str, Any]) -> None:
        data = json.dumps(values).encode()
        self.add(name, len(data), [data])

    def finish(self) -> None:
        data = self._sums.as_json()
        self.add(SUMS, len(data), [data])
        self._file.write(_END)
        if self._encrypting:
            self._encrypting.finish()

    def _put(self, name: str, size: int, pieces: Iterable[bytes]) -> None:
        if size > MAX_SIZE:
            raise BackupError(f"{name} is larger than {MAX_SIZE:,} bytes, which no backup can hold.")
        if name.endswith(".json") and size > MAX_JSON_BYTES:
            raise BackupError(f"{name} would be larger than {MAX_JSON_BYTES:,} bytes.")
        self._file.write(header(name, size))
        digest, written = hashlib.sha256(), 0
        for piece in pieces:
            digest.update(piece)
            self._file.write(piece)
            written += len(piece)
        if written != size:
            raise ValueError(f"{name} has {written} bytes and not {size}")
        self._file.write(bytes(-size % BLOCK))
        self._sums.add(name, size, digest.hexdigest())


@dataclass(kw_only=True)
class Member:
    """A member at its place in the stream: `pieces` can be read once, until the next one is asked for."""

    name: str
    size: int
    _file: Readable
    _digest: Any = field(default_factory=hashlib.sha256)
    _left: int = 0

    def __post_init__(self) -> None:
        self._left = self.size

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes that weren't read yet. Raises `ArchiveDamaged`."""
        while self._left:
            piece = self._file.read(min(self._left, PIECE_BYTES))
            if not piece:
                raise ArchiveDamaged(_CUT)
            self._left -= len(piece)
            self._digest.update(piece)
            yield piece

    def json(self) -> dict[str, Any]:
        """Return a small member's values. Raises `ArchiveDamaged`."""
        if self.size > MAX_JSON_BYTES:
            raise ArchiveDamaged(_FOREIGN)
        try:
            values = json.loads(b"".join(self.pieces()))
        except (ValueError, RecursionError):
            raise ArchiveDamaged(_FOREIGN) from None
        if not isinstance(values, dict):
            raise ArchiveDamaged(_FOREIGN)
        return values

    def finish(self) -> str:
        """Read the rest, with its padding; return the hash."""
        for _ in self.pieces():
            pass
        if any(_read(self._file, -self.size % BLOCK)):
            raise ArchiveDamaged(_FOREIGN)
        digest: str = self._digest.hexdigest()
        return digest


def read_archive(file: Readable, *, key: bytes | None = None) -> Iterator[Member]:
    """Yield all members but the sums; it ends only if the archive is whole. Raises `BackupError`."""
    source, first = _opened(file, key)
    sums = _Sums()
    while True:
        name, size = _read_header(first or _read(source, BLOCK))
        first = b""
        if not sums.is_next(name):
            raise ArchiveDamaged(_FOREIGN)
        if name == SUMS:
            break
        member = Member(name=name, size=size, _file=source)
        yield member
        sums.add(name, size, member.finish())
    expected = sums.as_json()
    if size != len(expected) or _read(source, size) != expected:
        raise ArchiveDamaged(_CHANGED)
    if any(_read(source, -size % BLOCK)) or _read(source, len(_END)) != _END or source.read(1):
        raise ArchiveDamaged(_FOREIGN)


def header(name: str, size: int) -> bytes:
    """Return a member's header (POSIX ustar): a private ordinary file of nobody, at the beginning of time."""
    fields = b"%b0000600\x000000000\x000000000\x00%011o\x00%011o\x00%b0%bustar\x0000" % (
        name.encode().ljust(_MAX_NAME_BYTES, b"\x00"), size, 0, b" " * 8, bytes(100),
    )  # fmt: skip
    block = fields.ljust(BLOCK, b"\x00")
    return block[:148] + b"%06o\x00 " % sum(block) + block[156:]


class _Sums:
    """The names so far, and the hash over all members."""

    def __init__(self) -> None:
        self._last, self._count, self._digest = "", 0, hashlib.sha256()

    def is_next(self, name: str) -> bool:
        """Return whether a name may come now."""
        parts = name.split("/")
        is_plain = all(part and part[0] != "." and _NAME_CHARACTERS.issuperset(part) for part in parts)
        return is_plain and len(name) <= _MAX_NAME_BYTES and name > self._last

    def check_name(self, name: str) -> None:
        if not self.is_next(name):
            raise ValueError(f"{name!r} can't follow {self._last!r}")

    def add(self, name: str, size: int, sha256: str) -> None:
        self._last, self._count = name, self._count + 1
        self._digest.update(f"{name} {size} {sha256}\n".encode())

    def as_json(self) -> bytes:
        return json.dumps({"members": self._count, "sha256": self._digest.hexdigest()}).encode()


def _opened(file: Readable, key: bytes | None) -> tuple[Readable, bytes]:
    """Return the plain stream, and the first block if it was read already."""
    start = file.read(len(MAGIC))
    if start != MAGIC:
        if key is not None:
            raise BackupError(
                "The archive isn't encrypted, or its beginning is damaged, and SAGE_BACKUP_KEY is set: "
                "anybody could have made it. If you know where it is from, add --plain."
            )
        return file, start + _read(file, BLOCK - len(start))
    if key is None:
        raise BackupError("The archive is encrypted: set SAGE_BACKUP_KEY to the key that it was made with.")
    return DecryptingFile(file, key), b""


def _read_header(block: bytes) -> tuple[str, int]:
    try:
        name = block[:_MAX_NAME_BYTES].rstrip(b"\x00").decode("ascii")
        size = int(block[124:135], 8)
        is_ours = 0 <= size <= MAX_SIZE and header(name, size) == block
    except ValueError:
        is_ours = False
    if not is_ours:
        raise ArchiveDamaged(_FOREIGN)
    return name, size


def _read(file: Readable, size: int) -> bytes:
    """Return exactly `size` bytes, which are few. Raises `ArchiveDamaged`."""
    data = bytearray()
    while len(data) < size:
        piece = file.read(size - len(data))
        if not piece:
            raise ArchiveDamaged(_CUT)
        data += piece
    return bytes(data)
