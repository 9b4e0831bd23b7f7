"""Opening sessions and turns: database constraints, and errors for the user."""

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from sessions_app import selectors, services, turn_records
from sessions_app.errors import Refused
from sessions_app.limits import RateLimit
from sessions_app.models import (
    Message,
    MessageRole,
    ModelUsage,
    Session,
    SessionKind,
    SessionStatus,
    Turn,
    TurnStatus,
)
from sessions_app.pending_calls import dismiss_call
from sessions_app.services import OpenedTurn
from sessions_app.turn_records import Ending, NewCall, TurnKey
from tests.stored_turns import store_round

GENEROUS = RateLimit(turns=1000, seconds=60)


@pytest.fixture
def session(user: User) -> Session:
    return services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)


def begin(user: User, client_id: object = "form") -> Session:
    return services.begin_session(
        user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION, client_id=client_id, rate_limit=GENEROUS
    )


def say(
    session: Session, text: object = "hello", *, client_id: object = None, limit: RateLimit = GENEROUS
) -> OpenedTurn:
    return services.open_turn(
        user_id=session.user_id,
        session_id=session.id,
        text=text,
        client_id=client_id,
        owner="me",
        rate_limit=limit,
    )


def close(
    opened: OpenedTurn, *, status: TurnStatus = TurnStatus.COMPLETED, text: str = "", reason: str = "end_turn"
) -> Message | None:
    key = TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence)
    if text:
        store_round(key, text=text)
    return turn_records.close_turn(key, Ending(status=status, stop_reason=reason))


def call(tool_use_id: str) -> NewCall:
    return NewCall(tool_use_id=tool_use_id, name="save_file", position=0, input={}, is_interactive=False)


@pytest.mark.django_db
def test_messages_are_numbered_without_gaps(session: Session) -> None:
    for text in ("one", "two", "three"):
        close(say(session, text), text="answer")
    assert list(session.messages.values_list("number", "role")) == [
        (1, "user"),
        (2, "assistant"),
        (3, "user"),
        (4, "assistant"),
        (5, "user"),
        (6, "assistant"),
    ]


@pytest.mark.django_db
def test_a_second_message_is_refused_while_a_turn_is_open(session: Session) -> None:
    say(session)
    with pytest.raises(Refused, match="still answering"):
        say(session, "again")
    assert session.messages.count() == 1


@pytest.mark.django_db
def test_the_database_itself_refuses_a_second_open_turn(session: Session) -> None:
    Turn.unscoped.create(session=session)
    with pytest.raises(IntegrityError, match="turn_one_open_per_session"), transaction.atomic():
        Turn.unscoped.create(session=session, status=TurnStatus.AWAITING_USER)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model_values", "constraint"),
    [
        ({"status": "paused", "ended_at": timezone.now()}, "session_status_known"),
        ({"kind": "therapy"}, "session_kind_known"),
        ({"active_arc": "siesta"}, "session_arc_known"),
        ({"status": "completed"}, "session_ended_at_iff_ended"),
    ],
)
def test_the_database_itself_refuses_unknown_states(
    user: User, model_values: dict[str, object], constraint: str
) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Session.unscoped.create(user=user, **model_values)


@pytest.mark.django_db
def test_the_same_client_id_twice_is_one_turn_for_ever(session: Session) -> None:
    first = say(session, client_id="abc")
    again = say(session, client_id="abc")
    close(first, text="answer")
    later = say(session, "something else", client_id="abc")
    assert first.is_new
    assert not again.is_new
    assert not later.is_new
    assert {first.turn.id, again.turn.id, later.turn.id} == {first.turn.id}
    assert session.turns.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "write something"),
        (" \n\t ", "write something"),
        (None, "must be text"),
        (7, "must be text"),
        (["a"], "must be text"),
        ("a\x00b", "can’t be stored"),
        ("a\ud800b", "can’t be stored"),
        ("x" * 20_001, "20,001 characters"),
    ],
)
def test_a_text_that_cannot_be_a_message_is_refused_and_changes_nothing(
    session: Session, text: object, told: str
) -> None:
    with pytest.raises(Refused, match=told):
        say(session, text)
    assert session.turns.count() == 0
    assert session.messages.count() == 0


