"""Dovecot, once for all tests; a mailbox and people with addresses for each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User

from coaching.inbox.addresses import address_of
from coaching.inbox.place import InboxPlace, place_of
from coaching.inbox.polling import Reading
from tests.groups import require
from tests.inbox.dovecot import Dovecot
from tests.inbox.mails import SERVER

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture(scope="session")
def dovecot() -> Iterator[Dovecot]:
    """A server with one certificate, which the tests trust."""
    require("imap", Dovecot.is_installed(), "dovecot on the PATH, of the package dovecot-imapd")
    # Not in the folder of pytest, which other users, as whom Dovecot reads mail, can't enter.
    with TemporaryDirectory(prefix="sage-dovecot-") as folder:
        server = Dovecot(Path(folder))
        try:
            server.wait()
            yield server
        finally:
            server.stop()


@pytest.fixture
def trusted(dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Trust the server's certificate."""
    monkeypatch.setenv("SSL_CERT_FILE", str(dovecot.certificate))
    return dovecot.certificate


@dataclass
class Inbox:
    """A mailbox, and what reading it does. `now` is the time."""

    server: Dovecot
    url: str
    now: datetime = NOW

    @property
    def place(self) -> InboxPlace:
        return place_of(self.url)

    def deliver(self, mail: bytes, *, hole: int = 0) -> None:
        self.server.deliver(self.place, mail, hole=hole)

    def read(self, *, is_due_only: bool = False) -> Reading:
        """Read it once, as the job does."""
        reading = Reading(self.place, server=SERVER, clock=lambda: self.now)
        reading.run(is_due_only=is_due_only)
        return reading

    def address_of(self, user: User) -> str:
        return address_of(user.pk, place=self.place)

    @property
    def left(self) -> int:
        """How many mails are in the inbox."""
        return len(self.server.mails_in(self.place))

    @property
    def moved(self) -> list[bytes]:
        """The mails that were moved."""
        return self.server.mails_in(self.place, "Sage")


@pytest.fixture
def inbox(trusted: Path, dovecot: Dovecot) -> Inbox:
    """An empty mailbox."""
    return Inbox(server=dovecot, url=dovecot.new_url())


@pytest.fixture
def confirm() -> Callable[[User], None]:
    """Confirm a person's address."""

    def confirm(user: User) -> None:
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)

    return confirm
