"""Uploads to the library on a slow line, scaled down: a request has 1.5 s to arrive instead of 30."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from hashlib import sha256

import pytest
from django.contrib.auth.models import User

from coaching.models import Document
from sage.http_limits import UPLOAD_BYTES_PER_SECOND
from tests.live_sage import LiveSage, SharedSage, session_cookie
from tests.sage.test_http_limits import received

pytestmark = pytest.mark.django_db(transaction=True)

REQUEST_SECONDS = 1.5
RATE = 2 * UPLOAD_BYTES_PER_SECOND
TOO_SLOW = UPLOAD_BYTES_PER_SECOND // 4
PIECES_PER_SECOND = 10
FILE_SECONDS = 1.5 * REQUEST_SECONDS
FILES = 2
TOKEN = "c" * 32
EDGE = "an edge of the form"


@pytest.fixture(scope="module")
def impatient_sage(django_db_setup: None) -> Iterator[SharedSage]:
    """A web process with the short limit."""
    shared = SharedSage(program=("tests/impatient_web.py", str(REQUEST_SECONDS)))
    yield shared
    shared.stop()


def upload_of(sage: LiveSage, cookie: str, name: str, text: bytes) -> tuple[bytes, bytes]:
    """Return the head and the body of a program's request."""
    body = (
        f'--{EDGE}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
        + text
        + f"\r\n--{EDGE}--\r\n".encode()
    )
    head = (
        f"POST /library/upload/ HTTP/1.1\r\nHost: localhost:{sage.port}\r\nOrigin: {sage.origin}\r\n"
        f"Cookie: {cookie}; csrftoken={TOKEN}\r\nX-CSRFToken: {TOKEN}\r\nAccept: application/json\r\n"
        f'Content-Type: multipart/form-data; boundary="{EDGE}"\r\nContent-Length: {len(body)}\r\n\r\n'
    )
    return head.encode(), body


def send_slowly(client: socket.socket, data: bytes, rate: int) -> bytes:
    """Send at so many bytes a second, and return the answer; sending ends where one comes before."""
    size = rate // PIECES_PER_SECOND
    client.settimeout(1 / PIECES_PER_SECOND)
    for place in range(0, len(data), size):
        client.sendall(data[place : place + size])
        if place + size >= len(data):
            break
        try:
            early = client.recv(1 << 16)
        except TimeoutError:
            continue
        return early + until_closed(client)
    client.settimeout(30)
    return received(client)


def until_closed(client: socket.socket) -> bytes:
    """Return the rest of an answer after which the server closes."""
    rest = b""
    client.settimeout(30)
    while piece := client.recv(1 << 16):
        rest += piece
    return rest


def test_a_slow_upload_is_taken_whole_and_only_one_that_is_too_slow_is_cut(
    impatient_sage: SharedSage, user: User
) -> None:
    sage = impatient_sage.serve()
    cookie = session_cookie(user)
    texts = [b"%d. The rent is due.\n" % number * int(RATE * FILE_SECONDS / 22) for number in range(FILES)]
    cut: list[bytes] = []

    def send_too_slowly() -> None:
        head, body = upload_of(sage, cookie, "too slow.txt", bytes(RATE))
        with socket.create_connection(("127.0.0.1", sage.port), timeout=30) as client:
            client.sendall(head)
            cut.append(send_slowly(client, body, TOO_SLOW))

    too_slow = threading.Thread(target=send_too_slowly)
    too_slow.start()
    with socket.create_connection(("127.0.0.1", sage.port), timeout=30) as client:
        for number, text in enumerate(texts):
            head, body = upload_of(sage, cookie, f"{number:02}.txt", text)
            client.sendall(head)
            began = time.monotonic()
            answer = send_slowly(client, body, RATE)
            assert answer.startswith(b"HTTP/1.1 200 "), answer
            assert time.monotonic() - began > REQUEST_SECONDS, "longer than a form may take"
    too_slow.join()
    documents = Document.of(user.pk).order_by("name")
    assert [(row.name, row.size, row.sha256) for row in documents] == [
        (f"{number:02}.txt", len(text), sha256(text).hexdigest()) for number, text in enumerate(texts)
    ]
    head, _, content = cut[0].partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(content) == {"error": "The request took too long to arrive."}
