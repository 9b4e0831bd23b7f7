"""A server that speaks IMAP over TLS and says what a test wants."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from coaching.inbox.place import InboxPlace, place_of

Answer = Callable[[bytes], bytes]
"""From a command's line to untagged lines."""

USUAL: Mapping[str, Answer] = {
    "CAPABILITY": lambda _: b"* CAPABILITY IMAP4REV1\r\n",
    "LOGIN": lambda _: b"",
    "SELECT": lambda _: b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n* OK [UIDNEXT 2] next\r\n",
    "SEARCH": lambda _: b"* SEARCH 1\r\n",
    "SIZE": lambda _: b"* 1 FETCH (UID 1 RFC822.SIZE 100)\r\n",
    "HEADER": lambda _: b"",
    "BODY": lambda _: b"",
    "LOGOUT": lambda _: b"* BYE\r\n",
}


@contextmanager
def lying_server(certificate: Path, said: Mapping[str, Answer]) -> Iterator[InboxPlace]:
    """Run a server until the block ends; `said` replaces what it usually says."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        serving = threading.Thread(target=_serve, args=(server, context, {**USUAL, **said}), daemon=True)
        serving.start()
        yield place_of(f"imaps://sage%40in.example:secret@localhost:{server.getsockname()[1]}/")
        server.shutdown(socket.SHUT_RDWR)
    serving.join(10)


def _serve(server: socket.socket, context: ssl.SSLContext, said: Mapping[str, Answer]) -> None:
    while True:
        try:
            plain, _ = server.accept()
        except OSError:
            return
        with suppress(OSError), context.wrap_socket(plain, server_side=True) as connection:
            connection.sendall(b"* OK ready\r\n")
            for line in connection.makefile("rb"):
                answer = said[_kind_of(line)](line)
                connection.sendall(answer)
                if not answer.startswith(b"HANG"):
                    connection.sendall(line.split()[0] + b" OK done\r\n")


def _kind_of(line: bytes) -> str:
    words = line.decode().split()
    if words[1] != "UID":
        return words[1]
    if words[2] == "SEARCH":
        return "SEARCH"
    return next(kind for kind in ("SIZE", "HEADER", "BODY") if kind in line.decode())
