"""A mailbox on a server that fails, lies or has old habits."""

import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import pytest
from django.contrib.auth.models import User

from coaching.inbox import connection as connections
from coaching.inbox import state
from coaching.inbox.connection import CHUNK, Ending, InboxFailed, quoted
from coaching.inbox.mailbox import open_mailbox
from coaching.inbox.place import InboxPlace, place_of
from coaching.inbox.polling import Reading
from coaching.models import InboxMail, InboxState
from tests.inbox.conftest import NOW, Inbox
from tests.inbox.dovecot import Dovecot
from tests.inbox.lying_server import Answer, lying_server, part
from tests.inbox.mails import SERVER, Mail

pytestmark = pytest.mark.django_db(transaction=True)

GREETING_SECONDS = 20.0
LITERAL = b"* 1 FETCH (UID 1 BODY[] {%d}\r\n"


def chunk(line: bytes) -> bytes:
    """Give as much of a body as is asked for, without end."""
    return LITERAL % CHUNK + b"a" * CHUNK + b")\r\n"


LIES: dict[str, Mapping[str, Answer]] = {
    "a literal of a terabyte": {"BODY": lambda _: LITERAL % 10**12 + b"a" * 1000},
    "lines without end": {"BODY": lambda _: b"* 1 FETCH (FLAGS ())\r\n" * 100_000},
    "many short lines": {"BODY": lambda _: b"* 1 FETCH\r\n" * 6_000},
    "a part without end": {"BODY": lambda _: b'* 1 FETCH (UID 1 BODY[] "a)\r\n'},
    "a line without end": {"BODY": lambda _: b"* " + b"a" * 2_000_000},
    "no numbers": {"SELECT": lambda _: b"* 1 EXISTS\r\n"},
    "no number": {"SEARCH": lambda _: b"* SEARCH 1 one\r\n"},
    "another language": {"SEARCH": lambda _: b"HTTP/1.1 200 OK\r\n"},
    "silence": {"SEARCH": lambda _: b"HANG\r\n"},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_server_costs_neither_memory_nor_time(trusted: Path, lie: str) -> None:
    tracemalloc.start()
    try:
        with lying_server(trusted, LIES[lie]) as place, pytest.raises(InboxFailed):
            read_one(place)
        assert tracemalloc.get_traced_memory()[1] < 20 * CHUNK
    finally:
        tracemalloc.stop()


def read_one(place: InboxPlace) -> None:
    with open_mailbox(place, seconds=1) as box:
        box.uids(1, 10)
        box.whole(1, size=100, most=3 * CHUNK)


def test_a_body_that_is_longer_than_its_size_says_is_given_up(trusted: Path) -> None:
    with lying_server(trusted, {"BODY": chunk}) as place, open_mailbox(place) as box:
        assert box.sizes([1]) == {1: 100}
        assert box.whole(1, size=100, most=2 * CHUNK + 5) is None


def test_what_a_server_says_beside_its_answers_is_forgotten(trusted: Path) -> None:
    junk = b"* LIST " + b"a" * CHUNK + b"\r\n"
    with (
        lying_server(trusted, {"SEARCH": lambda _: junk + b"* SEARCH 1\r\n"}) as place,
        open_mailbox(place) as box,
    ):
        tracemalloc.start()
        try:
            assert all(box.uids(1, 10) == [1] for _ in range(40))
            assert tracemalloc.get_traced_memory()[1] < 20 * CHUNK
        finally:
            tracemalloc.stop()


def test_the_time_of_a_connection_begins_before_the_greeting(trusted: Path) -> None:
    began = time.monotonic()
    with lying_server(trusted, {}, greet=trickle) as place, pytest.raises(InboxFailed, match="timeout"):
        read_one(place)
    assert time.monotonic() - began < GREETING_SECONDS / 2


def trickle(connection: ssl.SSLSocket) -> None:
    """Greet byte by byte, each within the time that one may take."""
    for _ in range(int(GREETING_SECONDS * 10)):
        connection.sendall(b"*")
        time.sleep(0.1)


def test_a_stop_is_heard_while_the_server_greets(trusted: Path) -> None:
    greeted = threading.Event()

    def greet(connection: ssl.SSLSocket) -> None:
        greeted.set()
        trickle(connection)

    with lying_server(trusted, {}, greet=greet) as place:
        reading = Reading(place, server=SERVER, clock=lambda: NOW)

        def stop() -> None:
            greeted.wait(30)
            reading.stop()

        stopping = threading.Thread(target=stop)
        stopping.start()
        began = time.monotonic()
        reading.run(is_due_only=False)
        assert time.monotonic() - began < GREETING_SECONDS / 2
        stopping.join()
    assert InboxState.objects.get().failures == 0


def test_a_name_that_is_looked_up_for_long_costs_its_time_and_a_stop_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, over, times = threading.Event(), threading.Event(), []

    def look_up(*_: object, **__: object) -> NoReturn:
        times.append(time.monotonic())
        asked.set()
        over.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    place = place_of("imaps://sage%40in.example:secret@mail.example/")
    began = time.monotonic()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(connections, "LOOK_UP_SECONDS", 0.2)
            for _ in range(2):
                with pytest.raises(InboxFailed, match="timeout"):
                    read_one(place)
        assert len(times) == 1, "as long as a look-up hangs, there is no other"
        over.set()
        for thread in threading.enumerate():
            if thread.name == connections.LOOK_UP_THREAD:
                thread.join()
        over.clear()
        asked.clear()
        ending = Ending()

        def stop() -> None:
            asked.wait(30)
            ending.cut()

        stopping = threading.Thread(target=stop)
        stopping.start()
        with pytest.raises(InboxFailed, match="timeout"), open_mailbox(place, ending=ending):
            pass
        stopping.join()
    finally:
        over.set()
    assert time.monotonic() - began < connections.LOOK_UP_SECONDS


def test_a_name_that_no_server_can_have_is_a_failure_of_its_own_kind() -> None:
    place = place_of(f"imaps://sage%40in.example:secret@{'a' * 64}.example/")
    with pytest.raises(InboxFailed, match="protocol"):
        read_one(place)


def test_a_mail_is_whole_however_little_comes_at_once(trusted: Path) -> None:
    parts = {
        0: part(1, b"BODY[]<0>", b"A: b\r\n"),
        6: b'* 1 FETCH (UID 1 BODY[]<6> "c \\"d\\"")\r\n',
        11: b'* 1 FETCH (UID 1 BODY[]<11> "")\r\n',
    }
    body = {"BODY": lambda line: parts[int(line.partition(b"<")[2].partition(b".")[0])]}
    with lying_server(trusted, body) as place, open_mailbox(place) as box:
        assert box.whole(1, size=100, most=CHUNK) == b'A: b\r\nc "d"'


def test_numbers_may_stand_in_several_lines(trusted: Path) -> None:
    found = b"* SEARCH 3 1\r\n* SEARCH\r\n* SEARCH 2 3\r\n"
    with lying_server(trusted, {"SEARCH": lambda _: found}) as place, open_mailbox(place) as box:
        assert box.uids(1, 10) == [1, 2, 3]


def test_a_mail_of_several_chunks_is_whole(inbox: Inbox) -> None:
    for size in (0, CHUNK - 7, 2 * CHUNK):
        inbox.deliver(b"A: b\r\n\r\n", hole=size)
    with open_mailbox(inbox.place) as box:
        uids = box.uids(1, 100)
        sizes = box.sizes(uids)
        found = [box.whole(uid, size=sizes[uid], most=3 * CHUNK) for uid in uids]
    assert [len(each or b"") for each in found] == [8, CHUNK + 1, 2 * CHUNK + 8]


def test_failures_have_a_kind_and_are_tried_again_later_each_time(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = place_of(inbox.url.replace("a_password", "another_password"))
    assert failure_of(wrong) == "login"
    assert failure_of(place_of(inbox.url.replace("INBOX", "Nothing"))) == "folder"
    assert failure_of(place_of(inbox.url.replace("localhost", "127.0.0.1"))) == "certificate"
    monkeypatch.delenv("SSL_CERT_FILE")
    assert failure_of(inbox.place) == "certificate"
    assert failure_of(place_of("imaps://a%40b.example:c@localhost:1/")) == "unreachable"
    found = InboxState.objects.get()
    assert (found.failures, found.failing_since, found.error) == (5, NOW, "unreachable")
    assert found.next_try_at == NOW + timedelta(minutes=16)
    assert inbox.read(is_due_only=True).error == ""
    assert InboxState.objects.get().failures == 5

    monkeypatch.setenv("SSL_CERT_FILE", str(inbox.server.certificate))
    inbox.now = NOW + timedelta(minutes=17)
    inbox.read(is_due_only=True)
    found = InboxState.objects.get()
    assert (found.failures, found.failing_since, found.error, found.read_at) == (0, None, "", inbox.now)


def failure_of(place: InboxPlace) -> str:
    reading = Reading(place, server=SERVER, clock=lambda: NOW)
    reading.run(is_due_only=False)
    return reading.error


def test_what_a_dead_reader_took_is_moved_by_the_next(
    inbox: Inbox, user: User, confirm: Callable[[User], None]
) -> None:
    confirm(user)
    mail = Mail(to=inbox.address_of(user)).written()
    inbox.deliver(mail)
    assert inbox.read().counts == {"taken": 1}
    inbox.deliver(mail)
    # As if it had died after storing the mail that lies in the inbox now.
    InboxMail.of(user.pk).update(uid=2, is_moved=False)
    InboxState.objects.update(last_uid=2)
    assert not inbox.read().counts
    assert (inbox.left, len(inbox.moved)) == (0, 2)


def test_a_reader_that_was_replaced_writes_nothing(inbox: Inbox) -> None:
    first = state.take_lease(now=NOW, is_due_only=False)
    second = state.take_lease(now=NOW, is_due_only=False)
    assert first is not None
    assert second is not None
    with pytest.raises(state.LeaseLost):
        state.pass_over(first, 1)
    state.pass_over(second, 1)
    assert InboxState.objects.get().last_uid == 1


@contextmanager
def server_that_can(capability: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inbox]:
    with TemporaryDirectory(prefix="sage-dovecot-") as folder:
        server = Dovecot(Path(folder), capability=capability)
        try:
            server.wait()
            monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
            yield Inbox(server=server, url=server.new_url())
        finally:
            server.stop()


@pytest.mark.parametrize(("capability", "left"), [("IMAP4rev1 UIDPLUS", 0), ("IMAP4rev1", 1)])
def test_a_server_that_cannot_move_copies_and_deletes(
    dovecot: Dovecot,
    user: User,
    confirm: Callable[[User], None],
    monkeypatch: pytest.MonkeyPatch,
    capability: str,
    left: int,
) -> None:
    confirm(user)
    with server_that_can(capability, monkeypatch) as inbox:
        inbox.deliver(Mail(to=inbox.address_of(user)).written())
        assert inbox.read().counts == {"taken": 1}
        assert not inbox.read().counts
        # Without UIDPLUS it stays, marked as deleted.
        assert (inbox.left, len(inbox.moved)) == (left, 1)


def test_the_password_is_in_no_text_of_a_place() -> None:
    place = place_of("imaps://sage%40in.example:very%20secret@mail.example/")
    assert place.password == "very secret"
    assert "secret" not in repr(place) + str(place)
    assert (place.host, place.port, place.folder) == ("mail.example", 993, "INBOX")
    assert quoted('a"b\\c') == '"a\\"b\\\\c"'
