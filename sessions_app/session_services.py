"""Opens and ends sessions at their user's request."""

import uuid

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from sessions_app.errors import Refused
from sessions_app.limits import RateLimit, lock_limits, refuse_too_many_sessions
from sessions_app.models import Session, SessionKind, SessionStatus, TurnStatus
from sessions_app.pending_calls import expire_pending_calls
from sessions_app.selectors import accessible_session
from sessions_app.session_events import Ended, append
from sessions_app.text import check_client_id, id_of_words
from sessions_app.titles import FIELDS as TITLE_FIELDS
from sessions_app.titles import name_session


@transaction.atomic
def open_session(*, user_id: int, kind: str, continues: Session | None = None) -> Session:
    """Open a session of that kind. Raises `Refused` for a kind that doesn't exist."""
    if kind not in SessionKind.values:
        raise Refused(_("That kind of conversation doesn’t exist."))
    return Session.of(user_id).create(kind=kind, continues=continues)


@transaction.atomic
def begin_session(
    *, user_id: int, kind: str, client_id: object, rate_limit: RateLimit, text: str = "", title: str = ""
) -> Session:
    """Open a session for a form, perhaps with a title of Sage's; the same form sent twice opens one.

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
    name_session(session, title)
    session.save(update_fields=["client_id", *TITLE_FIELDS])
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
