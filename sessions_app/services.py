"""Opens a turn with a message: a new one, an edited one, or that in which Sage speaks first.

Each is one transaction that first locks the session's row, found through its user. Turns without a new
message are in `retries`, sessions themselves in `session_services`, writes of a running turn in
`turn_records`.
"""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict

from django.db import transaction
from django.utils.translation import gettext_noop as _

from sessions_app.errors import Refused, StillAnswering, WaitsForUser
from sessions_app.history import DOCUMENTS_KEY, PROGRAM_KEY
from sessions_app.limits import RateLimit, refuse_over, refuse_over_limits
from sessions_app.models import (
    Message,
    MessageRole,
    Session,
    SessionKind,
    SessionStatus,
    ToolCallRecord,
    TurnStatus,
)
from sessions_app.opened_turns import (
    STILL_ANSWERING,
    NewTurn,
    OpenedTurn,
    lock_active_session,
    store_turn,
    withdraw_made_from,
    withdrawn_fact,
)
from sessions_app.opening_message import OPENING_ID, OPENING_WORDS
from sessions_app.openings import is_opened_by_sage, withdraw_opening
from sessions_app.pending_calls import supersede_pending_calls
from sessions_app.selectors import read_open_turn_status
from sessions_app.session_lock import LockedSession, lock_session
from sessions_app.session_services import open_session
from sessions_app.text import check_client_id, check_message_text

WAITS_FOR_USER = _(
    "Sage has asked something here that you answer on the page. Send this again after that, or in another "
    "conversation."
)
SENT_OTHERWISE = _("Your message was already sent, with other words. Please send this again.")
NOT_OPENED_BY_SAGE = _("This conversation starts with your own message.")


@transaction.atomic
def open_turn(
    new: NewTurn, *, text: object, client_id: object, metadata: Mapping[str, Any] | None = None
) -> OpenedTurn:
    """Commit the user's message and open the turn that will answer it, with its prompt.

    `metadata` is stored with the message. The same client id twice gives the same turn, and is refused with
    other words or documents. A message to an ended session opens a new one that is linked to it; with a
    pending call open, it supersedes the call, unless a program has sent it; what Sage is opening the session
    with is withdrawn. Raises `Refused` with a sentence for the user, `WaitsForUser`, and
    `Session.DoesNotExist`.
    """
    checked_text = check_message_text(text)
    checked_id = check_client_id(client_id)
    lock = partial(lock_session, user_id=new.user_id, client_id=checked_id, rate_limit=new.rate_limit)
    found = lock(session_id=new.session_id)
    while found.known is None and found.session.status != SessionStatus.ACTIVE:
        found = lock(session_id=_continued(found.session).id)
    session, known = found.session, found.known
    if known is not None:
        _refuse_otherwise(known, checked_text, metadata)
        return OpenedTurn(session_id=session.id, turn=known.turn, message=known, is_new=False)
    refuse_over(found.asked, user_id=new.user_id, rate_limit=new.rate_limit)
    if PROGRAM_KEY in (metadata or {}):
        _refuse_program(found)
    opened = _make_way(found)
    turn, message = store_turn(
        session,
        checked_text,
        client_id=checked_id,
        new=new,
        metadata=metadata,
        facts=[withdrawn_fact(opened["withdrawn"], 1)] if "withdrawn" in opened else (),
    )
    return OpenedTurn(session_id=session.id, turn=turn, message=message, is_new=True, **opened)


def _refuse_otherwise(known: Message, text: str, metadata: Mapping[str, Any] | None) -> None:
    """Raise `Refused` where the message that has a client id says something else, which would be lost."""
    documents = (metadata or {}).get(DOCUMENTS_KEY, [])
    if known.content != text or known.metadata.get(DOCUMENTS_KEY, []) != documents:
        raise Refused(SENT_OTHERWISE)


@transaction.atomic
def open_with_sage(new: NewTurn) -> OpenedTurn:
    """Open the turn in which Sage speaks first; a session has one at most, however often this is called.

    Raises `Refused` where the user speaks first, and `Session.DoesNotExist`.
    """
    found = lock_session(
        user_id=new.user_id, session_id=new.session_id, client_id=OPENING_ID, rate_limit=new.rate_limit
    )
    session = found.session
    if found.known is not None:
        return OpenedTurn(session_id=session.id, turn=found.known.turn, message=found.known, is_new=False)
    is_begun = session.last_message_number > 0 or session.status != SessionStatus.ACTIVE
    if is_begun or not is_opened_by_sage(session):
        raise Refused(NOT_OPENED_BY_SAGE)
    refuse_over(found.asked, user_id=new.user_id, rate_limit=new.rate_limit, is_opening=True)
    turn, message = store_turn(
        session, OPENING_WORDS, client_id=OPENING_ID, new=new, metadata={"is_hidden": True}
    )
    return OpenedTurn(session_id=session.id, turn=turn, message=message, is_new=True)


