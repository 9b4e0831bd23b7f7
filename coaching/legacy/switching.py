"""Which messages of a newer export are other answers to stored ones: those that it shows in their place."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby

from coaching.legacy.importers.branches import BREAK
from coaching.legacy.importers.things import MAX_MESSAGE_CHARACTERS
from sessions_app.models import MessageRole
from sessions_app.recorded import RecordedMessage, RecordedSession, message_id_of

Digests = Mapping[str, str]
"""The digest of a stored message's words, by its client id, in the order of the conversation."""
Answered = tuple[RecordedMessage, Sequence[RecordedMessage]]
"""A message and the one or more messages that answer it."""

MAX_PIECES = 40
"""Of an answer, that are compared with stored messages."""


def answered_in(recorded: RecordedSession) -> Iterator[Answered]:
    """Yield the messages that have an answer."""
    yield from _answered_among(recorded.elsewhere)
    yield from _answered_among(recorded.messages)


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
    switched_ids = {each.imported_id for _, said in _switched(recorded, stored) for each in said}
    joined = joined_in(recorded, {key: stored[key] for key in hidden if key in stored})
    return switched_ids | {each.imported_id for said in joined for each in said}


def joined_in(recorded: RecordedSession, hidden: Digests) -> Iterator[Sequence[RecordedMessage]]:
    """Yield messages that are shown now and are stored, joined, as other answers that are `hidden`."""
    for _, said in answered_in(recorded):
        key = message_id_of(said[0].imported_id)
        if key in hidden and (count := _count_in(said, hidden[key])):
            yield said[:count]


def is_stored(answer: RecordedMessage, digests: Collection[str]) -> bool:
    """Return whether the words of an answer are stored: as one message, or as several that it joins."""
    begun, pieces = "", answer.content.split(BREAK)
    if digest_of(answer.content) in digests or answer.shorter_content is not None:
        return True
    for piece in pieces[:MAX_PIECES]:
        begun = f"{begun}{BREAK}{piece}" if begun else piece
        begun = "" if digest_of(begun) in digests else begun
    return not begun and len(pieces) <= MAX_PIECES


def digest_of(words: str) -> str:
    """Return a digest as PostgreSQL's `md5` computes it."""
    return hashlib.md5(words.encode(), usedforsecurity=False).hexdigest()


def _switched(recorded: RecordedSession, stored: Collection[str]) -> Iterator[Answered]:
    replaced = {each.answers_to for each in recorded.answers if message_id_of(each.imported_id) in stored}
    for asked, said in answered_in(recorded):
        is_replaced = asked.imported_id in replaced and message_id_of(asked.imported_id) in stored
        if is_replaced and message_id_of(said[0].imported_id) not in stored:
            yield asked, said


def _answered_among(recorded: Sequence[RecordedMessage]) -> Iterator[Answered]:
    asked: RecordedMessage | None = None
    for is_answer, said in groupby(recorded, lambda each: each.role == MessageRole.ASSISTANT):
        messages = list(said)
        if is_answer and asked is not None:
            yield asked, messages
        asked = None if is_answer else messages[-1]


def _joined(said: Sequence[RecordedMessage]) -> str:
    return BREAK.join(each.content for each in said)[:MAX_MESSAGE_CHARACTERS]


def _count_in(said: Sequence[RecordedMessage], digest: str) -> int:
    """Return how many of these messages, joined, are the one with a digest; 0 if they aren't.

    Earlier versions may have stored them shorter. An answer is cut like any other message.
    """
    whole, shorter = "", ""
    for count, each in enumerate(said, start=1):
        between = BREAK if count > 1 else ""
        whole += between + each.content
        shorter += between + (each.content if each.shorter_content is None else each.shorter_content)
        if digest in {digest_of(words[:MAX_MESSAGE_CHARACTERS]) for words in (whole, shorter)}:
            return count
        if len(shorter) > MAX_MESSAGE_CHARACTERS:
            break
    return 0
