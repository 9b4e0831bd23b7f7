"""Several answers to one message: turns that share it, of which one is in the history.

`retries.answer_again` opens another turn; here one of those that were answered is chosen.
"""

import uuid
from dataclasses import replace

from django.db import transaction
from django.utils.translation import gettext_noop as _

from sessions_app.errors import Refused
from sessions_app.import_metadata import CHOSEN_KEY
from sessions_app.models import MessageRole, Session, SessionStatus, Turn, TurnStatus
from sessions_app.opened_turns import last_turn, lock_active_session, refuse_second_turn, withdraw_turn
from sessions_app.selectors import read_open_turn_status
from sessions_app.session_events import AnswerPicked, append

NO_SUCH_ANSWER = _("Your last message doesn’t have that answer.")


@transaction.atomic
def choose_answer(*, user_id: int, session_id: uuid.UUID, turn_id: object) -> None:
    """Put another answer to the last message into the history, in place of the present one.

    Brief, title and recall follow. Raises `Refused`, and `Session.DoesNotExist`.
    """
    session = lock_active_session(user_id=user_id, session_id=session_id)
    refuse_second_turn(session)
    chosen = _answered_turn(session, turn_id)
    last = last_turn(session)
    number = chosen.message_number if chosen else None
    if chosen is None or last is None or number is None or number != last.message_number:
        raise Refused(NO_SUCH_ANSWER)
    if chosen == last:
        return
    message = session.messages.get(number=number)
    withdrawn = withdraw_turn(session, last, since=message.number + 1)
    chosen.is_withdrawn = False
    chosen.save(update_fields=["is_withdrawn"])
    message.turn = chosen
    message.save(update_fields=["turn"])
    if session.imported_until:
        session.metadata[CHOSEN_KEY] = True
        session.save(update_fields=["metadata"])
    append(session, replace(withdrawn, is_choice=True), AnswerPicked(turn_id=str(chosen.id)))


def answered_turn(*, user_id: int, session_id: uuid.UUID, turn_id: uuid.UUID) -> Turn | None:
    """Return a turn that shares its message and has an answer, with its session; None if there is none."""
    session = Session.of(user_id).filter(id=session_id).first()
    return _answered_turn(session, turn_id) if session else None


def can_be_chosen(turn: Turn) -> bool:
    """Return whether a turn of `answered_turn` may be chosen now, or is the chosen one already."""
    session = turn.session
    if session.status != SessionStatus.ACTIVE or read_open_turn_status(session.id) is not None:
        return False
    last = last_turn(session)
    return last is not None and last.message_number == turn.message_number


def _answered_turn(session: Session, turn_id: object) -> Turn | None:
    try:
        wanted = uuid.UUID(str(turn_id))
    except ValueError:
        return None
    shared = session.turns.filter(id=wanted, message_number__isnull=False).exclude(
        status=TurnStatus.SUPERSEDED
    )
    return shared.filter(messages__role=MessageRole.ASSISTANT).select_related("session").first()
