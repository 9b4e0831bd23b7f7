"""Writes on a user's request: open and end a session, open a turn with a message.

Each is one transaction that first locks the session's row, found through its user. Writes of a running turn
are in `turn_records`.

Longer than other modules, because all ways to open a turn share the same steps.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypedDict

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from sessions_app.briefs import withdraw_briefs
from sessions_app.errors import Refused, StillAnswering, WaitsForUser
from sessions_app.history import DOCUMENTS_KEY, PROGRAM_KEY, next_message, store_message
from sessions_app.limits import (
    RateLimit,
    lock_limits,
    refuse_over,
    refuse_over_limits,
    refuse_too_many_sessions,
)
from sessions_app.models import (
    Message,
    MessageRole,
    Session,
    SessionKind,
    SessionStatus,
    ToolCallRecord,
    Turn,
    TurnStatus,
)
from sessions_app.opening_message import OPENING_ID, OPENING_WORDS
from sessions_app.openings import is_opened_by_sage, withdraw_opening
from sessions_app.pending_calls import expire_pending_calls, supersede_pending_calls
from sessions_app.selectors import accessible_session, read_open_turn_status
from sessions_app.session_events import (
    COUNTER,
    CardGiven,
    Ended,
    Fact,
    Said,
    TurnOpened,
    Withdrawn,
    append,
    numbered,
)
from sessions_app.session_lock import LockedSession, lock_session
from sessions_app.stored_prompts import BuildPrompt, StoredPrompt, put_prompt
from sessions_app.summaries import withdraw_summary
from sessions_app.text import check_client_id, check_message_text, id_of_words
from sessions_app.titles import withdraw_title

GO_ON = "Please go on from where you stopped."
WAITS_FOR_USER = _(
    "Sage has asked something here that you answer on the page. Send this again after that, or in another "
    "conversation."
)
STILL_ANSWERING = _("Sage is still answering. You can stop it, or wait a moment.")
SENT_OTHERWISE = _("Your message was already sent, with other words. Please send this again.")
NOT_OPENED_BY_SAGE = _("This conversation starts with your own message.")


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


@transaction.atomic
def open_session(*, user_id: int, kind: str, continues: Session | None = None) -> Session:
    """Open a session of that kind. Raises `Refused` for a kind that doesn't exist."""
    if kind not in SessionKind.values:
        raise Refused(_("That kind of conversation doesn’t exist."))
    return Session.of(user_id).create(kind=kind, continues=continues)


@transaction.atomic
def begin_session(
    *, user_id: int, kind: str, client_id: object, rate_limit: RateLimit, text: str = ""
) -> Session:
    """Open a session for a form; the same form sent twice opens one.

    A form that is sent again with another `text`, the session's first message, opens another one, and so does
    one after its user has said something else in its session, or deleted that. Raises `Refused` for a kind
    that doesn't exist, and `TooManySessions`.
    """
    checked_id = check_client_id(client_id)
    # The user's lock serialises concurrent submissions.
    lock_limits(user_id=user_id)
    known = None
    if checked_id is not None:
        known, checked_id = _session_of_form(user_id=user_id, kind=kind, form_id=checked_id, text=text)
    if known is not None:
        return known
    refuse_too_many_sessions(user_id=user_id, rate_limit=rate_limit)
    session = open_session(user_id=user_id, kind=kind)
    session.client_id = checked_id
    session.save(update_fields=["client_id"])
    return session


def _session_of_form(
    *, user_id: int, kind: str, form_id: str, text: str
) -> tuple[Session | None, str | None]:
    """Return the session that a form has opened, or the id for the one that it opens now, None for none."""
    words = text.replace("\r\n", "\n")
    for own_id in (form_id, id_of_words(form_id, words)):
        known = Session.of(user_id).filter(kind=kind, client_id=own_id).first()
        if known is None:
            if not Session.deleted_of(user_id).filter(kind=kind, client_id=own_id).exists():
                return None, own_id
        elif known.status == SessionStatus.ACTIVE:
            is_of_this_form = known.messages.filter(client_id=form_id, content=words).exists()
            if is_of_this_form or not known.is_used:
                return known, own_id
    return None, None


