"""The steps that all ways to open a turn share. Each caller has locked the session's row."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop as _

from sessions_app.briefs import withdraw_briefs
from sessions_app.errors import Refused, StillAnswering
from sessions_app.history import next_message, store_message
from sessions_app.limits import RateLimit
from sessions_app.models import Message, MessageRole, Session, SessionStatus, ToolCallRecord, Turn
from sessions_app.opening_message import OPENING_ID
from sessions_app.selectors import accessible_session, read_open_turn_status
from sessions_app.session_events import COUNTER, Fact, Said, TurnOpened, Withdrawn, numbered
from sessions_app.stored_prompts import BuildPrompt, StoredPrompt, put_prompt
from sessions_app.summaries import withdraw_summary
from sessions_app.titles import withdraw_title

STILL_ANSWERING = _("Sage is still answering. You can stop it, or wait a moment.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn that is to be opened: by which user, where, within which limits, and for which runner.

    Without `build_prompt`, its prompt is built and stored later.
    """

    user_id: int
    session_id: uuid.UUID
    owner: str
    rate_limit: RateLimit
    build_prompt: BuildPrompt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTurn:
    """A turn that was opened, or, when `is_new` is false, the one that the same message opened before.

    `superseded` are the pending calls that the message replaced, `withdrawn` the turns it removed from the
    history, and `withdrawn_from` the number of their first message.
    """

    session_id: uuid.UUID
    turn: Turn
    message: Message
    is_new: bool
    superseded: tuple[ToolCallRecord, ...] = ()
    withdrawn: tuple[uuid.UUID, ...] = ()
    withdrawn_from: int | None = None


def withdraw_turn(session: Session, turn: Turn, *, since: int) -> Withdrawn:
    """Store a turn as withdrawn, with its status and `message_number`; `since` is where its answer begins.

    The caller appends the fact that is returned.
    """
    withdraw_made_from(session, since=since)
    turn.is_withdrawn = True
    turn.save(update_fields=["status", "message_number", "is_withdrawn"])
    return withdrawn_fact([turn.id], since)


def withdrawn_fact(turn_ids: Sequence[uuid.UUID], first_number: int) -> Withdrawn:
    """Build the fact that turns were withdrawn."""
    return Withdrawn(turn_ids=[str(turn_id) for turn_id in turn_ids], first_number=first_number)


def withdraw_made_from(session: Session, *, since: int) -> None:
    """Withdraw the briefs, the summary and the title that were made from a message `since`."""
    withdraw_title(session, since=since)
    withdraw_summary(session, since=since)
    withdraw_briefs(session, since=since)


def is_last_turn(turn: Turn) -> bool:
    """Say whether a turn is the last one of its session, the one that can be retried."""
    return last_turn(turn.session) == turn


def last_turn(session: Session) -> Turn | None:
    """Return the last turn by message numbers: the clocks of processes differ."""
    shown = session.messages.filter(turn__is_withdrawn=False).select_related("turn")
    last = shown.order_by("-number").first()
    return last.turn if last else None


def store_turn(
    session: Session,
    text: str,
    *,
    new: NewTurn,
    client_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    facts: Sequence[Fact] = (),
) -> tuple[Turn, Message]:
    """Open a turn with a new user message. The caller has locked the session's row.

    `facts` came before it, in the same transaction.
    """
    message = next_message(
        session=session,
        role=MessageRole.USER,
        content=text,
        client_id=client_id or str(uuid.uuid4()),
        metadata=metadata,
    )
    is_opening = client_id == OPENING_ID
    session.is_only_opened = is_opening
    turn = Turn(session=session, owner=new.owner, is_opening=is_opening)
    session_fields, prompt = put_built_prompt(new.build_prompt, session, turn, message)
    if not message.metadata.get("is_hidden"):
        place = prompt.place if prompt is not None else {}
        facts = [*facts, Said(number=message.number, message=message, **place)]
    events = numbered(session, [*facts, TurnOpened(turn_id=str(turn.id), turn=turn)])
    fields = ["is_only_opened", COUNTER, *session_fields]
    store_message(message, turn=turn, session_fields=fields, added=events)
    return turn, message


def put_built_prompt(
    build_prompt: BuildPrompt | None, session: Session, turn: Turn, message: Message
) -> tuple[Sequence[str], StoredPrompt | None]:
    """Set the turn's prompt on unsaved rows; return the session fields that changed, and the prompt."""
    prompt = build_prompt(session, message) if build_prompt is not None else None
    if prompt is None:
        return (), None
    put_prompt(prompt, session=session, turn=turn, message=message)
    return (() if prompt.opening is None else ("opening", "metadata")), prompt


def lock_active_session(*, user_id: int, session_id: uuid.UUID) -> Session:
    """Lock and return the user's session. Raises `Refused` where it has ended."""
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    if session.status != SessionStatus.ACTIVE:
        raise Refused(_("This conversation has ended. Write a new message to continue."))
    return session


def refuse_second_turn(session: Session) -> None:
    """Raise `Refused` where the session has an open turn."""
    if read_open_turn_status(session.id) is not None:
        raise StillAnswering(STILL_ANSWERING)
