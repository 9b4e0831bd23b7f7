"""A mail server that takes every mail, in the test's event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import Message


class MailServer:
    """What it has taken; `url` is an EMAIL_URL."""

    def __init__(self) -> None:
        self.mails: asyncio.Queue[Message] = asyncio.Queue()
        self.url = ""

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take the mails of one connection."""
        writer.write(b"220 mail.example\r\n")
        while line := await reader.readline():
            match line[:4].upper().strip():
                case b"DATA":
                    writer.write(b"354 go on\r\n")
                    data = await reader.readuntil(b"\r\n.\r\n")
                    self.mails.put_nowait(message_from_bytes(data.removesuffix(b".\r\n")))
                case b"QUIT":
                    break
            writer.write(b"250 taken\r\n")
        writer.close()


@asynccontextmanager
async def mail_server() -> AsyncIterator[MailServer]:
    """Serve on a free port of this machine."""
    server = MailServer()
    async with await asyncio.start_server(server.talk, "127.0.0.1", 0) as listening:
        server.url = f"smtp://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield server
