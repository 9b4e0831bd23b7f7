"""What operators see of mail: that a server takes it, or why not."""

import asyncio
import socket
from collections.abc import Iterator
from io import StringIO
from smtplib import SMTPException
from typing import Any

import pytest
from django.core.cache import cache
from django.core.mail import send_mail
from django.core.management import CommandError, call_command
from prometheus_client import REGISTRY
from pytest_django import Settings

from coaching.people.mail_failures import last_failure
from sessions_app.database import in_database
from tests.sage.mail_server import mail_server

TO = "ada@example.org"


@pytest.fixture(autouse=True)
def nothing_failed() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def use(settings: Settings, port: int) -> None:
    """Send by a server on this machine."""
    settings.EMAIL_BACKEND = "sage.noted_mail.NotedEmailBackend"
    settings.HAS_MAIL = True
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "", ""


def told(*arguments: Any) -> str:
    out = StringIO()
    call_command("sendtestemail", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.django_db(transaction=True)
async def test_a_failure_is_known_until_a_mail_is_sent(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    use(settings, port)
    before = failures()
    with pytest.raises(ConnectionRefusedError):
        await in_database(send_mail, "Subject", "Text", None, [TO])
    failure = last_failure()
    assert failure is not None
    assert (failure.host, failure.reason) == ("127.0.0.1", "ConnectionRefusedError")
    assert failures() == before + 1
    with pytest.raises(CommandError, match=rf"127.0.0.1:{port} didn't take the mail \(ConnectionRefused"):
        await in_database(told, TO)
    async with mail_server() as server:
        use(settings, int(server.url.rpartition(":")[2]))
        assert "took the mail from" in await in_database(told, TO)
        assert (await server.mails.get())["To"] == TO
    assert last_failure() is None


async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Greet, and refuse all that follows."""
    writer.write(b"220 mail.example\r\n")
    while await reader.readline():
        writer.write(b"554 no ada@example.org\r\n")
    writer.close()


@pytest.mark.django_db(transaction=True)
async def test_a_mail_that_is_refused_after_connecting_counts_once(settings: Settings) -> None:
    before = failures()
    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as listening:
        use(settings, listening.sockets[0].getsockname()[1])
        with pytest.raises(SMTPException):
            await in_database(send_mail, "Subject", "Text", None, [TO])
    failure = last_failure()
    assert failure is not None
    assert failure.reason == "SMTPHeloError"
    assert failures() == before + 1


def failures() -> float:
    return REGISTRY.get_sample_value("sage_mails_total", {"outcome": "failed"}) or 0.0


def test_without_a_mail_server_the_command_says_that_nothing_was_sent() -> None:
    assert "EMAIL_URL is unset" in told(TO)
