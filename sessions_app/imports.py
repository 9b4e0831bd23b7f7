"""Stores sessions that another program has recorded, and removes them as long as nobody went on in them.

Each user message opens a turn; an assistant message without one before it gets a turn of its own. The turns
count in no limit and no figure of what was asked here. A session and all of its messages are stored in one
transaction, so a session that exists is whole.
"""

import hashlib
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count, pairwise
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from sessions_app.models import (
    BriefCorrection,
    Message,
    MessageRole,
    Session,
    SessionStatus,
    TitleSource,
    Turn,
    TurnStatus,
)

IMPORT_KEY = "import"
"""In a session's metadata: the import that made it."""
COMPLETED_KEY = "completed"
"""In a session's metadata: by the key of a later import, how many messages it completed."""
COMPLETED_BY_KEY = "completed_by"
"""In a message's metadata: the later import that completed it, or brought it as another answer."""
BROUGHT_BY_KEY = "brought_by"
"""In the metadata of another answer that was completed: the earlier import that brought it."""
SHORTER_KEY = "imported_shorter"
"""In a message's metadata: how it was before it was completed, as in `RecordedMessage.shorter`."""
ANSWERED_KEY = "answered"
"""In a session's metadata: by the key of a later import, how many other answers it brought."""
ORIGIN_KEY = "origin"
"""In a session's metadata: what its export says of where it was recorded."""
ORIGINS_KEY = "origins"
"""In a session's metadata: by the key of a later import, what that changed of `origin`, as it was before."""
TITLE_KEY = "title"
"""In a session's origin: its titles there that it doesn't have here."""
PROJECT_KEY = "project"
MODEL_KEY = "model"
"""In a session's origin: the models that answered, as far as is known."""
BRANCH_KEY = "branch_of"
"""In a session's origin: the imported id of the one of which it is another branch."""
CHOSEN_KEY = "chosen"
"""In a session's metadata: its user has chosen another answer, so it counts as used."""
NO_BRANCH = (
    Q(archived_at=None)
    | Q(**{f"metadata__{ORIGIN_KEY}__{BRANCH_KEY}__isnull": True})
    | Q(last_message_number__gt=F("imported_until"))
)
"""Sessions that aren't another branch, or were taken up here: branches stay behind what was shown."""
ADDED_KEY = "added"
"""In a session's metadata: by the key of a later import, the first and the last message that it appended."""
_ROWS_A_STATEMENT = 2_000
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSession:
    """A session that exists under an imported id.

    `import_id` is that of the import that made it. Until the message `until` it is imported, `added` says by
    which later imports, `completed` how many messages these have completed, and `answered` how many other
    answers they brought. `is_used_here`: its user went on in it since, or in one that continues it, or chose
    another answer.
    """

    session_id: uuid.UUID
    import_id: int | None
    until: int
    added: Mapping[str, Sequence[int]]
    completed: Mapping[str, int]
    answered: Mapping[str, int]
    title: str
    origin: Mapping[str, str]
    is_deleted: bool
    is_used_here: bool


def known_sessions(*, user_id: int, imported_ids: Collection[str]) -> Mapping[str, KnownSession]:
    """Return the user's sessions that were imported under these ids, also those that were just deleted."""
    found = {}
    for sessions in (Session.of(user_id), Session.deleted_of(user_id)):
        named = _with_imported_id(sessions).filter(imported_id__in=imported_ids)
        named = named.annotate(is_continued=Exists(continuing(user_id).filter(continues=OuterRef("pk"))))
        for session in named.defer("opening", "summary"):
            found[session.imported_id] = KnownSession(
                session_id=session.pk,
                import_id=session.metadata.get(IMPORT_KEY),
                until=session.imported_until,
                added=session.metadata.get(ADDED_KEY) or {},
                completed=session.metadata.get(COMPLETED_KEY) or {},
                answered=session.metadata.get(ANSWERED_KEY) or {},
                title=session.title,
                origin=session.metadata.get(ORIGIN_KEY) or {},
                is_deleted=session.deleted_at is not None,
                is_used_here=session.is_continued
                or session.last_message_number > session.imported_until
                or CHOSEN_KEY in session.metadata,
            )
    return found


def branches_of(imported_id: str) -> Q:
    """Return the condition of other branches of an imported session."""
    branch = Q(**{f"metadata__{ORIGIN_KEY}__{BRANCH_KEY}": imported_id})
    return Q(metadata__has_key="imported_id") & branch


def continuing(user_id: int) -> QuerySet[Session]:
    """Return the user's sessions that continue another one."""
    return Session.of(user_id).exclude(continues=None)


@transaction.atomic
def store_recorded(*, user_id: int, import_id: int, recorded: Sequence[RecordedSession]) -> None:
    """Store sessions with their messages. Raises `IntegrityError` where one is stored already."""
    sessions: list[Session] = []
    turns: list[Turn] = []
    messages: list[Message] = []
    for each in recorded:
        session = _session_of(user_id, import_id, each)
        sessions.append(session)
        said_here = []
        for turn, said in rows_of(session, each.messages):
            turns.append(turn)
            said_here += said
        others = answer_rows(session, each.answers, asked=answered_among(said_here))
        turns += [message.turn for message in others]
        messages += [*said_here, *others]
    Session.of(user_id).bulk_create(sessions)
    Turn.of(user_id).bulk_create(turns, batch_size=_ROWS_A_STATEMENT)
    Message.of(user_id).bulk_create(messages, batch_size=_ROWS_A_STATEMENT)


def sessions_of_import(*, user_id: int, import_id: int) -> QuerySet[Session]:
    return Session.of(user_id).filter(
        metadata__has_key="imported_id", **{f"metadata__{IMPORT_KEY}": import_id}
    )


@transaction.atomic
def remove_unchanged(*, user_id: int, session_ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
    """Remove imported sessions in which their user has changed nothing since; return those that stay."""
    locked = Session.of(user_id).filter(pk__in=session_ids).select_for_update(no_key=True).order_by("pk")
    kept = {session.pk for session in locked.defer("opening") if _is_changed(session)}
    kept |= set(
        BriefCorrection.of(user_id).filter(session__in=session_ids).values_list("session_id", flat=True)
    )
    kept |= set(continuing(user_id).filter(continues__in=session_ids).values_list("continues_id", flat=True))
    Session.of(user_id).filter(pk__in=set(session_ids) - kept).delete()
    return kept


def shortened(content: str, shorter: tuple[int, str]) -> str:
    """Return a message's content without what a later import added to it."""
    kept, ending = shorter
    return content[:kept] + ending


def message_id_of(imported_id: str) -> str:
    """Return an imported message's `client_id`, which is unique in its session."""
    if len(imported_id) > _PLAIN_ID_CHARACTERS:
        imported_id = hashlib.sha256(imported_id.encode()).hexdigest()
    return f"imported:{imported_id}"


def _with_imported_id(sessions: QuerySet[Session]) -> QuerySet[Any]:
    named = sessions.filter(metadata__has_key="imported_id")
    return named.annotate(imported_id=KeyTextTransform("imported_id", "metadata"))


def _is_changed(session: Session) -> bool:
    is_marked = session.title_source == TitleSource.USER or session.pinned_at is not None
    is_used = session.last_message_number > session.imported_until or CHOSEN_KEY in session.metadata
    return is_used or is_marked


def _session_of(user_id: int, import_id: int, recorded: RecordedSession) -> Session:
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
