"""Opens a turn without a new message: the last one again, another answer, or the rest of a cut one.

Each is one transaction that first locks the session's row, found through its user.
"""

from django.db import transaction
from django.utils.translation import gettext_noop as _

from sessions_app.errors import Refused
from sessions_app.limits import refuse_over_limits
from sessions_app.models import MessageRole, Session, Turn, TurnStatus
from sessions_app.opened_turns import (
    NewTurn,
    OpenedTurn,
    last_turn,
    lock_active_session,
    put_built_prompt,
    refuse_second_turn,
    store_turn,
    withdraw_turn,
)
from sessions_app.session_events import CardGiven, TurnOpened, append

GO_ON = "Please go on from where you stopped."


@transaction.atomic
def retry_turn(new: NewTurn) -> OpenedTurn:
    """Open a turn that replaces the last one, which failed, was interrupted or was stopped.

    Where the last turn called tools, its answer stays and Sage is asked to go on; else the answer is
    withdrawn and the same message is answered again. Raises `Refused` where there is nothing to retry.
    """
    session = lock_active_session(user_id=new.user_id, session_id=new.session_id)
    refuse_second_turn(session)
    last = last_turn(session)
    if last is None or not last.can_be_retried:
        raise Refused(_("There’s nothing to try again."))
    if last.calls.exists():
        return _go_on(session, new)
    last.status = TurnStatus.SUPERSEDED
    return _answer_again(last, session, new)


@transaction.atomic
def answer_again(new: NewTurn) -> OpenedTurn:
    """Open a turn that answers the last message once more; the present answer can be chosen again.

    What its calls did stays. Raises `Refused` where there is no whole answer, or something waits.
    """
    session = lock_active_session(user_id=new.user_id, session_id=new.session_id)
    refuse_second_turn(session)
    last = last_turn(session)
    message = last.messages.filter(role=MessageRole.USER).first() if last else None
    if last is None or message is None or not last.can_be_answered_again:
        raise Refused(_("There’s no answer to ask for again."))
    if last.message_number is None:
        last.message_number = message.number
    return _answer_again(last, session, new)


def _answer_again(last: Turn, session: Session, new: NewTurn) -> OpenedTurn:
    """Withdraw the last turn, as it was changed, and open another one for its message."""
    refuse_over_limits(user_id=new.user_id, rate_limit=new.rate_limit)
    message = last.messages.get(role=MessageRole.USER)
    withdrawn = withdraw_turn(session, last, since=message.number + 1)
    turn = Turn(session=session, owner=new.owner, message_number=last.message_number)
    session_fields, _prompt = put_built_prompt(new.build_prompt, session, turn, message)
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
def continue_turn(new: NewTurn) -> OpenedTurn:
    """Open a turn that continues an answer that was cut for its length.

    Raises `Refused` where the last answer is complete.
    """
    session = lock_active_session(user_id=new.user_id, session_id=new.session_id)
    refuse_second_turn(session)
    last = last_turn(session)
    if last is None or not last.can_be_continued:
        raise Refused(_("There’s nothing to continue."))
    return _go_on(session, new)


def _go_on(session: Session, new: NewTurn) -> OpenedTurn:
    refuse_over_limits(user_id=new.user_id, rate_limit=new.rate_limit)
    turn, message = store_turn(session, GO_ON, new=new, metadata={"is_hidden": True})
    return OpenedTurn(session_id=session.id, turn=turn, message=message, is_new=True)