@pytest.mark.django_db
def test_the_longest_message_fits(session: Session) -> None:
    assert len(say(session, "é" * 20_000).message.content) == 20_000


@pytest.mark.django_db
@pytest.mark.parametrize("client_id", [5, {"a": 1}, "x" * 101, "a\x00"])
def test_a_client_id_that_is_none_is_refused(session: Session, client_id: object) -> None:
    with pytest.raises(Refused, match="message id"):
        say(session, client_id=client_id)


@pytest.mark.django_db
def test_another_persons_session_looks_missing(session: Session, other_user: User) -> None:
    for session_id in (session.id, uuid.uuid4()):
        with pytest.raises(Session.DoesNotExist):
            services.open_turn(
                user_id=other_user.pk,
                session_id=session_id,
                text="hi",
                client_id=None,
                owner="me",
                rate_limit=GENEROUS,
            )


@pytest.mark.django_db
def test_a_status_moves_once_and_never_silently(session: Session, user: User) -> None:
    services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.ABANDONED)
    for status in SessionStatus:
        with pytest.raises(Refused):
            services.end_session(user_id=user.pk, session_id=session.id, status=status)
    session.refresh_from_db()
    assert session.status == SessionStatus.ABANDONED


@pytest.mark.django_db
@pytest.mark.parametrize("ended", [status for status in SessionStatus if status != SessionStatus.ACTIVE])
def test_the_database_refuses_any_second_move_of_a_status(session: Session, ended: SessionStatus) -> None:
    session.status, session.ended_at = ended, timezone.now()
    session.save()
    for status in set(SessionStatus) - {ended}:
        moved = Session.unscoped.get(id=session.id)
        moved.status = status
        moved.ended_at = None if status == SessionStatus.ACTIVE else timezone.now()
        with (
            pytest.raises(IntegrityError, match=f"status can't move from {ended} to {status}"),
            transaction.atomic(),
        ):
            moved.save()
        with pytest.raises(IntegrityError), transaction.atomic():
            Session.unscoped.filter(id=session.id).update(status=status, ended_at=moved.ended_at)
    moved = Session.unscoped.get(id=session.id)
    moved.title = "What else changes may be saved"
    moved.save()
    assert moved.status == ended


@pytest.mark.django_db
def test_writing_to_an_ended_session_opens_one_that_continues_it(session: Session, user: User) -> None:
    services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.COMPLETED)
    first = say(session)
    close(first, text="answer")
    second = say(session, "more")
    assert first.session_id != session.id
    assert first.session_id == second.session_id
    assert Session.unscoped.get(id=first.session_id).continues_id == session.id
    assert session.messages.count() == 0


@pytest.mark.django_db
def test_over_the_rate_limit_the_wait_is_named(session: Session) -> None:
    limit = RateLimit(turns=2, seconds=60)
    for text in ("one", "two"):
        close(say(session, text, limit=limit))
    with pytest.raises(Refused, match=r"wait (5\d|60) seconds"):
        say(session, "three", limit=limit)
    Turn.unscoped.update(started_at=timezone.now() - timedelta(seconds=61))
    assert say(session, "four", limit=limit).is_new


@pytest.mark.django_db
def test_two_turns_run_at_once_for_a_user_and_not_a_third(user: User) -> None:
    sessions = [services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION) for _ in range(3)]
    say(sessions[0])
    say(sessions[1])
    with pytest.raises(Refused, match="already answering in 2"):
        say(sessions[2])


@pytest.mark.django_db(transaction=True)
def test_racing_messages_open_one_turn(session: Session) -> None:
    outcomes = _race([lambda: say(session, "a"), lambda: say(session, "b"), lambda: say(session, "c")])
    assert outcomes.count("opened") == 1
    assert outcomes.count("refused") == 2
    assert session.messages.count() == 1