@transaction.atomic
def end_session(*, user_id: int, session_id: uuid.UUID, status: SessionStatus) -> Session:
    """Move a session out of `active`. Raises `Refused` where it has ended already."""
    if status == SessionStatus.ACTIVE:
        raise Refused(_("A conversation that has ended can’t be made active again."))
    session = _lock_to_end(user_id=user_id, session_id=session_id)
    move_out(session, status)
    return session


def move_out(session: Session, status: SessionStatus, *, is_told: bool = True) -> None:
    """Store that an active session, whose row the caller has locked, has ended.

    Its readers are told now, or with the end of the turn that still runs.
    """
    session.status = status
    session.ended_at = timezone.now()
    append(session, *([Ended(status=status)] if is_told else []), changed=["status", "ended_at"])


def _lock_to_end(*, user_id: int, session_id: uuid.UUID) -> Session:
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    if session.status != SessionStatus.ACTIVE:
        raise Refused(_("This conversation has already ended."))
    return session


@transaction.atomic
def abandon_session(*, user_id: int, session_id: uuid.UUID) -> None:
    """End a session at its user's request: a running turn is asked to stop, pending calls expire.

    Raises `Refused` where it has ended already.
    """
    session = _lock_to_end(user_id=user_id, session_id=session_id)
    is_answering = session.turns.filter(status=TurnStatus.RUNNING).update(is_stop_requested=True)
    expire_pending_calls(session)
    move_out(session, SessionStatus.ABANDONED, is_told=not is_answering)


