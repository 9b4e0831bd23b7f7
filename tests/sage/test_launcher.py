"""The launcher as a real process: back-pressure, limits, and shutdown."""

import asyncio
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from sage.launcher import DRAIN_SECONDS
from tests.sage.processes import StartedProcess, started

MEGABYTE = 1024 * 1024


class Launched:
    """A running launcher."""

    def __init__(self, process: StartedProcess) -> None:
        self.process = process
        self.port = int(process.wait_for_line(lambda line: line.startswith("port ")).split()[1])
        self.url = f"ws://127.0.0.1:{self.port}/"

    def memory_bytes(self) -> int:
        """Return what the process holds in memory."""
        return int(psutil.Process(self.process.popen.pid).memory_info().rss)


@pytest.fixture
def launched() -> Iterator[Launched]:
    with started("-m", "tests.sage.launcher_app", "30", "30") as process:
        yield Launched(process)


@pytest.fixture
def impatient() -> Iterator[Launched]:
    with started("-m", "tests.sage.launcher_app", "1", "30") as process:
        yield Launched(process)


async def test_a_frame_of_1_mib_passes_and_a_larger_one_is_refused_with_a_reason(launched: Launched) -> None:
    async with connect(launched.url, max_size=None) as websocket:
        await websocket.send("x" * MEGABYTE)
        assert await websocket.recv() == str(MEGABYTE)
        await websocket.send("x" * (MEGABYTE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
    assert "exceeds payload limit" in closed.value.rcvd.reason


async def test_the_application_may_close_with_any_code_and_a_reason(launched: Launched) -> None:
    async with connect(launched.url) as websocket:
        await websocket.send("close")
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "as asked")


async def test_a_socket_that_is_closed_twice_is_closed_once(launched: Launched) -> None:
    async with connect(launched.url) as websocket:
        await websocket.send("close")
        await websocket.send("close")
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008
    line = await asyncio.to_thread(
        launched.process.wait_for_line, lambda line: line.startswith(("disconnected", "Exception", "ERROR"))
    )
    assert line.startswith("disconnected"), launched.process.output


async def test_what_is_sent_to_a_socket_that_is_being_closed_is_dropped(launched: Launched) -> None:
    async with connect(launched.url) as websocket:
        await websocket.send("close and send")
        with pytest.raises(ConnectionClosed):
            await websocket.recv()
    line = await asyncio.to_thread(
        launched.process.wait_for_line, lambda line: line.startswith(("disconnected", "Exception", "ERROR"))
    )
    assert line == "disconnected 1000", launched.process.output


async def test_the_server_does_not_reveal_its_name(launched: Launched) -> None:
    async with connect(launched.url) as websocket:
        assert websocket.response is not None
        assert "server" not in websocket.response.headers


def test_a_silent_reader_costs_no_memory(launched: Launched) -> None:
    before = launched.memory_bytes()
    with _handshake(launched.port) as silent:
        silent.sendall(_masked(b"flood"))
        launched.process.wait_for_line(lambda line: line.startswith("frame 0"))
        _wait_for_quiet(launched)
        frames = launched.process.output.count("frame ")
        grown = launched.memory_bytes() - before
    # Of 100 MB, only what fits into the kernel's buffers leaves the application.
    assert frames < 100
    assert grown < 6 * MEGABYTE


def test_a_silent_download_costs_no_memory(launched: Launched) -> None:
    before = launched.memory_bytes()
    with socket.create_connection(("127.0.0.1", launched.port)) as silent:
        silent.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        launched.process.wait_for_line(lambda line: line.startswith("body 0"))
        _wait_for_quiet(launched)
        grown = launched.memory_bytes() - before
    assert grown < 6 * MEGABYTE


async def test_a_reader_that_keeps_up_gets_everything(launched: Launched) -> None:
    async with connect(launched.url, max_size=None, compression=None) as websocket:
        await websocket.send("flood")
        total = 0
        while total < 400 * 256 * 1024:
            total += len(await websocket.recv())
    assert total == 400 * 256 * 1024


def test_a_reader_that_never_reads_is_closed_with_1013(impatient: Launched) -> None:
    with _handshake(impatient.port) as silent:
        silent.sendall(_masked(b"flood"))
        impatient.process.wait_for_line(lambda line: line.startswith("frame 0"))
        _wait_for_quiet(impatient, seconds=1.5)
        silent.settimeout(10)
        received = bytearray()
        while chunk := silent.recv(MEGABYTE):
            received += chunk
            if received.endswith(b"the reader is too slow"):
                break
    close_frame = received[-26:]
    assert close_frame[0] == 0x88
    assert int.from_bytes(close_frame[2:4], "big") == 1013


async def test_sigterm_drains_what_runs_then_closes_sockets_with_1012(launched: Launched) -> None:
    async with connect(launched.url) as websocket:
        await websocket.send("work 1")
        assert await websocket.recv() == "started"
        launched.process.popen.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
        code = await asyncio.to_thread(launched.process.wait, 10)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    assert code == 0
    lines = launched.process.output.splitlines()
    told = ("service begins", "work is done", "drained", "disconnected 1012", "service ends")
    assert [line for line in lines if line in told] == list(told)


def test_sigterm_waits_until_requests_that_have_arrived_are_answered(launched: Launched) -> None:
    with (
        socket.create_connection(("127.0.0.1", launched.port)) as slow,
        socket.create_connection(("127.0.0.1", launched.port)) as late,
        socket.create_connection(("127.0.0.1", launched.port)) as refused,
    ):
        refused.sendall(b"GET /programs/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: 2\r\n\r\n")
        slow.sendall(b"POST /slow/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nyes")
        late.sendall(b"POST /body/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\ny")
        launched.process.wait_for_line(lambda line: line.startswith("slow"))
        launched.process.popen.send_signal(signal.SIGTERM)
        _wait_until_refused(launched.port)
        late.sendall(b"es")
        for client in (slow, late):
            client.settimeout(20)
            received = client.recv(MEGABYTE)
            while not received.endswith(b"\r\n\r\n3 3"):
                chunk = client.recv(MEGABYTE)
                assert chunk, received
                received += chunk
        refused.settimeout(20)
        assert refused.recv(MEGABYTE).startswith(b"HTTP/1.1 429 ")
        assert launched.process.wait(20) == 0


async def test_sockets_are_closed_while_a_request_is_still_arriving(launched: Launched) -> None:
    with (
        socket.create_connection(("127.0.0.1", launched.port)) as late,
        socket.create_connection(("127.0.0.1", launched.port)) as silent,
    ):
        late.sendall(b"POST /body/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n")
        silent.sendall(b"GET / HTTP/1.1\r\n")
        async with connect(launched.url) as websocket:
            launched.process.popen.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed) as closed:
                await asyncio.wait_for(websocket.recv(), DRAIN_SECONDS / 2)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        late.sendall(b"yes")
        late.settimeout(20)
        received = await asyncio.to_thread(late.recv, MEGABYTE)
        while not received.endswith(b"\r\n\r\n3 3"):
            chunk = await asyncio.to_thread(late.recv, MEGABYTE)
            assert chunk, received
            received += chunk
        # Nobody waits for the one that hasn't said what it asks.
        assert await asyncio.to_thread(launched.process.wait, DRAIN_SECONDS / 2) == 0


