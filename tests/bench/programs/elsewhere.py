"""A server of nothing, which answers each request with 429 a second later.

The flood that is sent here shows what sending and receiving it takes from the machine, without Sage.
"""

import argparse
import asyncio

ANSWER = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
HELD_SECONDS = 1.0
END_OF_REQUEST = b"\r\n\r\n"


class _Refusing(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for _ in range(data.count(END_OF_REQUEST)):
            asyncio.get_running_loop().call_later(HELD_SECONDS, self._transport.write, ANSWER)


async def _main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Refusing, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.programs.elsewhere")
    parser.add_argument("--port", type=int, required=True)
    asyncio.run(_main(parser.parse_args().port))
