"""The process's push sender. Importing it takes most of a second, so that is left to the first message."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Protocol

from django.utils.module_loading import import_string

from coaching.reminders.devices import Push


class PushNotTakenError(Exception):
    """The push service wasn't reached, or has a problem: worth another attempt."""


class Answer(Enum):
    """What a push service said: it has the message, knows no such browser, or doesn't want the message."""

    TAKEN = "taken"
    GONE = "gone"
    REFUSED = "refused"


class Sender(Protocol):
    """Sends messages; the real one is `push.PushSender`."""

    async def send(self, push: Push) -> Answer:
        """Send a message. Raises `PushNotTakenError`."""
        ...


_sender: Sender | None = None


def get_sender() -> Sender:
    """Return this process's sender."""
    global _sender  # noqa: PLW0603 - one for the process, made when it is needed
    if _sender is None:
        made: Sender = import_string("coaching.reminders.push.PushSender")()
        _sender = made
    return _sender


@contextmanager
def use_sender(sender: Sender) -> Iterator[None]:
    """Use another sender in this process for the duration of a block."""
    global _sender  # noqa: PLW0603 - as above
    before, _sender = _sender, sender
    try:
        yield
    finally:
        _sender = before
