"""A server that speaks IMAP over TLS and says what a test wants."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from coaching.inbox.place import InboxPlace, place_of

Answer = Callable[[bytes], bytes]
"""From a command's line to untagged lines, or `NO`."""

NO = b"NO"
Greet = Callable[[ssl.SSLSocket], None]

USUAL: Mapping[str, Answer] = {
    "CAPABILITY": lambda _: b"* CAPABILITY IMAP4REV1\r\n",
    "LOGIN": lambda _: b"",
    "SELECT": lambda _: b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n* OK [UIDNEXT 2] next\r\n",
    "SEARCH": lambda _: b"* SEARCH 1\r\n",
    "SIZE": lambda _: b"* 1 FETCH (UID 1 RFC822.SIZE 100)\r\n",
    "HEADER": lambda _: b"",
    "BODY": lambda _: b"",
    "CREATE": lambda _: b"",
    "MOVE": lambda _: b"",
    "LOGOUT": lambda _: b"* BYE\r\n",
}


def with_mails(mails: Mapping[int, bytes]) -> dict[str, Answer]:
    """Answer as a server does that has these mails, by number, and gives as much at once as is asked for."""
    next_uid = max(mails) + 1

    def size(line: bytes) -> bytes:
        return b"".join(
            b"* %d FETCH (UID %d RFC822.SIZE %d)\r\n" % (uid, uid, len(mails[uid])) for uid in uids_in(line)
        )

    def header(line: bytes) -> bytes:
        (uid,) = uids_in(line)
        return part(uid, b"BODY[HEADER]<0>", mails[uid].partition(b"\r\n\r\n")[0] + b"\r\n\r\n")

    def body(line: bytes) -> bytes:
        (uid,) = uids_in(line)
        first, length = map(int, line.partition(b"<")[2].partition(b">")[0].split(b"."))
        return part(uid, b"BODY[]<%d>" % first, mails[uid][first : first + length])

    return {
        "CAPABILITY": lambda _: b"* CAPABILITY IMAP4REV1 MOVE\r\n",
        "SELECT": lambda _: (
            b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n* OK [UIDNEXT %d] next\r\n" % next_uid
        ),
        "SEARCH": lambda _: b"* SEARCH %s\r\n" % b" ".join(b"%d" % uid for uid in mails),
        "SIZE": size,
        "HEADER": header,
        "BODY": body,
    }


def uids_in(line: bytes) -> list[int]:
    """Return the numbers that a FETCH or MOVE names."""
    return [int(word) for word in line.split()[3].split(b",")]


def part(uid: int, name: bytes, data: bytes) -> bytes:
    return b"* %d FETCH (UID %d %s {%d}\r\n" % (uid, uid, name, len(data)) + data + b")\r\n"


def usual_greeting(connection: ssl.SSLSocket) -> None:
    connection.sendall(b"* OK ready\r\n")


@contextmanager
def lying_server(
    certificate: Path, said: Mapping[str, Answer], *, greet: Greet = usual_greeting
) -> Iterator[InboxPlace]:
    """Run a server until the block ends; `said` replaces what it usually says."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        serving = threading.Thread(
            target=_serve, args=(server, context, {**USUAL, **said}, greet), daemon=True
        )
        serving.start()
        yield place_of(f"imaps://sage%40in.example:secret@localhost:{server.getsockname()[1]}/")
        server.shutdown(socket.SHUT_RDWR)
    serving.join(10)


def _serve(server: socket.socket, context: ssl.SSLContext, said: Mapping[str, Answer], greet: Greet) -> None:
    while True:
        try:
            plain, _ = server.accept()
        except OSError:
            return
        with suppress(OSError), context.wrap_socket(plain, server_side=True) as connection:
            greet(connection)
            for line in connection.makefile("rb"):
                answer = said[_kind_of(line)](line)
                if answer == NO:
                    connection.sendall(line.split()[0] + b" NO not now\r\n")
                    continue
                connection.sendall(answer)
                if not answer.startswith(b"HANG"):
                    connection.sendall(line.split()[0] + b" OK done\r\n")


def _kind_of(line: bytes) -> str:
    words = line.decode().split()
    if words[1] != "UID":
        return words[1]
    if words[2] in ("SEARCH", "MOVE"):
        return words[2]
    return next(kind for kind in ("SIZE", "HEADER", "BODY") if kind in line.decode())
