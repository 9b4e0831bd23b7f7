"""Sage speaks first: where, once, and how its user's own words replace what it is saying."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from coaching.job_queue.sessions import enqueue_follow_ups
from sessions_app import (
    pending_calls,
    retries,
    selectors,
    services,
    session_services,
    turn_endings,
    turn_locks,
    turn_records,
)
from sessions_app.errors import Refused, StaleFence
from sessions_app.figures import sessions_with_brief_behind
from sessions_app.limits import RateLimit
from sessions_app.listing import list_sessions
from sessions_app.models import (
    Message,
    ModelUsage,
    Round,
    Session,
    SessionKind,
    SessionStatus,
    ToolCallRecord,
    ToolCallState,
    Turn,
    TurnStatus,
)
from sessions_app.opened_turns import OpenedTurn
from sessions_app.opening_message import OPENING_ID, OPENING_WORDS
from sessions_app.pending_calls import Answer
from sessions_app.session_folders import list_folders, make_folder
from sessions_app.turn_endings import Ending
from sessions_app.turn_locks import TurnKey
from sessions_app.turn_records import CallResult
from tests.sessions_app.turns import ask_question, begin, call, close, say
from tests.stored_turns import GENEROUS, new_turn, open_conversation, store_round

pytestmark = pytest.mark.django_db

ARCS = [kind for kind in SessionKind if kind != SessionKind.OPEN_CONVERSATION]
DONE = Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn")


@pytest.fixture
def arc(user: User) -> Session:
    return session_services.open_session(user_id=user.pk, kind=SessionKind.OPEN_DAY)


def open_with_sage(session: Session, *, limit: RateLimit = GENEROUS) -> OpenedTurn:
    return services.open_with_sage(new_turn(session, rate_limit=limit))


def key_of(opened: OpenedTurn) -> TurnKey:
    return TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence)


def fresh(session: Session) -> Session:
    return Session.of(session.user_id).get(id=session.id)


@pytest.mark.parametrize("kind", ARCS)
def test_sage_speaks_first_in_every_arc_and_once(user: User, kind: SessionKind) -> None:
    session = session_services.open_session(user_id=user.pk, kind=kind)
    first, second = open_with_sage(session), open_with_sage(session)
    assert (first.is_new, second.is_new) == (True, False)
    assert first.turn == second.turn
    message = Message.of(user.pk).get()
    assert (message.number, message.content, message.client_id) == (1, OPENING_WORDS, OPENING_ID)
    assert message.metadata == {"is_hidden": True}
    assert selectors.transcript(session) == []


def test_sage_speaks_first_in_the_first_conversation_of_all_and_in_no_other(session: Session) -> None:
    close(open_with_sage(session), text="Good to meet you.")
    unused = open_conversation(session.user)
    assert open_with_sage(unused).is_new  # nothing has been said yet: this is the first one, too
    say(session, "Hello")
    with pytest.raises(Refused, match="your own message"):
        open_with_sage(open_conversation(session.user))


def test_who_has_written_first_isnt_spoken_to_first(arc: Session) -> None:
    close(say(arc, "I slept badly."), text="Tell me.")
    with pytest.raises(Refused, match="your own message"):
        open_with_sage(arc)


def test_an_ended_session_isnt_opened(arc: Session, user: User) -> None:
    session_services.abandon_session(user_id=user.pk, session_id=arc.id)
    with pytest.raises(Refused, match="your own message"):
        open_with_sage(arc)


def test_another_users_session_isnt_found(arc: Session, django_user_model: type[User]) -> None:
    other = django_user_model.objects.create(username="other")
    with pytest.raises(Session.DoesNotExist):
        services.open_with_sage(new_turn(arc, user_id=other.pk))


def stale_writes(key: TurnKey) -> list[Callable[[], object]]:
    """Return every write that a runner can make."""
    result = CallResult(content="{}", is_error=False)
    return [
        lambda: store_round(key, number=9, text="late"),
        lambda: turn_records.run_effect(key, "t1", lambda: result),
        lambda: turn_records.store_result(key, "t1", result),
        lambda: turn_endings.pause_turn(key, stop_reason="tool_use"),
        lambda: pending_calls.await_user(key, stop_reason="tool_use"),
        lambda: turn_endings.close_turn(key, DONE),
        lambda: turn_locks.lock_turn(key),
    ]


@pytest.mark.parametrize("has_round", [False, True])
def test_writing_while_sage_speaks_first_withdraws_it_and_leaves_its_runner_nothing_to_write(
    arc: Session, *, has_round: bool
) -> None:
    opening = open_with_sage(arc)
    if has_round:
        store_round(key_of(opening), text="Good mor", calls=(call("t1"),))
    mine = say(arc, "I slept badly.", client_id="mine")
    assert mine.is_new
    assert (mine.withdrawn, mine.withdrawn_from) == ((opening.turn.id,), 1)
    assert mine.message.number == (3 if has_round else 2)
    before = list(Round.of(arc.user_id).values()), list(ToolCallRecord.of(arc.user_id).values())
    for write in stale_writes(key_of(opening)):
        with pytest.raises(StaleFence):
            write()
    assert turn_records.store_shown([(key_of(opening), '{"number": 1}')]) == set()
    assert before == (list(Round.of(arc.user_id).values()), list(ToolCallRecord.of(arc.user_id).values()))
    turn = Turn.of(arc.user_id).get(id=opening.turn.id)
    assert (turn.status, turn.is_withdrawn, turn.prefix) == (TurnStatus.SUPERSEDED, True, "")
    assert not turn.calls.filter(state=ToolCallState.RUNNING).exists()
    numbers = list(arc.messages.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, fresh(arc).last_message_number + 1))
    assert [message.content for message in selectors.history(arc)] == ["I slept badly."]
    assert say(arc, "I slept badly.", client_id="mine").turn == mine.turn
    assert fresh(arc).title == "I slept badly."


def test_writing_after_it_has_spoken_keeps_what_it_said(arc: Session) -> None:
    close(open_with_sage(arc), text="Good morning. How did you wake?")
    mine = say(arc, "Badly.")
    assert (mine.message.number, mine.withdrawn) == (3, ())
    assert [message.role for message in selectors.history(arc)] == ["user", "assistant", "user"]


def test_a_message_instead_of_an_answer_to_its_question_supersedes_the_question(arc: Session) -> None:
    ask_question(open_with_sage(arc))
    mine = say(arc, "Let me just write.")
    assert [pending.state for pending in mine.superseded] == [ToolCallState.SUPERSEDED]
    assert (mine.withdrawn, mine.message.number) == ((), 3)


def answer_question(session: Session) -> None:
    pending_calls.answer_call(
        user_id=session.user_id,
        session_id=session.id,
        tool_use_id="q",
        owner="me",
        rate_limit=GENEROUS,
        build_answer=lambda *_: Answer(result=CallResult(content="{}", is_error=False), value="fine"),
    )


def test_after_an_answer_to_its_question_it_is_a_turn_like_any_other(arc: Session) -> None:
    opening = open_with_sage(arc)
    ask_question(opening)
    assert not fresh(arc).is_used
    answer_question(arc)
    assert fresh(arc).is_used
    with pytest.raises(Refused, match="still answering"):
        say(arc, "And another thing")
    turn_endings.close_turn(
        TurnKey(turn_id=opening.turn.id, fence=2), Ending(status=TurnStatus.FAILED, stop_reason="error")
    )
    retried = retries.retry_turn(new_turn(arc))
    assert not retried.turn.is_opening  # Sage is asked to go on: the answer stays


def test_a_session_in_which_only_sage_has_spoken_counts_as_unused(arc: Session, user: User) -> None:
    close(open_with_sage(arc), text="Good morning.")
    assert not fresh(arc).is_used
    assert selectors.session_to_go_on_with(user_id=user.pk, kind=arc.kind) is None
    assert not sessions_with_brief_behind(now=arc.started_at).exists()
    assert enqueue_follow_ups([arc.id]) == set()
    say(arc, "Morning!")
    assert fresh(arc).is_used
    assert selectors.recent_sessions(user_id=user.pk, limit=5) == [arc]
    assert selectors.session_to_go_on_with(user_id=user.pk, kind=arc.kind) == arc
    assert enqueue_follow_ups([arc.id]) == {arc.id}


def test_lists_show_an_arc_from_its_opening_and_not_after_its_end_if_nothing_was_said(
    arc: Session, user: User
) -> None:
    unopened = session_services.open_session(user_id=user.pk, kind=SessionKind.CLOSE_DAY)
    talk = open_conversation(user)
    close(open_with_sage(arc), text="Good morning.")
    close(open_with_sage(talk), text="Good to meet you.")
    folder = make_folder(user_id=user.pk, name="Mornings")
    Session.of(user.pk).update(folder=folder)
    assert selectors.recent_sessions(user_id=user.pk, limit=5) == [arc]
    assert list_sessions(user_id=user.pk, after=None, limit=5)[0] == [arc]
    assert [each.count for each in list_folders(user_id=user.pk)] == [1]  # type: ignore[attr-defined]
    session_services.end_session(user_id=user.pk, session_id=arc.id, status=SessionStatus.EXPIRED)
    assert selectors.recent_sessions(user_id=user.pk, limit=5) == []
    assert list_sessions(user_id=user.pk, after=None, limit=5)[0] == []
    assert [each.count for each in list_folders(user_id=user.pk)] == [0]  # type: ignore[attr-defined]
    assert not fresh(unopened).is_used


def test_the_same_form_sent_again_finds_the_session_that_sage_has_opened(user: User) -> None:
    session = begin(user)
    close(open_with_sage(session), text="Good to meet you.")
    assert begin(user) == session
    say(session, "Hello")
    assert begin(user) != session


@pytest.mark.parametrize("status", [TurnStatus.FAILED, TurnStatus.INTERRUPTED, TurnStatus.STOPPED])
def test_what_was_never_said_is_withdrawn_and_what_was_said_stays(user: User, status: TurnStatus) -> None:
    silent, spoken = (
        session_services.open_session(user_id=user.pk, kind=SessionKind.OPEN_DAY) for _ in range(2)
    )
    close(open_with_sage(silent), status=status, reason="error")
    close(open_with_sage(spoken), status=status, text="Good mor", reason="error")
    assert selectors.history(silent) == []
    assert [message.content for message in selectors.transcript(spoken)] == ["Good mor"]
    for session in (silent, spoken):
        for act in (retries.retry_turn, retries.continue_turn):
            with pytest.raises(Refused, match="There’s nothing to"):
                act(new_turn(session))
        with pytest.raises(Refused, match="no message to edit"):
            services.edit_message(new_turn(session), text="other", client_id=None)
        assert not open_with_sage(session).is_new
    assert say(silent, "Hello").message.number == 2
    assert say(spoken, "Hello").message.number == 3


def test_it_runs_next_to_two_others_and_takes_no_place_of_theirs(user: User) -> None:
    say(open_conversation(user))
    arcs = [session_services.open_session(user_id=user.pk, kind=SessionKind.OPEN_DAY) for _ in range(3)]
    for session in arcs[:2]:
        open_with_sage(session)
    say(open_conversation(user))
    open_with_sage(arcs[2])
    with pytest.raises(Refused, match="already answering in 2"):
        say(open_conversation(user))


def test_over_the_daily_budget_it_is_refused(arc: Session, user: User) -> None:
    ModelUsage.of(user.pk).create(model="m", input_tokens=1_000)
    with pytest.raises(Refused, match="budget is used up"):
        open_with_sage(arc, limit=RateLimit(turns=1000, seconds=60, daily_tokens=1_000))
    assert fresh(arc).last_message_number == 0


def test_it_counts_among_the_turns_of_a_minute(arc: Session) -> None:
    once = RateLimit(turns=1, seconds=60)
    close(open_with_sage(arc, limit=once), text="Good morning.")
    with pytest.raises(Refused, match="a lot in a short time"):
        say(arc, "Morning!", limit=once)


def test_no_client_may_use_its_id(arc: Session) -> None:
    with pytest.raises(Refused, match="can’t be a message id"):
        say(arc, "Hello", client_id=OPENING_ID)