@pytest.mark.django_db(transaction=True)
def test_racing_submits_of_one_client_id_are_one_turn(session: Session) -> None:
    outcomes = _race([lambda: say(session, "a", client_id="same")] * 4)
    assert outcomes == ["opened"] * 4
    assert session.turns.count() == 1


@pytest.mark.django_db(transaction=True)
def test_racing_turns_in_many_sessions_stay_within_two(user: User) -> None:
    sessions = [services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION) for _ in range(6)]
    outcomes = _race([partial(say, session) for session in sessions])
    assert outcomes.count("opened") == 2


def _race(attempts: list[Callable[[], object]]) -> list[str]:
    outcomes: list[str] = []
    start = threading.Barrier(len(attempts))

    def run(attempt: Callable[[], object]) -> None:
        start.wait()
        try:
            attempt()
            outcomes.append("opened")
        except Refused:
            outcomes.append("refused")
        finally:
            connections["default"].close()

    threads = [threading.Thread(target=run, args=(attempt,)) for attempt in attempts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.django_db
def test_a_retry_answers_the_same_message_and_withdraws_the_half_answer(session: Session, user: User) -> None:
    first = say(session, "hello")
    close(first, status=TurnStatus.FAILED, text="I was say", reason="error")
    retried = services.retry_turn(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)
    close(retried, text="A whole answer.")
    assert retried.message.number == 1
    assert [message.content for message in selectors.transcript(session)] == ["hello", "A whole answer."]


@pytest.mark.django_db
def test_a_retry_after_a_tool_ran_keeps_what_it_did_and_goes_on(session: Session, user: User) -> None:
    first = say(session, "hello")
    store_round(TurnKey(turn_id=first.turn.id, fence=1), text="Saving.", calls=(call("toolu_1"),))
    close(first, status=TurnStatus.FAILED, reason="error")
    retried = services.retry_turn(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)
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
        services.retry_turn(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)


@pytest.mark.django_db
def test_only_an_answer_cut_for_length_goes_on(session: Session, user: User) -> None:
    close(say(session), text="whole")
    with pytest.raises(Refused, match="nothing to continue"):
        services.continue_turn(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)
    close(say(session, "more"), text="cut", reason="max_tokens")
    going_on = services.continue_turn(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)
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
    retried = services.retry_turn(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)
    assert retried.message.content == "last"
    set_clock_back(retried.turn)
    close(retried, status=TurnStatus.FAILED, reason="error")
    again = services.retry_turn(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)
    assert again.withdrawn == (retried.turn.id,)


@pytest.mark.django_db
def test_an_earlier_failure_is_not_retried_where_the_last_process_has_a_slow_clock(
    session: Session, user: User
) -> None:
    close(say(session, "first"), status=TurnStatus.FAILED, text="half", reason="max_tokens")
    last = say(session, "last")
    set_clock_back(last.turn)
    close(last, text="whole")
    for ask_again in (services.retry_turn, services.continue_turn):
        with pytest.raises(Refused, match="nothing to"):
            ask_again(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)


@pytest.mark.django_db
def test_the_title_is_the_first_words(session: Session) -> None:
    say(session, "  I want\nto talk about " + "my work and " * 20)
    session.refresh_from_db()
    assert session.title.startswith("I want to talk about my work")
    assert len(session.title) <= 81


@pytest.mark.django_db
def test_an_edit_withdraws_the_last_message_and_all_that_followed(session: Session, user: User) -> None:
    close(say(session, "kept"), text="kept answer")
    close(say(session, "wrong"), text="cut", reason="max_tokens")
    going_on = services.continue_turn(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)
    close(going_on, text="and the rest")
    edited = services.edit_message(
        user_id=user.pk,
        session_id=session.id,
        text="right",
        client_id=None,
        owner="me",
        rate_limit=GENEROUS,
    )
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
def test_a_message_supersedes_a_pending_call_in_one_step(session: Session) -> None:
    first = say(session)
    ask_question(first)
    second = say(session, "something else")
    assert [call.tool_use_id for call in second.superseded] == ["q"]
    first.turn.refresh_from_db()
    assert (first.turn.status, first.turn.prefix) == (TurnStatus.SUPERSEDED, "")
    assert [(message.role, message.content) for message in selectors.history(session)] == [
        ("user", "hello"),
        ("assistant", "Which?"),
        ("user", "something else"),
    ]


def ask_question(opened: OpenedTurn) -> None:
    """Have a turn wait for the answer to a question with a fixed id."""
    key = TurnKey(turn_id=opened.turn.id, fence=1)
    pending = NewCall(tool_use_id="q", name="show_options", position=0, input={}, is_interactive=True)
    store_round(key, text="Which?", calls=(pending,))
    turn_records.pause_turn(key, stop_reason="tool_use")


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
def test_the_same_client_id_is_one_turn_also_after_the_session_ended(session: Session, user: User) -> None:
    services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.COMPLETED)
    first = say(session, client_id="abc")
    assert not say(session, client_id="abc").is_new
    close(first, text="answer")
    services.end_session(user_id=user.pk, session_id=first.session_id, status=SessionStatus.COMPLETED)
    again = say(session, client_id="abc")
    assert (again.is_new, again.turn.id) == (False, first.turn.id)
    assert Message.unscoped.filter(role="user").count() == 1


