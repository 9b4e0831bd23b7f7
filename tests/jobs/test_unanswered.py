"""Turns whose question nobody answered get their brief, too: the periodic job finds them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.job_queue.names import BRIEF_JOB
from coaching.jobs.expiry import expire_idle_sessions
from coaching.jobs.tasks import enqueue_missing_briefs
from coaching.practice import PracticeServer
from sessions_app import pending_calls, session_services, turn_endings
from sessions_app.database import in_database
from sessions_app.models import Session, SessionBrief, SessionKind, Turn
from sessions_app.turn_records import NewCall
from tests.jobs.conftest import WorkOff, jobs_named, make_due
from tests.stored_turns import GENEROUS, open_turn, store_round

pytestmark = pytest.mark.django_db(transaction=True)


def asking_session(user: User, kind: str, *, hours: int) -> Session:
    """Open a session in which a question has waited so long."""
    session = session_services.open_session(user_id=user.pk, kind=kind)
    key = open_turn(session)
    question = NewCall(tool_use_id="t1", name="show_options", position=1, input={}, is_interactive=True)
    store_round(key, text="Which one?", calls=[question])
    turn_endings.pause_turn(key, stop_reason="tool_use")
    then = timezone.now() - timedelta(hours=hours)
    Session.unscoped.filter(id=session.id).update(last_active_at=then)
    Turn.unscoped.filter(session=session).update(started_at=then, part_started_at=then)
    return session


def expire(session: Session) -> None:
    assert expire_idle_sessions(now=timezone.now()).expired == (session.id,)


def dismiss(session: Session) -> None:
    pending_calls.dismiss_call(
        user_id=session.user_id, session_id=session.id, tool_use_id="t1", owner="me", rate_limit=GENEROUS
    )


@pytest.mark.parametrize(
    ("kind", "end", "hours"),
    [
        (SessionKind.OPEN_DAY, expire, 25),
        (SessionKind.OPEN_DAY, expire, 24 * 9),  # no worker ran for a week
        (SessionKind.OPEN_CONVERSATION, dismiss, 24 * 9),
    ],
)
async def test_a_turn_that_ended_unanswered_gets_its_brief(
    user: User,
    practice: PracticeServer,
    work_off: WorkOff,
    kind: SessionKind,
    end: Callable[[Session], None],
    hours: int,
) -> None:
    session = await in_database(asking_session, user, kind, hours=hours)
    await enqueue_missing_briefs(0)
    await in_database(make_due)
    await work_off()
    assert not await in_database(SessionBrief.unscoped.exists), "the question waits"
    await in_database(end, session)
    await enqueue_missing_briefs(0)
    assert [job.status for job in await jobs_named(BRIEF_JOB)][-1] == "todo"
    await in_database(make_due)
    await work_off()
    session = await in_database(Session.unscoped.get, id=session.id)
    brief = await in_database(SessionBrief.unscoped.get)
    assert (brief.covers_from, brief.covers_until) == (1, session.last_message_number)
    assert session.last_message_number == 2
