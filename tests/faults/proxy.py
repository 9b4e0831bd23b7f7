"""A TCP proxy that drops client connections in every way that a network can."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self

Loss = Literal["fin", "reset", "frozen"]

_RESET_LINGER = struct.pack("ii", 1, 0)


class Proxy:
    """Forwards bytes to a local port until told to `lose` its open connections."""

    def __init__(self, port_of: Callable[[], int]) -> None:
        self._port_of = port_of
        self._server: asyncio.Server | None = None
        self._open: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port that clients connect to."""
        assert self._server is not None
        number: int = self._server.sockets[0].getsockname()[1]
        return number

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.lose("reset")
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def lose(self, how: Loss) -> None:
        """Drop all open connections; a frozen one stays open without traffic, new ones work."""
        if how == "frozen":
            for task in tuple(self._tasks):
                task.cancel()
            return
        for pair in self._open:
            for writer in pair:
                _end(writer, is_reset=how == "reset")
        self._open.clear()

    async def pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        """Forward what comes until the connection ends."""
        with contextlib.suppress(OSError):
            while data := await source.read(1 << 16):
                target.write(data)
                await target.drain()
            target.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port_of())
        except OSError:
            _end(writer, is_reset=True)
            return
        pair = (writer, far_writer)
        self._open.add(pair)
        for source, target in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self.pass_on(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


def _end(writer: asyncio.StreamWriter, *, is_reset: bool) -> None:
    if is_reset:
        connection = writer.get_extra_info("socket")
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_LINGER)
        writer.transport.abort()
    else:
        writer.close()
