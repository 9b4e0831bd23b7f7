"""Sessions as another program has recorded them, and the unsaved rows that they become.

Each user message opens a turn; an assistant message without one before it gets a turn of its own.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count, pairwise
from typing import Any

from django.utils import timezone

from sessions_app.import_metadata import BRANCH_KEY, IMPORT_KEY, ORIGIN_KEY
from sessions_app.models import Message, MessageRole, Session, SessionStatus, TitleSource, Turn, TurnStatus

_PLAIN_ID_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedMessage:
    """A message as it was recorded; `imported_id` is unique in its session.

    `shorter` is how earlier imports stored it, if they left something out: as many characters of its content,
    and how it then ended. `answers_to` is the message to which it is another answer.
    """

    imported_id: str
    role: MessageRole
    content: str
    created_at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict)
    shorter: tuple[int, str] | None = None
    answers_to: str = ""

    @property
    def shorter_content(self) -> str | None:
        return None if self.shorter is None else shortened(self.content, self.shorter)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSession:
    """A session as it was recorded, with at least one message. `where` is its place in its file.

    `answers` are others to its messages. `origin` says what is known of where it was recorded; with a
    `branch_of` it is a branch of the session with that imported id.
    """

    imported_id: str
    where: str
    kind: str
    status: SessionStatus
    title: str
    title_source: TitleSource
    started_at: datetime
    messages: Sequence[RecordedMessage]
    answers: Sequence[RecordedMessage] = ()
    elsewhere: Sequence[RecordedMessage] = ()
    origin: Mapping[str, str] = field(default_factory=dict)

    @property
    def branch_of(self) -> str:
        return self.origin.get(BRANCH_KEY, "")

    @property
    def said(self) -> Sequence[RecordedMessage]:
        return [*self.elsewhere, *self.messages]


def shortened(content: str, shorter: tuple[int, str]) -> str:
    """Return a message's content without what a later import added to it."""
    kept, ending = shorter
    return content[:kept] + ending


def message_id_of(imported_id: str) -> str:
    """Return an imported message's `client_id`, which is unique in its session."""
    if len(imported_id) > _PLAIN_ID_CHARACTERS:
        imported_id = hashlib.sha256(imported_id.encode()).hexdigest()
    return f"imported:{imported_id}"


def session_row(user_id: int, import_id: int, recorded: RecordedSession) -> Session:
    """Return an unsaved session. Another branch is archived: it stays behind what was shown."""
    last = max(message.created_at for message in recorded.messages)
    is_active = recorded.status == SessionStatus.ACTIVE
    return Session(
        user_id=user_id,
        kind=recorded.kind,
        status=recorded.status,
        title=recorded.title,
        title_source=recorded.title_source,
        metadata={
            "imported_id": recorded.imported_id,
            IMPORT_KEY: import_id,
            **({ORIGIN_KEY: dict(recorded.origin)} if recorded.origin else {}),
        },
        archived_at=timezone.now() if recorded.branch_of else None,
        last_message_number=len(recorded.messages),
        imported_until=len(recorded.messages),
        started_at=recorded.started_at,
        last_active_at=last,
        ended_at=None if is_active else last,
    )


def rows_of(
    session: Session, recorded: Sequence[RecordedMessage], *, first: int = 1
) -> Iterator[tuple[Turn, list[Message]]]:
    """Yield unsaved turns with their unsaved messages, numbered from `first`."""
    numbers = count(first)
    for said in _turns_of(recorded):
        moments = [message.created_at for message in said]
        turn = Turn(
            session=session,
            status=TurnStatus.COMPLETED,
            metadata={"is_imported": True},
            started_at=min(moments),
            part_started_at=min(moments),
            ended_at=max(moments),
        )
        yield turn, [message_row(turn, next(numbers), message) for message in said]


def answered_among(messages: Sequence[Message]) -> Mapping[str, Message]:
    """Return the user's messages that have an answer, of messages in order, by their client ids."""
    return {
        asked.client_id or "": asked
        for asked, answer in pairwise(messages)
        if (asked.role, answer.role) == (MessageRole.USER, MessageRole.ASSISTANT)
        and asked.turn_id == answer.turn_id
    }


def answer_rows(
    session: Session, recorded: Sequence[RecordedMessage], *, asked: Mapping[str, Message]
) -> Sequence[Message]:
    """Return unsaved other answers with their unsaved turns, numbered after all messages of the session.

    They are withdrawn answers to messages that are `asked`; those to others are left out. The caller stores
    the session's numbers and the turns of these messages, which now share them.
    """
    rows: list[Message] = []
    for each in recorded:
        message = asked.get(message_id_of(each.answers_to))
        if message is None:
            continue
        message.turn.message_number = message.number
        turn = Turn(
            session=session,
            status=TurnStatus.COMPLETED,
            is_withdrawn=True,
            message_number=message.number,
            metadata={"is_imported": True},
            started_at=each.created_at,
            part_started_at=each.created_at,
            ended_at=each.created_at,
        )
        session.last_message_number = session.imported_until = session.last_message_number + 1
        rows.append(message_row(turn, session.last_message_number, each))
    return rows


def _turns_of(recorded: Sequence[RecordedMessage]) -> Sequence[list[RecordedMessage]]:
    turns: list[list[RecordedMessage]] = []
    for message in recorded:
        is_answer = message.role == MessageRole.ASSISTANT
        if is_answer and turns and turns[-1][-1].role == MessageRole.USER:
            turns[-1].append(message)
        else:
            turns.append([message])
    return turns


def message_row(turn: Turn, number: int, recorded: RecordedMessage) -> Message:
    """Return an unsaved message, with its number in the session."""
    return Message(
        session=turn.session,
        turn=turn,
        number=number,
        role=recorded.role,
        content=recorded.content,
        client_id=message_id_of(recorded.imported_id),
        metadata={**recorded.metadata, "imported_id": recorded.imported_id},
        created_at=recorded.created_at,
    )
