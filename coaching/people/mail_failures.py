"""The last mail that couldn't be sent, which operators see until another one is sent.

In the cache: with Redis all processes know it, otherwise the one that sends. It is no more than a hint.
"""

from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache
from django.utils import timezone
from prometheus_client import Counter

_KEY = "mail-failure"
_SECONDS = 30 * 24 * 3600

_mails = Counter("sage_mails", "Mails that a mail server took or didn't take.", ["outcome"])


@dataclass(frozen=True, slots=True, kw_only=True)
class MailFailure:
    """When a mail server failed, and the class of its error: its words may name an address."""

    at: datetime
    host: str
    reason: str


def note_failure(host: str, error: Exception) -> None:
    """Remember and count that a mail wasn't taken."""
    _mails.labels("failed").inc()
    failure = MailFailure(at=timezone.now(), host=host, reason=type(error).__name__)
    cache.set(_KEY, failure, _SECONDS)


def note_sent() -> None:
    """Count that a mail was taken, and forget what failed before."""
    _mails.labels("sent").inc()
    cache.delete(_KEY)


def last_failure() -> MailFailure | None:
    """Return the failure after which no mail was sent, if there is one."""
    failure: MailFailure | None = cache.get(_KEY)
    return failure
