"""Says whether messages still have the words that a background job has read.

An import may complete messages, or an undo may shorten them, while a job writes about them.
"""

import hashlib
from collections.abc import Iterable

from django.db.models import QuerySet
from django.db.models.functions import MD5

from sessions_app.models import Message

Fingerprint = frozenset[tuple[int, str]]
"""Keys of messages, each with the digest of its words."""


def fingerprint_of(messages: Iterable[Message]) -> Fingerprint:
    """Return the fingerprint of messages that were read."""
    return frozenset((message.pk, _digest(message.content)) for message in messages)


def stored_fingerprint(messages: "QuerySet[Message]") -> Fingerprint:
    """Return the fingerprint of stored messages, without a text leaving the database."""
    return frozenset(messages.annotate(digest=MD5("content")).values_list("pk", "digest"))


def _digest(words: str) -> str:
    return hashlib.md5(words.encode(), usedforsecurity=False).hexdigest()
