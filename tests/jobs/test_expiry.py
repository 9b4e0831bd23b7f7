"""Idle sessions and arcs expire, and nothing else does."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from coaching.jobs.expiry import expire_idle_sessions
from sessions_app import services, session_services, turn_endings
from sessions_app.arcs import current_arc, enter_arc
from sessions_app.models import (
    Session,
    SessionKind,
    SessionStatus,
    ToolCallRecord,
    ToolCallState,
    Turn,
    TurnStatus,
)
from sessions_app.turn_locks import TurnKey
from sessions_app.turn_records import NewCall
from tests.stored_turns import new_turn, open_turn, store_round

pytestmark = pytest.mark.django_db


def idle_session(user: User, kind: str = SessionKind.OPEN_DAY, *, hours: float = 25) -> Session:
    session = session_services.open_session(user_id=user.pk, kind=kind)
    grow_old(session, hours)
    return session


def grow_old(session: Session, hours: float = 25) -> None:
    then = timezone.now() - timedelta(hours=hours)
    Session.unscoped.filter(id=session.id).update(last_active_at=then)
    Turn.unscoped.filter(session=session).update(part_started_at=then)
    ToolCallRecord.unscoped.filter(turn__session=session).exclude(finished_at=None).update(finished_at=then)


def ask(user: User, session: Session) -> TurnKey:
    """Have Sage ask two questions and wait."""
    key = open_turn(session)
    store_round(
        key,
        text="Which one?",
        calls=[
            NewCall(tool_use_id=f"t{i}", name="show_options", position=i, input={}, is_interactive=True)
            for i in (1, 2)
        ],
    )
    turn_endings.pause_turn(key, stop_reason="tool_use")
    return key


def expire() -> tuple[int, int]:
    report = expire_idle_sessions(now=timezone.now())
    return len(report.expired), len(report.arcs_left)


@pytest.mark.parametrize("kind", [kind for kind in SessionKind if kind != SessionKind.OPEN_CONVERSATION])
def test_every_arc_kind_expires_after_a_day_without_a_word(user: User, kind: SessionKind) -> None:
    idle, fresh = idle_session(user, kind), idle_session(user, kind, hours=23)
    assert expire() == (1, 0)
    idle.refresh_from_db()
    fresh.refresh_from_db()
    assert (idle.status, fresh.status) == (SessionStatus.EXPIRED, SessionStatus.ACTIVE)
    assert idle.ended_at is not None
    assert expire() == (0, 0)


def test_an_open_conversation_never_expires(user: User) -> None:
    session = idle_session(user, SessionKind.OPEN_CONVERSATION, hours=10_000)
    assert expire() == (0, 0)
    session.refresh_from_db()
    assert session.status == SessionStatus.ACTIVE


def test_an_open_conversation_leaves_its_arc_and_stays_open_with_its_question(user: User) -> None:
    session = idle_session(user, SessionKind.OPEN_CONVERSATION)
    enter_arc(session, arc=SessionKind.WEEKLY_CHECKIN, entered_by="t0", now=timezone.now())
    key = ask(user, session)
    grow_old(session)
    assert expire() == (0, 1)
    session.refresh_from_db()
    assert (session.status, session.active_arc) == (SessionStatus.ACTIVE, "")
    assert current_arc(session) is None
    (entry,) = session.metadata["arcs"]
    assert entry["arc"] == "weekly_checkin"
    assert entry["left_at"]
    assert Turn.unscoped.get(id=key.turn_id).status == TurnStatus.AWAITING_USER
    assert expire() == (0, 0)


def test_questions_of_an_expired_session_end_as_expired_and_close_their_turn(user: User) -> None:
    session = idle_session(user)
    key = ask(user, session)
    grow_old(session)
    assert expire() == (1, 0)
    calls = ToolCallRecord.unscoped.filter(turn_id=key.turn_id)
    assert {call.state for call in calls} == {ToolCallState.EXPIRED}
    turn = Turn.unscoped.get(id=key.turn_id)
    assert not turn.is_open
    assert turn.messages.filter(role="assistant").get().content == "Which one?"


def test_an_answer_counts_as_life_though_it_is_no_message(user: User) -> None:
    session = idle_session(user)
    key = ask(user, session)
    grow_old(session)
    ToolCallRecord.unscoped.filter(turn_id=key.turn_id, tool_use_id="t1").update(
        state=ToolCallState.ANSWERED, finished_at=timezone.now()
    )
    assert expire() == (0, 0)


def test_nothing_expires_under_a_running_turn(user: User) -> None:
    session = idle_session(user)
    services.open_turn(new_turn(session), text="hi", client_id=None)
    grow_old(session)
    assert expire() == (0, 0)


def test_the_command_says_how_many(user: User) -> None:
    idle_session(user)
    told = StringIO()
    call_command("expire_sessions", stdout=told)
    words = "Sessions expired: 1. Arcs left in open conversations: 0. Deleted sessions removed: 0.\n"
    assert told.getvalue() == words
