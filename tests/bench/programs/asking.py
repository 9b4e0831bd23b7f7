"""Sends requests with a token over 40 connections, one after another on each; prints how many were answered.

Run by `tests.bench.programs.refusals` as a process of its own.
"""

import asyncio
import sys
import time

CONNECTIONS = 40
REQUEST = (
    "GET /api/files?limit=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nAccept: */*\r\n"
    "Accept-Encoding: gzip, deflate\r\nUser-Agent: Python/3.11 aiohttp/3.9\r\n\r\n"
)


async def send(port: int, authorization: str, *, seconds: float, rate: float) -> int:
    """Send `rate` requests a second, as many as possible if that is 0; return how many."""
    request = REQUEST.format(authorization).encode()
    end = time.monotonic() + seconds
    pause = CONNECTIONS / rate if rate else 0.0

    async def on_one(number: int) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        due, sent = time.monotonic() + pause * number / CONNECTIONS, 0
        while time.monotonic() < end:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += pause
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
            sent += 1
        writer.close()
        return sent

    return sum(await asyncio.gather(*(on_one(number) for number in range(CONNECTIONS))))


if __name__ == "__main__":
    _, port, authorization, seconds, rate = sys.argv
    sent = asyncio.run(send(int(port), authorization, seconds=float(seconds), rate=float(rate)))
    sys.stdout.write(str(sent))
