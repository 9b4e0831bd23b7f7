"""A connection to an IMAP server that can cost neither memory nor time, and what can go wrong with it.

The server isn't trusted: bytes and lines of the answer to one command have a limit, every wait has one, and
so has the whole connection, from its first byte. Messages of errors may repeat what the server says, so only
a kind of failure leaves this module.
"""

import imaplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from coaching.inbox.place import InboxPlace
from sessions_app.database import give_back_connections

LOOK_UP_SECONDS = 8.0
LOOK_UP_POLL_SECONDS = 0.1
LOOK_UP_THREAD = "look up a mail server"
MAX_ADDRESSES = 4
CONNECT_SECONDS = 8.0
"""For each address of the server. Nothing cuts this wait, and a worker stops within nine seconds."""
WAIT_SECONDS = 30.0
CONNECTION_SECONDS = 240.0
CHUNK = 1 << 20
COMMAND_BYTES = CHUNK + 256 * 1024
"""What the answer to one command may have."""
COMMAND_LINES = 5_000


class InboxFailed(Exception):
    """The mailbox can't be read now. The text is a kind of failure: a word for logs and operators."""


class NotDone(InboxFailed):
    """The server says no to one command; the connection may go on."""


class Ending:
    """Ends a connection, from any thread and at any time: closing it would wait for a thread that reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_cut = False

    def hold(self, connection: socket.socket) -> None:
        """Name the socket, which ends at once if that was asked for before."""
        with self._lock:
            self._socket = connection
            if self._is_cut:
                _cut(connection)

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            if self._socket is not None:
                _cut(self._socket)

    @property
    def is_cut(self) -> bool:
        return self._is_cut


class BoundedImap(imaplib.IMAP4_SSL):
    """The library's client, whose answers have limits. `begin` comes before each command."""

    def __init__(self, place: InboxPlace, ending: Ending) -> None:
        self._ending = ending
        self._bytes_left, self._lines_left = COMMAND_BYTES, COMMAND_LINES
        # Verifies the certificate and the name; SSL_CERT_FILE may name other roots.
        super().__init__(place.host, place.port, ssl_context=ssl.create_default_context())

    def begin(self) -> None:
        """Clear unrequested responses, which the library keeps, and reset the limits before a command."""
        self.untagged_responses.clear()
        self._bytes_left, self._lines_left = COMMAND_BYTES, COMMAND_LINES

    def read(self, size: int) -> bytes:
        self._count(size)
        return super().read(size)

    def readline(self) -> bytes:
        line: bytes = self.file.readline(self._bytes_left + 1)
        self._lines_left -= 1
        self._count(len(line))
        return line

    def _create_socket(self, timeout: float | None) -> ssl.SSLSocket:
        plain = _connected(_look_up(self.host, self.port, self._ending), self._ending)
        plain.settimeout(WAIT_SECONDS)
        secure: ssl.SSLSocket = self.ssl_context.wrap_socket(
            plain, server_hostname=self.host, do_handshake_on_connect=False
        )
        try:
            self._ending.hold(secure)
            secure.do_handshake()
        except BaseException:
            secure.close()
            raise
        return secure

    def _count(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0 or self._lines_left < 0:
            raise self.abort("too much")


@contextmanager
def open_imap(
    place: InboxPlace, *, seconds: float = CONNECTION_SECONDS, ending: Ending | None = None
) -> Iterator[BoundedImap]:
    """Connect and sign in, for so many seconds at most. Raises `InboxFailed`, also in the block."""
    ending = ending or Ending()
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        ending.cut()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        give_back_connections()
        with failures():
            imap = BoundedImap(place, ending)
        try:
            _sign_in(imap, place)
            yield imap
            with suppress(Exception):
                imap.begin()
                imap.logout()
        finally:
            with suppress(OSError):
                imap.shutdown()
    except InboxFailed:
        if is_over.is_set():
            raise InboxFailed("timeout") from None
        raise
    finally:
        timer.cancel()


@contextmanager
def failures(refused: str = "protocol") -> Iterator[None]:
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
        raise NotDone(refused) from None
    except ssl.SSLError:
        raise InboxFailed("tls") from None
    except OSError:
        raise InboxFailed("unreachable") from None
    except (ValueError, LookupError, AttributeError, TypeError):  # the library's, for odd answers
        raise InboxFailed("protocol") from None


def _look_up(host: str, port: int, ending: Ending) -> Sequence[tuple[str, int]]:
    """Return the server's first addresses. Raises `OSError`, and `UnicodeError` for a name that can't be one.

    The system's look-up has no limit and can't be ended, so it has a thread that may be left behind. As long
    as one is, there is no other.
    """
    found: list[tuple[str, int]] = []
    failures: list[OSError | UnicodeError] = []

    def ask() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend((str(address[0]), port) for *_, address in answers[:MAX_ADDRESSES])
        except (OSError, UnicodeError) as error:
            failures.append(error)

    if any(thread.name == LOOK_UP_THREAD for thread in threading.enumerate()):
        raise TimeoutError
    asking = threading.Thread(target=ask, name=LOOK_UP_THREAD, daemon=True)
    asking.start()
    until = time.monotonic() + LOOK_UP_SECONDS
    while asking.is_alive():
        if ending.is_cut or time.monotonic() > until:
            raise TimeoutError
        asking.join(LOOK_UP_POLL_SECONDS)
    if failures:
        raise failures[0]
    return found


def _connected(addresses: Sequence[tuple[str, int]], ending: Ending) -> socket.socket:
    """Return a connection to the first address that takes one. Raises `OSError`."""
    failure = OSError("no address")
    for address in addresses:
        if ending.is_cut:
            raise TimeoutError
        try:
            return socket.create_connection(address, CONNECT_SECONDS)
        except OSError as error:
            failure = error
    raise failure


def quoted(text: str) -> str:
    """Return a text as a string of IMAP."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _sign_in(imap: BoundedImap, place: InboxPlace) -> None:
    said = f"\0{place.user}\0{place.password}".encode()
    has_plain = "AUTH=PLAIN" in imap.capabilities
    if not has_plain and not (place.user + place.password).isascii():
        raise InboxFailed("login")
    with failures("login"):
        imap.begin()
        if has_plain:
            imap.authenticate("PLAIN", lambda _: said)
        else:
            imap.login(quoted(place.user), place.password)
    with failures():
        # Many servers say only now what they can do.
        imap.begin()
        _, found = imap.capability()
        imap.capabilities = tuple(
            b" ".join(each or b"" for each in found).decode("ascii", "replace").upper().split()
        )


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        # Not the method of TLS sockets, which forgets the TLS that another thread reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
