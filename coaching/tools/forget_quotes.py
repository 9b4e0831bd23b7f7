"""The conversations that a later opening could quote with words that are to be forgotten.

An opening tells what was said last, in the person's own words or a summary. Striking the words in such a
conversation keeps them out of both; what was said stays in the conversation.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from coaching.context.brief_lines import corrected_text
from coaching.context.closeness import has_word
from coaching.context.sentences import sentences_of
from coaching.job_queue.sessions import enqueue_open_summary
from sessions_app.brief_corrections import correct_brief, room_for_corrections
from sessions_app.models import CorrectionKind, Message, MessageRole, Session

LAST_CONVERSATIONS = 10
"""In so many it is looked for words: older ones come into an opening only if they go on."""
MOST_MESSAGES = 200
MOST_SENTENCES = 3
"""Of a conversation, on the card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedWords:
    """A conversation, the words that it says of those to be forgotten, and the sentences that say them."""

    session: Session
    words: Sequence[str]
    sentences: Sequence[str]


def quoted_words(
    user_id: int, words: Sequence[str], *, asked_in: uuid.UUID | None = None
) -> Sequence[QuotedWords]:
    """Return the last conversations that say one of the words, the newest first. Sync ORM code.

    Words that are struck in a conversation already aren't said by it. With `asked_in` the newest message of
    that conversation doesn't count: it asks to forget them.
    """
    if not words:
        return ()
    in_message, in_summary = Q(), Q()
    for word in words:
        in_message |= Q(content__icontains=word)
        in_summary |= Q(summary__icontains=word)
    said = Message.of(user_id).filter(in_message, role=MessageRole.USER, turn__is_withdrawn=False)
    asking = Message.of(user_id).filter(session=asked_in, role=MessageRole.USER).order_by("-number")
    said = said.exclude(pk__in=list(asking.values_list("pk", flat=True)[:1]) if asked_in else [])
    last = Session.of(user_id).order_by("-last_active_at").values("pk")[:LAST_CONVERSATIONS]
    sessions = Session.of(user_id).filter(Q(pk__in=said.values("session")) | in_summary, pk__in=last)
    found: list[QuotedWords] = []
    sessions = sessions.defer("opening").prefetch_related("brief_corrections")
    for session in sessions.order_by("-last_active_at"):
        struck = {each.line for each in session.brief_corrections.all() if each.kind == CorrectionKind.STRIKE}
        left = [word for word in words if word not in struck]
        texts = said.filter(session=session).order_by("-number").values_list("content", flat=True)
        told = [session.summary, *texts[:MOST_MESSAGES]]
        sentences = [sentence for text in told for sentence in sentences_of(text)]
        saying = [each for each in sentences if any(has_word(word, each.casefold()) for word in left)]
        there = [word for word in left if any(has_word(word, each.casefold()) for each in saying)]
        if there:
            found.append(QuotedWords(session=session, words=there, sentences=saying[:MOST_SENTENCES]))
    return found


def strike_quoted(user_id: int, words: Sequence[str]) -> tuple[int, int]:
    """Strike the words in the conversations that say them. Sync ORM code.

    Return in how many, and how many still may be quoted, because there is no room for more strikes.
    """
    found = quoted_words(user_id, words)
    room = room_for_corrections(user_id)
    number = 0
    for each in found:
        if len(each.words) > room:
            break
        room -= len(each.words)
        for word in each.words:
            _strike(each.session, word)
        enqueue_open_summary(each.session.id)
        number += 1
    return number, len(found) - number


def _strike(session: Session, word: str) -> None:
    try:
        correct_brief(
            user_id=session.user_id,
            session_id=session.id,
            words="",
            finish=corrected_text,
            line=word,
            is_strike=True,
        )
    except Session.DoesNotExist:
        return  # deleted meanwhile