@transaction.atomic
def open_turn(
    *,
    user_id: int,
    session_id: uuid.UUID,
    text: object,
    client_id: object,
    owner: str,
    rate_limit: RateLimit,
    metadata: Mapping[str, Any] | None = None,
    build_prompt: BuildPrompt | None = None,
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
    lock = partial(lock_session, user_id=user_id, client_id=checked_id, rate_limit=rate_limit)
    found = lock(session_id=session_id)
    while found.known is None and found.session.status != SessionStatus.ACTIVE:
        found = lock(session_id=_continued(found.session).id)
    session, known = found.session, found.known
    if known is not None:
        _refuse_otherwise(known, checked_text, metadata)
        return OpenedTurn(session_id=session.id, turn=known.turn, message=known, is_new=False)
    refuse_over(found.asked, user_id=user_id, rate_limit=rate_limit)
    if PROGRAM_KEY in (metadata or {}):
        _refuse_program(found)
    opened = _make_way(found)
    turn, message = _store_message(
        session,
        checked_text,
        client_id=checked_id,
        owner=owner,
        build_prompt=build_prompt,
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
def open_with_sage(
    *,
    user_id: int,
    session_id: uuid.UUID,
    owner: str,
    rate_limit: RateLimit,
    build_prompt: BuildPrompt | None = None,
) -> OpenedTurn:
    """Open the turn in which Sage speaks first; a session has one at most, however often this is called.

    Raises `Refused` where the user speaks first, and `Session.DoesNotExist`.
    """
    found = lock_session(user_id=user_id, session_id=session_id, client_id=OPENING_ID, rate_limit=rate_limit)
    session = found.session
    if found.known is not None:
        return OpenedTurn(session_id=session.id, turn=found.known.turn, message=found.known, is_new=False)
    is_begun = session.last_message_number > 0 or session.status != SessionStatus.ACTIVE
    if is_begun or not is_opened_by_sage(session):
        raise Refused(NOT_OPENED_BY_SAGE)
    refuse_over(found.asked, user_id=user_id, rate_limit=rate_limit, is_opening=True)
    turn, message = _store_message(
        session,
        OPENING_WORDS,
        client_id=OPENING_ID,
        owner=owner,
        build_prompt=build_prompt,
        metadata={"is_hidden": True},
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
def retry_turn(
    *,
    user_id: int,
    session_id: uuid.UUID,
    owner: str,
    rate_limit: RateLimit,
    build_prompt: BuildPrompt | None = None,
) -> OpenedTurn:
    """Open a turn that replaces the last one, which failed, was interrupted or was stopped.

    Where the last turn called tools, its answer stays and Sage is asked to go on; else the answer is
    withdrawn and the same message is answered again. Raises `Refused` where there is nothing to retry.
    """
    session = lock_active_session(user_id=user_id, session_id=session_id)
    refuse_second_turn(session)
    last = last_turn(session)
    if last is None or not last.can_be_retried:
        raise Refused(_("There’s nothing to try again."))
    if last.calls.exists():
        return _go_on(session=session, owner=owner, rate_limit=rate_limit, build_prompt=build_prompt)
    last.status = TurnStatus.SUPERSEDED
    return _answer_again(last, session=session, owner=owner, rate_limit=rate_limit, build_prompt=build_prompt)


@transaction.atomic
def answer_again(
    *,
    user_id: int,
    session_id: uuid.UUID,
    owner: str,
    rate_limit: RateLimit,
    build_prompt: BuildPrompt | None = None,
) -> OpenedTurn:
    """Open a turn that answers the last message once more; the present answer can be chosen again.

    What its calls did stays. Raises `Refused` where there is no whole answer, or something waits.
    """
    session = lock_active_session(user_id=user_id, session_id=session_id)
    refuse_second_turn(session)
    last = last_turn(session)
    message = last.messages.filter(role=MessageRole.USER).first() if last else None
    if last is None or message is None or not last.can_be_answered_again:
        raise Refused(_("There’s no answer to ask for again."))
    if last.message_number is None:
        last.message_number = message.number
    return _answer_again(last, session=session, owner=owner, rate_limit=rate_limit, build_prompt=build_prompt)


def _answer_again(
    last: Turn, *, session: Session, owner: str, rate_limit: RateLimit, build_prompt: BuildPrompt | None
) -> OpenedTurn:
    """Withdraw the last turn, as it was changed, and open another one for its message."""
    refuse_over_limits(user_id=session.user_id, rate_limit=rate_limit)
    message = last.messages.get(role=MessageRole.USER)
    withdrawn = withdraw_turn(session, last, since=message.number + 1)
    turn = Turn(session=session, owner=owner, message_number=last.message_number)
    session_fields, _prompt = _put_built_prompt(build_prompt, session, turn, message)
    turn.save(force_insert=True)
    message.turn = turn
    message.save(update_fields=["turn", "metadata"])
    card = CardGiven(number=message.number, is_late=False)
    append(session, withdrawn, card, TurnOpened(turn_id=str(turn.id), turn=turn), changed=session_fields)
    return OpenedTurn(
        session_id=session.id,
        turn=turn,
        message=message,
        is_new=True,
        withdrawn=(last.id,),
        withdrawn_from=message.number + 1,
    )


@transaction.atomic
def edit_message(
    *,
    user_id: int,
    session_id: uuid.UUID,
    text: object,
    client_id: object,
    owner: str,
    rate_limit: RateLimit,
    metadata: Mapping[str, Any] | None = None,
    build_prompt: BuildPrompt | None = None,
) -> OpenedTurn:
    """Replace the user's last message and open a turn for the new one; `metadata` is stored with it.

    The old message and all that followed it are withdrawn: their numbers stay, and so does what
    tools wrote. Raises `Refused` where there is no message yet or the conversation has ended.
    """
    checked_text = check_message_text(text)
    checked_id = check_client_id(client_id)
    session = lock_active_session(user_id=user_id, session_id=session_id)
    known = session.messages.filter(client_id=checked_id).first() if checked_id is not None else None
    if known is not None:
        _refuse_otherwise(known, checked_text, metadata)
        raise Refused(_("This message has already been sent."))
    superseded = _supersede_waiting_turn(session, read_open_turn_status(session.id))
    refuse_over_limits(user_id=user_id, rate_limit=rate_limit)
    withdrawn, withdrawn_from = _withdraw_last_message(session)
    turn, message = _store_message(
        session,
        checked_text,
        client_id=checked_id,
        owner=owner,
        build_prompt=build_prompt,
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
    _withdraw_made_from(session, since=last.number)
    session.turns.filter(id__in=withdrawn).update(status=TurnStatus.SUPERSEDED, is_withdrawn=True)
    return withdrawn, last.number


def withdraw_turn(session: Session, turn: Turn, *, since: int) -> Withdrawn:
    """Store a turn as withdrawn, with its status and `message_number`; `since` is where its answer begins.

    The caller appends the fact that is returned.
    """
    _withdraw_made_from(session, since=since)
    turn.is_withdrawn = True
    turn.save(update_fields=["status", "message_number", "is_withdrawn"])
    return withdrawn_fact([turn.id], since)


def withdrawn_fact(turn_ids: Sequence[uuid.UUID], first_number: int) -> Withdrawn:
    """Build the fact that turns were withdrawn."""
    return Withdrawn(turn_ids=[str(turn_id) for turn_id in turn_ids], first_number=first_number)


def _withdraw_made_from(session: Session, *, since: int) -> None:
    """Withdraw the briefs, the summary and the title that were made from a message `since`."""
    withdraw_title(session, since=since)
    withdraw_summary(session, since=since)
    withdraw_briefs(session, since=since)


@transaction.atomic
def continue_turn(
    *,
    user_id: int,
    session_id: uuid.UUID,
    owner: str,
    rate_limit: RateLimit,
    build_prompt: BuildPrompt | None = None,
) -> OpenedTurn:
    """Open a turn that continues an answer that was cut for its length.

    Raises `Refused` where the last answer is complete.
    """
    session = lock_active_session(user_id=user_id, session_id=session_id)
    refuse_second_turn(session)
    last = last_turn(session)
    if last is None or not last.can_be_continued:
        raise Refused(_("There’s nothing to continue."))
    return _go_on(session=session, owner=owner, rate_limit=rate_limit, build_prompt=build_prompt)


def is_last_turn(turn: Turn) -> bool:
    """Say whether a turn is the last one of its session, the one that can be retried."""
    return last_turn(turn.session) == turn


def last_turn(session: Session) -> Turn | None:
    """Return the last turn by message numbers: the clocks of processes differ."""
    shown = session.messages.filter(turn__is_withdrawn=False).select_related("turn")
    last = shown.order_by("-number").first()
    return last.turn if last else None


def _go_on(
    *, session: Session, owner: str, rate_limit: RateLimit, build_prompt: BuildPrompt | None
) -> OpenedTurn:
    refuse_over_limits(user_id=session.user_id, rate_limit=rate_limit)
    turn, message = _store_message(
        session, GO_ON, owner=owner, build_prompt=build_prompt, metadata={"is_hidden": True}
    )
    return OpenedTurn(session_id=session.id, turn=turn, message=message, is_new=True)


def _store_message(
    session: Session,
    text: str,
    *,
    owner: str,
    build_prompt: BuildPrompt | None,
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
    turn = Turn(session=session, owner=owner, is_opening=is_opening)
    session_fields, prompt = _put_built_prompt(build_prompt, session, turn, message)
    if not message.metadata.get("is_hidden"):
        place = prompt.place if prompt is not None else {}
        facts = [*facts, Said(number=message.number, message=message, **place)]
    events = numbered(session, [*facts, TurnOpened(turn_id=str(turn.id), turn=turn)])
    fields = ["is_only_opened", COUNTER, *session_fields]
    store_message(message, turn=turn, session_fields=fields, added=events)
    return turn, message


def _put_built_prompt(
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


def _continued(ended: Session) -> Session:
    """Return the session that continues an ended one, itself possibly ended; open it if there is none."""
    successor = ended.continued_by.order_by("started_at").first()
    if successor is None:
        return open_session(user_id=ended.user_id, kind=SessionKind.OPEN_CONVERSATION, continues=ended)
    return accessible_session(user_id=ended.user_id, session_id=successor.id, is_locked=True)


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


def refuse_second_turn(session: Session) -> None:
    """Raise `Refused` where the session has an open turn."""
    if read_open_turn_status(session.id) is not None:
        raise StillAnswering(STILL_ANSWERING)
