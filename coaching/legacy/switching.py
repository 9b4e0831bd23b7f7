"""Which messages of a newer export are other answers to stored ones: those that it shows in their place."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby

from coaching.legacy.importers.branches import BREAK
from coaching.legacy.importers.things import MAX_MESSAGE_CHARACTERS
from sessions_app.imports import RecordedMessage, RecordedSession, message_id_of
from sessions_app.models import MessageRole

Digests = Mapping[str, str]
"""The digest of a stored message's words, by its client id, in the order of the conversation."""
Answered = tuple[RecordedMessage, Sequence[RecordedMessage]]
"""A message and the one or more messages that answer it."""


def answered_in(recorded: RecordedSession) -> Iterator[Answered]:
    """Yield the messages that have an answer."""
    asked: RecordedMessage | None = None
    for is_answer, said in groupby(recorded.messages, lambda each: each.role == MessageRole.ASSISTANT):
        messages = list(said)
        if is_answer and asked is not None:
            yield asked, messages
        asked = None if is_answer else messages[-1]


def switched(recorded: RecordedSession, stored: Collection[str]) -> Sequence[RecordedMessage]:
    """Return the answers that are shown now in place of stored ones, which stay.

    One of several messages is joined.
    """
    return [
        replace(said[0], content=_joined(said), answers_to=asked.imported_id, shorter=None)
        for asked, said in _switched(recorded, stored)
    ]


def ids_in_answers(recorded: RecordedSession, stored: Digests, hidden: AbstractSet[str]) -> AbstractSet[str]:
    """Return the ids of messages that become other answers, or are in those that are `hidden`."""
    ids = {each.imported_id for _, said in _switched(recorded, stored) for each in said}
    for _, said in answered_in(recorded):
        key = message_id_of(said[0].imported_id)
        if key in hidden:
            ids.update(each.imported_id for each in said[: _count_in(said, stored[key])])
    return ids


def digest_of(words: str) -> str:
    """Return a digest as PostgreSQL's `md5` computes it."""
    return hashlib.md5(words.encode(), usedforsecurity=False).hexdigest()


def _switched(recorded: RecordedSession, stored: Collection[str]) -> Iterator[Answered]:
    replaced = {each.answers_to for each in recorded.answers if message_id_of(each.imported_id) in stored}
    for asked, said in answered_in(recorded):
        is_replaced = asked.imported_id in replaced and message_id_of(asked.imported_id) in stored
        if is_replaced and message_id_of(said[0].imported_id) not in stored:
            yield asked, said


def _joined(said: Sequence[RecordedMessage]) -> str:
    return BREAK.join(each.content for each in said)[:MAX_MESSAGE_CHARACTERS]


def _count_in(said: Sequence[RecordedMessage], digest: str) -> int:
    """Return how many of these messages, joined, are the one with a digest; 0 if they aren't."""
    words = hashlib.md5(usedforsecurity=False)
    for count, each in enumerate(said, start=1):
        words.update(f"{BREAK if count > 1 else ''}{each.content}".encode())
        if words.hexdigest() == digest:
            return count
    return 0
