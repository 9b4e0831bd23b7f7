"""A whole Sage for tests: a web process on the test's database, and a practice model that the test controls.

The web process serves several files and stops before a file that doesn't need it; the practice model runs in
the test's event loop, on a fixed port.
"""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
import websockets
from django.contrib.auth.models import User
from django.db import connection

from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.leases import read_beats
from sessions_app.models import Turn, TurnStatus
from tests.browsers import confirmed_browser_of
from tests.embedded_database import FOLDER_VARIABLE
from tests.failures import replaced_after_failure
from tests.forked import ForkedProcess

START_SECONDS = 60
FRAME_SECONDS = 30.0
"""A frame's time limit, wide enough for a busy machine."""
WEB = ("manage.py", "web")
METRICS_TOKEN = "metrics of the tests"

Frame = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSage:
    """A running web process."""

    port: int
    practice_port: int
    process: ForkedProcess
    log: Path

    @property
    def origin(self) -> str:
        """The Origin header of its pages."""
        return f"http://localhost:{self.port}"

    def socket_url(self, session_id: object) -> str:
        """Return the WebSocket's URL of one session."""
        return f"ws://localhost:{self.port}/ws/sessions/{session_id}/"


def start_web_process(*, practice_port: int, program: tuple[str, ...] = WEB, **variables: str) -> LiveSage:
    """Start `manage.py web`, or a replacement, on the test database; wait until its port is open."""
    environment = os.environ | {
        "DATABASE_URL": url_of_test_database(),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{practice_port}",
        "ANTHROPIC_API_KEY": "practice",
        "SAGE_RATE_LIMIT": "1000/60s",
        "SAGE_METRICS_TOKEN": METRICS_TOKEN,
        "SAGE_SAFETY_MODEL": "off",  # else a second look would be among the requests
        "DJANGO_SETTINGS_MODULE": "sage.settings",
        **variables,
    }
    log = Path(os.environ[FOLDER_VARIABLE]) / f"web-{practice_port}-{time.monotonic_ns()}.log"
    process = ForkedProcess((*program, "--port", "0"), environment=environment, log=log)
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if found := re.search(r"Sage answers at http://localhost:(\d+)/", log.read_text()):
            return LiveSage(port=int(found[1]), practice_port=practice_port, process=process, log=log)
        time.sleep(0.05)
    process.kill()
    raise AssertionError("the web process didn't start:\n" + log.read_text())


def stop_web_process(sage: LiveSage) -> None:
    """Stop the process; kill it if it doesn't stop."""
    sage.process.send_signal(signal.SIGTERM)
    try:
        sage.process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        sage.process.kill()
        sage.process.wait()


async def until_it_beats(sage: LiveSage) -> None:
    """Wait until the process's heartbeat is stored: the previous test has deleted it with everything else.

    Otherwise another process would take it for a stopped one and take over its turns.
    """
    pid = str(sage.process.pid)
    async with asyncio.timeout(FRAME_SECONDS):
        while pid not in {owner.split(":")[1] for owner in await in_database(read_beats)}:  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def url_of_test_database() -> str:
    """Return the test database's environment for another process."""
    values = connection.settings_dict
    base, _, query = os.environ["DATABASE_URL"].partition("?")
    server, _, _ = base.rpartition("/")
    return f"{server}/{values['NAME']}" + (f"?{query}" if query else "")


class SharedSage:
    """A web process for several tests.

    The one for several files stops before any other file's first test: it must not take over their turns on
    the worker's only database.
    """

    def __init__(self, *, program: tuple[str, ...] = WEB, **variables: str) -> None:
        self._program = program
        self._variables = variables
        self._sage: LiveSage | None = None

    def serve(self) -> LiveSage:
        """Return the process, starting it if necessary."""
        if self._sage is None or self._sage.process.poll() is not None:
            self._sage = start_web_process(
                practice_port=free_port(), program=self._program, **self._variables
            )
        return self._sage

    def stop(self) -> None:
        """End the process where it runs."""
        sage, self._sage = self._sage, None
        if sage is not None:
            stop_web_process(sage)


SHARED = SharedSage()


@pytest.fixture(scope="session")
def shared_sage(django_db_setup: None) -> Iterator[SharedSage]:
    """The shared process, stopped while its database still exists."""
    yield SHARED
    SHARED.stop()


@pytest.fixture
def live_sage(shared_sage: SharedSage, request: pytest.FixtureRequest) -> Iterator[LiveSage]:
    """One web process for several files; each test brings its own model."""
    if shared_sage is not SHARED:
        SHARED.stop()  # it would take over turns whose process's heartbeat was deleted after a test
    with replaced_after_failure(request, shared_sage.stop):
        yield shared_sage.serve()


