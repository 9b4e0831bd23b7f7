"""Histories to search: sessions with closed turns, written as rows."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from coaching.recall.hits import Passage
from coaching.recall.passages import read_passages
from coaching.recall.search import ANYTHING, Bounds, search
from sessions_app.models import Message, MessageRole, Session, Turn, TurnStatus


def talk(user: User, *texts: str, session: Session | None = None, at: datetime | None = None) -> Session:
    """Store messages, the first one the user's, then by turns; in a new session or at the end of one."""
    session = session or Session.of(user.pk).create()
    moment = at or timezone.now()
    before = session.messages.count()
    turns: list[Turn] = []
    messages: list[Message] = []
    for number, text in enumerate(texts):
        is_by_user = (before + number) % 2 == 0
        if is_by_user or not turns:
            turns.append(Turn(session=session, status=TurnStatus.COMPLETED, ended_at=moment))
        messages.append(_next_message(session, turns[-1], text, is_by_user=is_by_user))
    Turn.unscoped.bulk_create(turns)
    session.save()
    Message.unscoped.bulk_create(messages)
    session.messages.update(created_at=moment) if at else None
    return session


def add(
    session: Session, turn: Turn, text: str, *, is_by_user: bool, metadata: Mapping[str, Any] | None = None
) -> Message:
    """Append one message of a turn."""
    message = _next_message(session, turn, text, is_by_user=is_by_user, metadata=metadata)
    session.save()
    message.save()
    return message


def _next_message(
    session: Session, turn: Turn, text: str, *, is_by_user: bool, metadata: Mapping[str, Any] | None = None
) -> Message:
    session.last_message_number += 1
    return Message(
        session=session,
        turn=turn,
        number=session.last_message_number,
        role=MessageRole.USER if is_by_user else MessageRole.ASSISTANT,
        content=text,
        metadata=dict(metadata or {}),
    )


def found(
    user: User, query: str, *, limit: int = 10, bounds: Bounds = ANYTHING, now: datetime | None = None
) -> Sequence[Passage]:
    """Search, and read what was found."""
    hits = search(query, user_id=user.pk, now=now or timezone.now(), limit=limit, bounds=bounds)
    return read_passages(hits, user_id=user.pk)


def texts(user: User, query: str, **options: Any) -> list[str]:
    """Return the texts that a search finds."""
    return [passage.text for passage in found(user, query, **options)]


def plan_of_ranking(search: Callable[[], object]) -> str:
    """Return the plan of the ranking's statement in a search."""
    plans: list[str] = []

    def explained(execute, sql, params, many, context):  # type: ignore[no-untyped-def]  # Django's protocol
        if "WITH matched" in sql:
            execute(f"EXPLAIN {sql}", params, many, context)
            plans.append("\n".join(row[0] for row in context["cursor"].fetchall()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explained):
        search()
    (plan,) = plans
    return plan