def test_connections_that_wait_to_be_accepted_when_the_port_closes_are_answered(launched: Launched) -> None:
    request = b"POST /body/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nyes"
    with ExitStack() as stack:
        busy = stack.enter_context(_handshake(launched.port))
        busy.sendall(_masked(b"burden 2"))
        launched.process.wait_for_line(lambda line: line.startswith("is burdened"))
        launched.process.popen.send_signal(signal.SIGTERM)
        clients: list[socket.socket] = []
        with suppress(ConnectionRefusedError):
            while True:
                with suppress(ConnectionResetError):  # its port is closing at this moment
                    client = socket.create_connection(("127.0.0.1", launched.port))
                    clients.append(stack.enter_context(client))
                    client.sendall(request)
                time.sleep(0.005)
        assert clients
        for client in clients:
            client.settimeout(20)
            assert client.recv(MEGABYTE).startswith(b"HTTP/1.1 200")
        assert launched.process.wait(20) == 0


async def test_a_second_signal_ends_at_once(launched: Launched) -> None:
    async with connect(launched.url) as websocket:
        await websocket.send("work 60")
        assert await websocket.recv() == "started"
        launched.process.popen.send_signal(signal.SIGINT)
        _wait_until_refused(launched.port)
        code = await asyncio.to_thread(launched.process.end, signal.SIGINT, 10)
    assert code == 0
    assert "drained" not in launched.process.output


def _handshake(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: MDAwMDAwMDAwMDAwMDAwMA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    assert connection.recv(4096).startswith(b"HTTP/1.1 101")
    return connection


def _wait_until_refused(port: int) -> None:
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionResetError:
            continue  # its port is closing at this moment
        except ConnectionRefusedError:
            return


def _masked(payload: bytes) -> bytes:
    return bytes([0x81, 0x80 | len(payload), 0, 0, 0, 0]) + payload


def _wait_for_quiet(launched: Launched, seconds: float = 0.7) -> None:
    """Wait until the application has written nothing for `seconds`: back-pressure works."""
    while launched.process.writes_within(seconds):
        pass