@pytest.mark.django_db
def test_nothing_is_refused_early_that_would_go_on_in_another_session(session: Session, user: User) -> None:
    say(session)
    early = partial(
        services.refuse_early,
        user_id=user.pk,
        session_id=session.id,
        text="more",
        client_id=None,
        rate_limit=GENEROUS,
    )
    with pytest.raises(Refused, match="still answering"):
        early()
    services.abandon_session(user_id=user.pk, session_id=session.id)  # its turn hasn't stopped yet
    early()
    assert say(session, "more").session_id != session.id


@pytest.mark.django_db
def test_nothing_is_asked_again_in_a_session_that_has_ended(session: Session, user: User) -> None:
    close(say(session), status=TurnStatus.FAILED, reason="max_tokens")
    services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.COMPLETED)
    for ask_again in (services.retry_turn, services.continue_turn):
        with pytest.raises(Refused, match="has ended"):
            ask_again(user_id=user.pk, session_id=session.id, owner="me", rate_limit=GENEROUS)


@pytest.mark.django_db
def test_a_daily_budget_that_is_used_up_refuses_the_next_turn(session: Session, user: User) -> None:
    budget = RateLimit(turns=100, seconds=60, daily_tokens=1000)
    ModelUsage.unscoped.create(
        user=user, model="m", input_tokens=400, output_tokens=300, cache_read_tokens=299
    )
    close(say(session, limit=budget))
    ModelUsage.unscoped.create(user=user, model="m", output_tokens=1)
    with pytest.raises(Refused, match=r"budget .* used up"):
        say(session, limit=budget)
    ModelUsage.unscoped.update(created_at=timezone.now() - timedelta(hours=25))
    assert say(session, limit=budget).is_new


def test_a_form_kept_and_sent_again_later_begins_another_session(user: User) -> None:
    first = begin(user)
    say(first, client_id="form")
    assert begin(user).id == first.id  # the same message, sent again
    other = begin(user, "of another form")
    say(other)
    assert begin(user, "of another form").id != other.id
    services.end_session(user_id=user.pk, session_id=first.id, status=SessionStatus.ABANDONED)
    assert begin(user).id != first.id


@pytest.mark.django_db(transaction=True)
def test_two_sendings_of_a_form_that_race_begin_one_session(user: User) -> None:
    assert _race([partial(begin, user)] * 4) == ["opened"] * 4
    assert Session.unscoped.filter(user=user).count() == 1
