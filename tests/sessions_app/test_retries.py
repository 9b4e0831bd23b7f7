"""Retrying, continuing and editing: what is withdrawn, what stays, and which turn is the last."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from sessions_app import retries, selectors, services, session_services
from sessions_app.errors import Refused
from sessions_app.models import (
    MessageRole,
    Session,
    SessionStatus,
    Turn,
    TurnStatus,
)
from sessions_app.pending_calls import dismiss_call
from sessions_app.turn_locks import TurnKey
from tests.sessions_app.turns import ask_question, call, close, say
from tests.stored_turns import GENEROUS, new_turn, store_round


@pytest.mark.django_db
def test_a_retry_answers_the_same_message_and_withdraws_the_half_answer(session: Session, user: User) -> None:
    first = say(session, "hello")
    close(first, status=TurnStatus.FAILED, text="I was say", reason="error")
    retried = retries.retry_turn(new_turn(session))
    close(retried, text="A whole answer.")
    assert retried.message.number == 1
    assert [message.content for message in selectors.transcript(session)] == ["hello", "A whole answer."]


@pytest.mark.django_db
def test_a_retry_after_a_tool_ran_keeps_what_it_did_and_goes_on(session: Session, user: User) -> None:
    first = say(session, "hello")
    store_round(TurnKey(turn_id=first.turn.id, fence=1), text="Saving.", calls=(call("toolu_1"),))
    close(first, status=TurnStatus.FAILED, reason="error")
    retried = retries.retry_turn(new_turn(session))
    assert [message.role for message in selectors.history(session)] == ["user", "assistant", "user"]
    assert [message.content for message in selectors.transcript(session)] == ["hello", "Saving."]
    assert retried.message.metadata == {"is_hidden": True}


@pytest.mark.django_db
@pytest.mark.parametrize("status", [TurnStatus.COMPLETED, None])
def test_there_is_nothing_to_retry_after_a_whole_answer_or_before_any(
    session: Session, user: User, status: TurnStatus | None
) -> None:
    if status is not None:
        close(say(session), status=status, text="answer")
    with pytest.raises(Refused, match="nothing to try again"):
        retries.retry_turn(new_turn(session))


@pytest.mark.django_db
def test_only_an_answer_cut_for_length_goes_on(session: Session, user: User) -> None:
    close(say(session), text="whole")
    with pytest.raises(Refused, match="nothing to continue"):
        retries.continue_turn(new_turn(session))
    close(say(session, "more"), text="cut", reason="max_tokens")
    going_on = retries.continue_turn(new_turn(session))
    assert going_on.message.role == MessageRole.USER
    assert selectors.transcript(session)[-1].content == "cut"


def set_clock_back(turn: Turn) -> None:
    """Have a turn opened by a process whose clock is an hour behind."""
    Turn.unscoped.filter(pk=turn.pk).update(started_at=turn.started_at - timedelta(hours=1))


@pytest.mark.django_db
def test_the_last_turn_is_retried_where_its_process_has_a_slow_clock(session: Session, user: User) -> None:
    close(say(session, "first"), text="whole")
    last = say(session, "last")
    set_clock_back(last.turn)
    close(last, status=TurnStatus.FAILED, text="half", reason="error")
    retried = retries.retry_turn(new_turn(session))
    assert retried.message.content == "last"
    set_clock_back(retried.turn)
    close(retried, status=TurnStatus.FAILED, reason="error")
    again = retries.retry_turn(new_turn(session))
    assert again.withdrawn == (retried.turn.id,)


@pytest.mark.django_db
def test_an_earlier_failure_is_not_retried_where_the_last_process_has_a_slow_clock(
    session: Session, user: User
) -> None:
    close(say(session, "first"), status=TurnStatus.FAILED, text="half", reason="max_tokens")
    last = say(session, "last")
    set_clock_back(last.turn)
    close(last, text="whole")
    for ask_again in (retries.retry_turn, retries.continue_turn):
        with pytest.raises(Refused, match="nothing to"):
            ask_again(new_turn(session))


@pytest.mark.django_db
def test_an_edit_withdraws_the_last_message_and_all_that_followed(session: Session, user: User) -> None:
    close(say(session, "kept"), text="kept answer")
    close(say(session, "wrong"), text="cut", reason="max_tokens")
    going_on = retries.continue_turn(new_turn(session))
    close(going_on, text="and the rest")
    edited = services.edit_message(new_turn(session), text="right", client_id=None)
    close(edited, text="right answer")
    assert len(edited.withdrawn) == 2
    assert [message.content for message in selectors.history(session)] == [
        "kept",
        "kept answer",
        "right",
        "right answer",
    ]
    numbers = list(session.messages.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, 9))


@pytest.mark.django_db
def test_the_last_question_is_answered_where_its_process_has_a_slow_clock(
    session: Session, user: User
) -> None:
    ask_question(say(session))
    last = say(session, "something else")
    ask_question(last)
    set_clock_back(last.turn)
    ended = dismiss_call(
        user_id=user.pk, session_id=session.id, tool_use_id="q", owner="me", rate_limit=GENEROUS
    )
    assert ended.turn == last.turn


@pytest.mark.django_db
def test_nothing_is_asked_again_in_a_session_that_has_ended(session: Session, user: User) -> None:
    close(say(session), status=TurnStatus.FAILED, reason="max_tokens")
    session_services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.COMPLETED)
    for ask_again in (retries.retry_turn, retries.continue_turn):
        with pytest.raises(Refused, match="has ended"):
            ask_again(new_turn(session))
