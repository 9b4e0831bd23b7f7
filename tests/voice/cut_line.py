"""A line between a browser and Sage that can be cut while a recording is sent, or before its answer."""

import asyncio
import contextlib

from tests.faults.proxy import Proxy

UPLOAD = b"POST /voice/recordings/ HTTP/1.1"
TAKEN = b"HTTP/1.1 202"


class CutLine(Proxy):
    """A proxy that loses all connections once something is passed on.

    `cut_at`: after so many bytes of the next upload, with its headers. `cuts_answer`: before the answer
    that a recording was taken. While `is_down`, nothing is passed on.
    """

    cut_at: int | None = None
    cuts_answer = False
    is_down = False
    cuts = 0

    async def pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        """Forward what comes until the connection ends, or is to be cut."""
        sent: int | None = None
        with contextlib.suppress(OSError):
            while data := await source.read(1 << 16):
                if self.is_down or (self.cuts_answer and TAKEN in data):
                    self._cut()
                    return
                place = data.find(UPLOAD)
                if self.cut_at is not None and place >= 0:
                    sent = -place
                if sent is not None and self.cut_at is not None and sent + len(data) >= self.cut_at:
                    target.write(data[: self.cut_at - sent])
                    await target.drain()
                    self._cut()
                    return
                sent = None if sent is None else sent + len(data)
                target.write(data)
                await target.drain()
            target.close()

    def _cut(self) -> None:
        self.cuts += 1
        self.cut_at, self.cuts_answer = None, False
        self.lose("reset")
