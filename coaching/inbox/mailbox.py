"""A mailbox on an IMAP server: sizes and headers first, whole mails in chunks, never more than is asked for.

The server isn't trusted with memory or time: literals and lines of one command have a limit together, every
wait has one, and so has the whole connection. Messages of errors may repeat what the server says, so only a
kind of failure leaves this module.
"""

import imaplib
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

from coaching.inbox.place import TARGET, InboxPlace

WAIT_SECONDS = 30.0
CONNECTION_SECONDS = 240.0
MAX_HEADER = 64 * 1024
CHUNK = 1 << 20
COMMAND_BYTES = CHUNK + 256 * 1024
"""What the answer to one command may have."""
MAX_UID = 2**32 - 1
UIDS_AT_ONCE = 1_000


class InboxFailed(Exception):
    """The mailbox can't be read now. The text is a kind of failure: a word for logs and operators."""


class _BoundedImap(imaplib.IMAP4_SSL):
    left = COMMAND_BYTES

    def read(self, size: int) -> bytes:
        self._count(size)
        return super().read(size)

    def readline(self) -> bytes:
        line: bytes = super().readline()
        self._count(len(line))
        return line

    def cut(self) -> None:
        """End the connection, from any thread: closing it would wait for a thread that reads."""
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def _count(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise self.abort("too much")


class Mailbox:
    """An open folder. Used by one thread; `close` may be called by another, and ends what waits."""

    def __init__(self, imap: _BoundedImap, folder: str) -> None:
        self._imap = imap
        self._ask("SELECT", _quoted(folder))
        self.uid_validity = self._told("UIDVALIDITY")
        self.uid_next = self._told("UIDNEXT")
        self._target = ""

    def uids(self, first: int, last: int) -> list[int]:
        """Return the numbers of the mails from one number to another, in order."""
        (line,) = self._lines(self._uid("SEARCH", "UID", f"{first}:{last}"), most=1)
        # `*` and ranges that are turned around may bring others.
        return sorted(uid for word in line.split() if first <= (uid := _number(word)) <= last)

    def sizes(self, uids: list[int]) -> Mapping[int, int]:
        """Return what the server says of the sizes of some mails, which may be wrong."""
        found = self._uid("FETCH", ",".join(map(str, uids)), "(RFC822.SIZE)")
        words = [line.upper().split() for line in _without_brackets(found)]
        return {
            _number(after[b"UID"]): _number(after[b"RFC822.SIZE"])
            for line in words
            if {b"UID", b"RFC822.SIZE"} <= (after := dict(pairwise(line))).keys()
        }

    def header(self, uid: int) -> bytes | None:
        """Return the headers of a mail, of long ones one byte too many; None if the mail is gone."""
        return self._part(uid, f"BODY.PEEK[HEADER]<0.{MAX_HEADER + 1}>")

    def whole(self, uid: int, *, most: int) -> bytes | None:
        """Return a mail's bytes; None if the mail is gone, or has more than `most`."""
        found = bytearray()
        while len(found) <= most:
            chunk = self._part(uid, f"BODY.PEEK[]<{len(found)}.{CHUNK}>")
            if chunk is None:
                return None
            found += chunk
            if len(chunk) < CHUNK:
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

    def close(self) -> None:
        self._imap.cut()

    def _made_target(self) -> str:
        """Create the folder, below the account's own prefix if the server has one, and return its name."""
        prefix = ""
        if "NAMESPACE" in self._imap.capabilities:
            (line, *_) = self._lines(self._ask("NAMESPACE"), most=10)
            personal = line.split(b'"')
            prefix = personal[1].decode("ascii", "replace") if line.startswith(b'(("') else ""
        target = _quoted(f"{prefix}{TARGET}")
        with _failures(), suppress(imaplib.IMAP4.error):
            # Refused if it is there. A connection that is lost meanwhile shows in the next command.
            self._imap.left = COMMAND_BYTES
            self._imap.create(target)
        return target

    def _part(self, uid: int, wanted: str) -> bytes | None:
        found = self._uid("FETCH", str(uid), f"({wanted})")
        for item in found:
            if isinstance(item, tuple) and b"BODY[" in item[0].upper():
                data: bytes = item[1]
                return data
        # An empty part may come as a quoted string, or as NIL.
        is_there = any(isinstance(item, bytes) and b"BODY[" in item.upper() for item in found)
        return b"" if is_there else None

    def _told(self, name: str) -> int:
        with _failures():
            _, found = self._imap.response(name)
            return _number(found[-1] if found and found[-1] else b"")

    def _uid(self, command: str, *arguments: str) -> list[Any]:
        return self._answered("uid", command, *arguments)

    def _ask(self, command: str, *arguments: str) -> list[Any]:
        return self._answered({"SELECT": "select", "NAMESPACE": "namespace"}[command], *arguments)

    def _answered(self, method: str, *arguments: str) -> list[Any]:
        with _failures():
            self._imap.left = COMMAND_BYTES
            status, found = getattr(self._imap, method)(*arguments)
        if status != "OK":
            raise InboxFailed("folder" if method == "select" else "protocol")
        return [item for item in found if item is not None]

    def _lines(self, found: list[Any], *, most: int) -> list[bytes]:
        lines = [item for item in found if isinstance(item, bytes)][:most]
        return lines or [b""]


@contextmanager
def open_mailbox(place: InboxPlace, *, seconds: float = CONNECTION_SECONDS) -> Iterator[Mailbox]:
    """Sign in and open the folder, for so many seconds at most. Raises `InboxFailed`, also in the block."""
    with _failures():
        # Verifies the certificate and the name; SSL_CERT_FILE may name other roots.
        imap = _BoundedImap(
            place.host, place.port, ssl_context=ssl.create_default_context(), timeout=WAIT_SECONDS
        )
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        imap.cut()

    ending = threading.Timer(seconds, end)
    ending.daemon = True
    ending.start()
    try:
        _sign_in(imap, place)
        yield Mailbox(imap, place.folder)
        with suppress(Exception):
            imap.left = COMMAND_BYTES
            imap.logout()
    except InboxFailed:
        if is_over.is_set():
            raise InboxFailed("timeout") from None
        raise
    finally:
        ending.cancel()
        with suppress(OSError):
            imap.shutdown()


def _sign_in(imap: _BoundedImap, place: InboxPlace) -> None:
    imap.left = COMMAND_BYTES
    said = f"\0{place.user}\0{place.password}".encode()
    with _failures("login"):
        if "AUTH=PLAIN" in imap.capabilities:
            imap.authenticate("PLAIN", lambda _: said)
        else:
            imap.login(place.user, place.password)
    with _failures():
        # Many servers say only now what they can do.
        _, found = imap.capability()
        imap.capabilities = tuple(
            b" ".join(each or b"" for each in found).decode("ascii", "replace").upper().split()
        )


@contextmanager
def _failures(refused: str = "protocol") -> Iterator[None]:
    """Raise what goes wrong as `InboxFailed`; `refused` is the kind for a server that says no."""
    try:
        yield
    except ssl.SSLCertVerificationError:
        raise InboxFailed("certificate") from None
    except TimeoutError:
        raise InboxFailed("timeout") from None
    except imaplib.IMAP4.abort:
        raise InboxFailed("protocol") from None
    except imaplib.IMAP4.error:
        raise InboxFailed(refused) from None
    except OSError:
        raise InboxFailed("unreachable") from None
    except (ValueError, LookupError, AttributeError, TypeError):  # the library's, for odd answers
        raise InboxFailed("protocol") from None


def _without_brackets(found: list[Any]) -> list[bytes]:
    lines = [item for item in found if isinstance(item, bytes)]
    return [line.replace(b"(", b" ").replace(b")", b" ") for line in lines]


def _number(word: bytes) -> int:
    if not word.isdigit() or len(word) > 12:
        raise InboxFailed("protocol")
    return int(word)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