@transaction.atomic
def refuse_early(
    *, user_id: int, session_id: uuid.UUID, text: object, client_id: object, rate_limit: RateLimit
) -> None:
    """Refuse a message that `open_turn` would refuse now, before expensive work on it.

    Changes nothing; `open_turn` checks again. Raises `Refused`, `Session.DoesNotExist`.
    """
    checked_text = check_message_text(text)
    found = lock_session(
        user_id=user_id, session_id=session_id, client_id=check_client_id(client_id), rate_limit=rate_limit
    )
    if found.known is not None:
        _refuse_otherwise(found.known, checked_text, found.known.metadata)
        return
    refuse_over(found.asked, user_id=user_id, rate_limit=rate_limit)
    # A message to an ended session goes into another one, so a turn that is still stopping doesn't matter.
    if found.session.status == SessionStatus.ACTIVE and found.is_answering:
        raise StillAnswering(STILL_ANSWERING)


@transaction.atomic
def edit_message(
    new: NewTurn, *, text: object, client_id: object, metadata: Mapping[str, Any] | None = None
) -> OpenedTurn:
    """Replace the user's last message and open a turn for the new one; `metadata` is stored with it.

    The old message and all that followed it are withdrawn: their numbers stay, and so does what
    tools wrote. Raises `Refused` where there is no message yet or the conversation has ended.
    """
    checked_text = check_message_text(text)
    checked_id = check_client_id(client_id)
    session = lock_active_session(user_id=new.user_id, session_id=new.session_id)
    known = session.messages.filter(client_id=checked_id).first() if checked_id is not None else None
    if known is not None:
        _refuse_otherwise(known, checked_text, metadata)
        raise Refused(_("This message has already been sent."))
    superseded = _supersede_waiting_turn(session, read_open_turn_status(session.id))
    refuse_over_limits(user_id=new.user_id, rate_limit=new.rate_limit)
    withdrawn, withdrawn_from = _withdraw_last_message(session)
    turn, message = store_turn(
        session,
        checked_text,
        client_id=checked_id,
        new=new,
        metadata=metadata,
        facts=[withdrawn_fact(withdrawn, withdrawn_from)],
    )
    opened = OpenedTurn(session_id=session.id, turn=turn, message=message, is_new=True)
    return replace(opened, superseded=superseded, withdrawn=withdrawn, withdrawn_from=withdrawn_from)


def _withdraw_last_message(session: Session) -> tuple[tuple[uuid.UUID, ...], int]:
    """Withdraw the user's last message and all that followed; return the turns and its number.

    Raises `Refused`.
    """
    spoken = session.messages.filter(role=MessageRole.USER, turn__is_withdrawn=False)
    last = spoken.exclude(metadata__has_key="is_hidden").order_by("-number").first()
    if last is None:
        raise Refused(_("There’s no message to edit yet."))
    later = session.messages.filter(number__gte=last.number, turn__is_withdrawn=False)
    withdrawn = tuple(dict.fromkeys(later.order_by("number").values_list("turn_id", flat=True)))
    withdraw_made_from(session, since=last.number)
    session.turns.filter(id__in=withdrawn).update(status=TurnStatus.SUPERSEDED, is_withdrawn=True)
    return withdrawn, last.number


def _continued(ended: Session) -> Session:
    """Return the session that continues an ended one, itself possibly ended; open it if there is none.

    One that its user deleted isn't that: a message in it would go with it.
    """
    successors = Session.of(ended.user_id).filter(continues=ended).select_for_update(no_key=True)
    successor: Session | None = successors.order_by("started_at").first()
    return successor or open_session(
        user_id=ended.user_id, kind=SessionKind.OPEN_CONVERSATION, continues=ended
    )


class _Replaced(TypedDict, total=False):
    """What a new message replaces, as fields of `OpenedTurn`."""

    superseded: tuple[ToolCallRecord, ...]
    withdrawn: tuple[uuid.UUID, ...]
    withdrawn_from: int


def _refuse_program(found: LockedSession) -> None:
    """Refuse a program's message that would take away what the user is asked, or what Sage is opening with.

    Raises `WaitsForUser`, and `Refused` where Sage is speaking first.
    """
    if found.is_being_opened:
        raise StillAnswering(STILL_ANSWERING)
    if found.open_turn is not None and found.open_turn.status == TurnStatus.AWAITING_USER:
        raise WaitsForUser(WAITS_FOR_USER, session_id=found.session.id)


def _make_way(found: LockedSession) -> _Replaced:
    """End the session's open turn for its user's message. Raises `Refused` where Sage is answering."""
    if found.is_being_opened:
        return {"withdrawn": (withdraw_opening(found.session),), "withdrawn_from": 1}
    status = found.open_turn.status if found.open_turn else None
    return {"superseded": _supersede_waiting_turn(found.session, status)}


def _supersede_waiting_turn(session: Session, status: str | None) -> tuple[ToolCallRecord, ...]:
    """Supersede the pending calls of the open turn and return them. Raises `Refused` where it runs.

    `status` is the open turn's, None where there is none.
    """
    if status is None:
        return ()
    if status != TurnStatus.AWAITING_USER:
        raise StillAnswering(STILL_ANSWERING)
    return supersede_pending_calls(session)
