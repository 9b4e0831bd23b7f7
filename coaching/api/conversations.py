"""Conversations for programs: their messages, and one of a program's own, which Sage answers as in a page.

A message of a program has its name, and taints the turn that answers it. Nothing here answers a question or
a card of Sage's: the person does on the page. While one waits, the conversation takes no program's message.
"""

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from coaching.api.keys import client_id_of
from coaching.api.requests import caller_of, page, profile_of
from coaching.api.values import (
    Answer,
    Conversation,
    HelpLine,
    Limit,
    Message,
    Offset,
    Page,
    Turned,
)
from coaching.legacy_text.blocks import strip_block_tags
from coaching.live.runner import get_runner, rate_limit
from coaching.people.help_lines import country_of, read_offer
from coaching.people.in_flight import waiting
from coaching.programs.callers import Caller
from coaching.programs.tokens import check_caller
from coaching.safety.card import known_danger
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.history import PROGRAM_KEY
from sessions_app.models import Message as MessageRow
from sessions_app.models import MessageRole, Session, SessionKind, Turn, TurnStatus, listed
from sessions_app.selectors import accessible_session
from sessions_app.session_services import begin_session

CHECKED_EVERY = 1.0
"""How often, in seconds, a waiting request checks its token, and a turn that another process runs."""
STATUSES: dict[str, Turned] = {
    TurnStatus.RUNNING: "running",
    TurnStatus.AWAITING_USER: "awaiting_user",
    TurnStatus.COMPLETED: "done",
    TurnStatus.STOPPED: "done",
    TurnStatus.SUPERSEDED: "done",
    TurnStatus.FAILED: "failed",
    TurnStatus.INTERRUPTED: "failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that was taken, and its turn."""

    session_id: uuid.UUID
    turn_id: uuid.UUID


def list_conversations(request: HttpRequest, limit: Limit = 50, offset: Offset = 0) -> Page[Conversation]:
    """List the conversations that the page lists, the last active first, without archived ones.

    In these something was said to Sage, or Sage has opened an arc (`kind`) that goes on.
    """
    rows = Session.of(caller_of(request).user_id).filter(listed(), archived_at=None)
    shown = rows.order_by("-last_active_at", "-id").defer("opening")[offset : offset + limit]
    return Page(items=[_conversation(request, session) for session in shown], total=rows.count())


def begin_conversation(request: HttpRequest) -> Conversation:
    """Open a conversation. Sent again with the same `Idempotency-Key`, it is the same one."""
    caller = caller_of(request)
    client_id, kind = client_id_of(request, caller), SessionKind.OPEN_CONVERSATION
    # A form that is sent again once something was said opens another one; a program gets its own.
    known = Session.of(caller.user_id).filter(kind=kind, client_id=client_id).first() if client_id else None
    opened = known or begin_session(
        user_id=caller.user_id, kind=kind, client_id=client_id, rate_limit=rate_limit()
    )
    return _conversation(request, opened)


def get_conversation(request: HttpRequest, conversation_id: uuid.UUID) -> Conversation:
    """Return a conversation without its messages."""
    caller = caller_of(request)
    session = accessible_session(user_id=caller.user_id, session_id=conversation_id)
    return _conversation(request, session)


def list_messages(
    request: HttpRequest, conversation_id: uuid.UUID, limit: Limit = 50, offset: Offset = 0
) -> Page[Message]:
    """List the messages of a conversation, the newest first."""
    caller = caller_of(request)
    session = accessible_session(user_id=caller.user_id, session_id=conversation_id)
    rows = MessageRow.within(session).filter(turn__is_withdrawn=False)
    rows = rows.exclude(metadata__has_key="is_hidden")
    shown = rows.order_by("-number")[offset : offset + limit]
    return Page(items=[_message(row) for row in shown], total=rows.count())


def get_answer(request: HttpRequest, conversation_id: uuid.UUID, turn_id: uuid.UUID) -> Answer:
    """Return what became of a message: whether Sage still answers, and the answer."""
    return read_answer(request, Sent(session_id=conversation_id, turn_id=turn_id))


async def send(request: HttpRequest, conversation_id: uuid.UUID, text: str, client_id: str | None) -> Sent:
    """Store a message of a program and begin the turn that answers it.

    Raises `Refused`, `WaitsForUser` and `Session.DoesNotExist`. In a conversation that has ended, it goes
    into a new one.
    """
    caller = caller_of(request)
    started = await get_runner().open_turn(
        TurnRequest(
            kind="message",
            user_id=caller.user_id,
            session_id=conversation_id,
            text=text,
            client_id=client_id,
            program=caller.name,
        )
    )
    return Sent(session_id=started.opened.session_id, turn_id=started.opened.turn.id)


async def wait_for(caller: Caller, sent: Sent, *, seconds: float) -> None:
    """Wait until a turn doesn't run any more, at most `seconds`, unless many of the person's requests wait.

    Raises `NotKnown` once the token is revoked or has expired.
    """
    until = time.monotonic() + seconds
    async with waiting() as may_wait:
        while may_wait and (left := until - time.monotonic()) > 0:
            before = time.monotonic()
            step = min(CHECKED_EVERY, left)
            await get_runner().wait_until_idle(sent.session_id, seconds=step)
            if not await in_database(_still_runs, caller, sent):
                return
            # A turn that another process runs isn't waited for by the runner of this one.
            await asyncio.sleep(max(0.0, min(before + step, until) - time.monotonic()))


def _still_runs(caller: Caller, sent: Sent) -> bool:
    check_caller(caller)
    turns = Turn.of(caller.user_id).filter(session_id=sent.session_id, id=sent.turn_id)
    return turns.filter(status=TurnStatus.RUNNING).exists()


def read_answer(request: HttpRequest, sent: Sent) -> Answer:
    """Return a turn as a program sees it. Raises `Turn.DoesNotExist`, also for one that was withdrawn."""
    caller = caller_of(request)
    turns = Turn.of(caller.user_id).filter(session_id=sent.session_id, is_withdrawn=False)
    turn = turns.defer("prefix", "shown").get(id=sent.turn_id)
    messages = list(turn.messages.select_related("safety_verdict"))
    answers = [row.content for row in messages if row.role == MessageRole.ASSISTANT]
    status = STATUSES[turn.status]
    return Answer(
        status=status,
        conversation=sent.session_id,
        turn=sent.turn_id,
        text="".join(strip_block_tags(text) for text in answers) if status == "done" else "",
        notice=turn.user_notice,
        help_lines=_help_lines(caller, messages),
        page=page(request, "session", sent.session_id, anchor=f"#turn-{sent.turn_id}"),
    )


def _help_lines(caller: Caller, messages: Sequence[MessageRow]) -> list[HelpLine]:
    """Return the help lines that the page shows beside a message of danger."""
    said = [row for row in messages if row.role == MessageRole.USER]
    found = [known_danger(row.metadata, row.known_verdict) for row in said]
    danger = next((danger for danger in found if danger), None)
    if danger is None:
        return []
    offer = read_offer(country_of(profile_of(caller)), topic=danger.topic)
    return [
        HelpLine(name=line.title, phone=line.phone, text=line.text, url=line.url, hours=line.hours)
        for line in offer.lines
    ]


def _conversation(request: HttpRequest, session: Session) -> Conversation:
    return Conversation(
        id=session.id,
        kind=session.kind,
        status=session.status,
        title=session.title,
        last_active_at=session.last_active_at,
        page=page(request, "session", session.id),
    )


def _message(row: MessageRow) -> Message:
    is_user = row.role == MessageRole.USER
    return Message(
        number=row.number,
        role="user" if is_user else "assistant",
        text=row.content if is_user else strip_block_tags(row.content),
        program=row.metadata.get(PROGRAM_KEY, ""),
        created_at=row.created_at,
    )
