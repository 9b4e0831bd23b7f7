"""A mailbox on an IMAP server: sizes and headers first, whole mails in chunks, no more than is asked for."""

import imaplib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from coaching.inbox.connection import (
    CHUNK,
    CONNECTION_SECONDS,
    BoundedImap,
    Ending,
    InboxFailed,
    failures,
    open_imap,
    quoted,
)
from coaching.inbox.place import TARGET, InboxPlace
from sessions_app.database import give_back_connections

MAX_HEADER = 64 * 1024
MAX_UID = 2**32 - 1
UIDS_AT_ONCE = 1_000


class Mailbox:
    """An open folder. Raises `InboxFailed`; `NotDone` if the server says no to what is asked of one mail."""

    def __init__(self, imap: BoundedImap, folder: str) -> None:
        self._imap = imap
        self._ask("SELECT", quoted(folder))
        self.uid_validity = self._told("UIDVALIDITY")
        self.uid_next = self._told("UIDNEXT")
        self._target = ""

    def uids(self, first: int, last: int) -> list[int]:
        """Return the numbers of the mails from one number to another, in order."""
        words = b" ".join(_lines(self._uid("SEARCH", "UID", f"{first}:{last}"))).split()
        # `*` and ranges that are turned around may bring others.
        return sorted({uid for word in words if first <= (uid := _number(word)) <= last})

    def sizes(self, uids: list[int]) -> Mapping[int, int]:
        """Return what the server says of the sizes of some mails, which may be wrong."""
        found = _lines(self._uid("FETCH", ",".join(map(str, uids)), "(RFC822.SIZE)"))
        words = [line.upper().replace(b"(", b" ").replace(b")", b" ").split() for line in found]
        return {
            _number(after[b"UID"]): _number(after[b"RFC822.SIZE"])
            for line in words
            if {b"UID", b"RFC822.SIZE"} <= (after := dict(pairwise(line))).keys()
        }

    def header(self, uid: int) -> bytes | None:
        """Return the headers of a mail, of long ones one byte too many; None if the mail is gone."""
        return self._part(uid, f"BODY.PEEK[HEADER]<0.{MAX_HEADER + 1}>")

    def whole(self, uid: int, *, size: int, most: int) -> bytes | None:
        """Return a mail's bytes; None if the mail is gone, or has more than `most`.

        A server may give less at once than it is asked for: the end is an empty chunk, or a short one with
        which the mail has the size that the server named.
        """
        found = bytearray()
        while len(found) <= most:
            chunk = self._part(uid, f"BODY.PEEK[]<{len(found)}.{CHUNK}>")
            if chunk is None:
                return None
            found += chunk
            if not chunk or (len(chunk) < CHUNK and len(found) >= size):
                return bytes(found) if len(found) <= most else None
        return None

    def move(self, uid: int) -> None:
        """Move a mail to the folder of taken ones; nothing happens if it is gone."""
        target = self._target = self._target or self._made_target()
        if "MOVE" in self._imap.capabilities:
            self._uid("MOVE", str(uid), target)
            return
        self._uid("COPY", str(uid), target)
        self._uid("STORE", str(uid), "+FLAGS.SILENT", r"(\Deleted)")
        # Without UIDPLUS only all deleted mails could be expunged, also those that others have marked.
        if "UIDPLUS" in self._imap.capabilities:
            self._uid("EXPUNGE", str(uid))

    def _made_target(self) -> str:
        """Create the folder, below the account's own prefix if the server has one, and return its name."""
        prefix = ""
        if "NAMESPACE" in self._imap.capabilities:
            (line, *_) = _lines(self._ask("NAMESPACE")) or [b""]
            personal = line.split(b'"')
            prefix = personal[1].decode("ascii", "replace") if line.startswith(b'(("') else ""
        target = quoted(f"{prefix}{TARGET}")
        with failures():
            self._imap.begin()
            self._imap.create(target)  # refused if it is there
        return target

    def _part(self, uid: int, wanted: str) -> bytes | None:
        found = self._uid("FETCH", str(uid), f"({wanted})")
        for item in found:
            if isinstance(item, tuple) and b"BODY[" in item[0].upper():
                data: bytes = item[1]
                return data
        return next((_inline(line) for line in _lines(found) if b"BODY[" in line.upper()), None)

    def _told(self, name: str) -> int:
        with failures():
            _, found = self._imap.response(name)
            return _number(found[-1] if found and found[-1] else b"")

    def _uid(self, command: str, *arguments: str) -> list[Any]:
        return self._answered("uid", command, *arguments)

    def _ask(self, command: str, *arguments: str) -> list[Any]:
        return self._answered({"SELECT": "select", "NAMESPACE": "namespace"}[command], *arguments)

    def _answered(self, method: str, *arguments: str) -> list[Any]:
        give_back_connections()
        with failures("folder" if method == "select" else "protocol"):
            self._imap.begin()
            status, found = getattr(self._imap, method)(*arguments)
            if status != "OK":
                raise imaplib.IMAP4.error
        return [item for item in found if item is not None]


@contextmanager
def open_mailbox(
    place: InboxPlace, *, seconds: float = CONNECTION_SECONDS, ending: Ending | None = None
) -> Iterator[Mailbox]:
    """Sign in and open the folder, for so many seconds at most. Raises `InboxFailed`, also in the block."""
    with open_imap(place, seconds=seconds, ending=ending) as imap:
        yield Mailbox(imap, place.folder)


def _lines(found: list[Any]) -> list[bytes]:
    return [item for item in found if isinstance(item, bytes)]


def _inline(line: bytes) -> bytes:
    """Return a part that is sent within the line, as a quoted string, or as NIL if it is empty."""
    value = line[line.upper().index(b"BODY[") :].partition(b"]")[2].partition(b" ")[2]
    if value[:3].upper() == b"NIL":
        return b""
    found, place = bytearray(), 1
    while value[place : place + 1] not in (b'"', b""):
        place += value[place : place + 1] == b"\\"
        found += value[place : place + 1]
        place += 1
    if value[:1] != b'"' or place >= len(value):
        raise InboxFailed("protocol")
    return bytes(found)


def _number(word: bytes) -> int:
    if not word.isdigit() or len(word) > 12:
        raise InboxFailed("protocol")
    return int(word)
