"""A real local S3 server, and a proxy in front of it that injects faults."""

import contextlib
import http.client
import re
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

Fault = Literal["none", "500", "503", "stall", "cut", "reset", "answer_lost", "answer_cut"]
FAULTS: tuple[Fault, ...] = ("500", "503", "stall", "cut", "reset", "answer_lost", "answer_cut")
NOT_DELETED = b"<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code></Error></DeleteResult>"
ERROR = b'<?xml version="1.0"?><Error><Code>%s</Code><Message>No.</Message></Error>'


class S3Server:
    """The server in its own process on a free port."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                break
        else:
            raise RuntimeError("the S3 server ended before it listened")
        # Drain its log, so that the pipe doesn't fill.
        self._drain = threading.Thread(target=self._process.stderr.read, daemon=True)
        self._drain.start()

    def make_bucket(self, name: str) -> None:
        """Make an empty bucket."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("PUT", f"/{name}")
        assert connection.getresponse().status == 200
        connection.close()

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(timeout=10)
        self._drain.join(timeout=10)
        assert self._process.stderr is not None
        self._process.stderr.close()


class FaultProxy:
    """In front of the server, on a free port unless one is given. `fault` affects every request while set.

    Requests whose path has one of `denied` are answered as by a bucket that doesn't give the right to them.
    """

    def __init__(self, port: int, *, own_port: int = 0) -> None:
        self.fault: Fault = "none"
        self.denied: Sequence[str] = ()
        self.requests: list[tuple[str, str]] = []
        self.expectations: list[str] = []
        self.released = threading.Event()
        self.stalled = threading.Event()
        self.connections: set[socket.socket] = set()
        proxy = self

        class Handler(_Handler):
            faults = proxy
            upstream_port = port

        self._server = ThreadingHTTPServer(("127.0.0.1", own_port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        """Stop like a killed server: open connections are cut, new ones refused."""
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=10)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    faults: FaultProxy
    upstream_port: int

    def setup(self) -> None:
        super().setup()
        self.faults.connections.add(self.connection)

    def handle_one(self) -> None:
        proxy = self.faults
        proxy.requests.append((self.command, self.path))
        proxy.expectations += self.headers.get_all("Expect", [])
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if any(part in self.path for part in proxy.denied):
            # A request to delete several objects is always answered with what has become of each.
            status, answer = (200, NOT_DELETED) if self.command == "POST" else (403, ERROR % b"AccessDenied")
            self._answer(status, {}, answer)
            return
        match proxy.fault:
            case "500" | "503":
                self._answer(
                    int(proxy.fault), {}, ERROR % (b"InternalError" if proxy.fault == "500" else b"SlowDown")
                )
            case "stall":
                proxy.stalled.set()
                proxy.released.wait(timeout=30)
                self._reset()
            case "reset":
                self._reset()
            case "cut":
                self._forward_half(body)
                self._reset()
            case "answer_lost":
                self._forward(body)
                self._reset()
            case "answer_cut":
                self._forward(body)
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Le")
                self._reset()
            case "none":
                status, headers, answer = self._forward(body)
                self._answer(status, headers, answer)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = handle_one  # noqa: N815 (the base class looks them up)

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream_port, timeout=10)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "expect"}
        connection.request(self.command, self.path, body=body, headers=headers)
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), answer

    def _forward_half(self, body: bytes) -> None:
        with socket.create_connection(("127.0.0.1", self.upstream_port), timeout=10) as upstream:
            head = [f"{self.command} {self.path} HTTP/1.1"]
            head += [f"{name}: {value}" for name, value in self.headers.items() if name.lower() != "expect"]
            upstream.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body[: len(body) // 2])
            _reset_on_close(upstream)

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in {"connection", "transfer-encoding", "content-length", "server", "date"}:
                self.send_header(name, value)
        length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(body))
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _reset(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.flush()
        _reset_on_close(self.connection)
        self.connection.close()

    def finish(self) -> None:
        self.faults.connections.discard(self.connection)
        with contextlib.suppress(OSError, ValueError):
            super().finish()

    def log_message(self, *args: object) -> None:
        """Log nothing: the test reads `requests`."""


def _reset_on_close(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