async def end_turns(sage: LiveSage) -> None:
    """Stop running turns and wait for them: otherwise they would call the next test's model.

    Some run on without a row that says so: those that were withdrawn, and those of a test before whose rows
    are deleted. Nothing runs in a process that the test has ended.
    """
    running = Turn.unscoped.filter(status=TurnStatus.RUNNING)
    deadline = time.monotonic() + FRAME_SECONDS
    while (  # noqa: ASYNC110  # no event tells it: another process runs them
        sage.process.poll() is None
        and await in_database(running.update, is_stop_requested=True) > 0
        and time.monotonic() < deadline
    ):
        await asyncio.sleep(0.02)
    while (  # noqa: ASYNC110 - as above
        await asyncio.to_thread(count_running_turns, sage) and time.monotonic() < deadline
    ):
        await asyncio.sleep(0.05)


def count_running_turns(sage: LiveSage) -> int:
    """Return how many turns run in the process; 0 if it doesn't answer any more."""
    headers = {"Authorization": f"Bearer {METRICS_TOKEN}"}
    request = urllib.request.Request(f"{sage.origin}/metrics", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=FRAME_SECONDS) as answer:
            found = re.search(rb"^sage_running_turns (\d+)", answer.read(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


@asynccontextmanager
async def serve_practice(sage: LiveSage) -> AsyncIterator[PracticeServer]:
    """Run the web process's model, without delay; scripts and faults end with it.

    The web process's log is printed, so that a failure shows it.
    """
    await end_turns(sage)
    logged = sage.log.stat().st_size
    async with PracticeServer(keeps_bodies=True, port=sage.practice_port, tokens_per_second=0) as server:
        try:
            yield server
        finally:
            await end_turns(sage)
            print(sage.log.read_bytes()[logged:].decode(errors="replace"))  # noqa: T201 - pytest shows it with the failure


@pytest.fixture
async def practice(live_sage: LiveSage) -> AsyncIterator[PracticeServer]:
    """The model behind `live_sage`, during a test."""
    async with serve_practice(live_sage) as server:
        yield server


def session_cookie(user: User) -> str:
    """Sign the user in, who just gave their password, and return the Cookie header of their browser."""
    client = confirmed_browser_of(user)
    return f"sessionid={client.cookies['sessionid'].value}"


class SocketClient:
    """A WebSocket client for `sage.json` that keeps every frame."""

    def __init__(self, connection: websockets.ClientConnection) -> None:
        self.connection = connection
        self.frames: list[Frame] = []

    async def send(self, **frame: object) -> Self:
        """Send one frame."""
        await self.connection.send(json.dumps(frame))
        return self

    async def next_frame(self) -> Frame:
        """Return the next frame; a timeout fails the test."""
        text = await asyncio_timeout(self.connection.recv())
        frame: Frame = json.loads(text)
        self.frames.append(frame)
        return frame

    async def until(self, name: str) -> list[Frame]:
        """Return the frames up to the first one of that name, it included."""
        got = []
        while True:
            got.append(await self.next_frame())
            if name in got[-1]:
                return got

    async def html_until(self, part: str) -> str:
        """Return the HTML fragments up to the first one that contains the part."""
        got = ""
        while part not in got:
            got += str(await asyncio_timeout(self.connection.recv()))
        return got

    async def html_of_sync(self) -> str:
        """Return the first fragments: before them, a reader isn't attached."""
        return await self.html_until('data-event="sync"')

    async def html_closed_with(self) -> int | None:
        """Read fragments until the server closes and return its code."""
        try:
            while True:
                await asyncio_timeout(self.connection.recv())
        except websockets.ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None

    async def closed_with(self) -> int | None:
        """Read on until the server closes and return its code."""
        try:
            while True:
                await self.next_frame()
        except websockets.ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


async def asyncio_timeout(awaitable: Any) -> Any:
    """Await with a test's time limit."""
    async with asyncio.timeout(FRAME_SECONDS):
        return await awaitable


@asynccontextmanager
async def open_socket(
    sage: LiveSage,
    session_id: object,
    cookie: str = "",
    *,
    origin: str | None = "",
    subprotocols: tuple[str, ...] = ("sage.json",),
) -> AsyncIterator[SocketClient]:
    """Open a session's WebSocket; an empty `origin` is the page's own, None sends none."""
    headers = {"Cookie": cookie} if cookie else {}
    sent_origin = sage.origin if origin == "" else origin
    async with websockets.connect(
        sage.socket_url(session_id),
        origin=websockets.Origin(sent_origin) if sent_origin else None,
        additional_headers=headers,
        subprotocols=[websockets.Subprotocol(name) for name in subprotocols] or None,
        max_size=None,
        max_queue=None,  # otherwise, closing with many unread frames waits for ten seconds
        proxy=None,
    ) as socket_connection:
        yield SocketClient(socket_connection)


def text_of(frames: list[Frame]) -> str:
    """Return the text of a client that concatenates, breaks paragraphs between rounds and obeys syncs."""
    text, is_break_due = "", False
    for frame in frames:
        if "sync" in frame:
            text, is_break_due = frame["sync"]["text"], False
        elif "text" in frame:
            text += ("\n\n" if text and is_break_due else "") + frame["text"]
            is_break_due = False
        elif "roundBoundary" in frame:
            is_break_due = True
    return text
