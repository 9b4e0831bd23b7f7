"""Over the daily budget: titles and briefs are written and count; turns and rewrites wait for a day."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from coaching.job_queue.names import BRIEF_JOB, TITLE_JOB
from coaching.live.runner import Runner
from coaching.practice import PracticeServer
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import ModelUsage, Session, SessionBrief, TitleSource, UsagePurpose
from sessions_app.usage import read_tokens_of_day
from tests.jobs.conftest import WorkOff, jobs_named, make_due, opened_session

BUDGET = 1_000

pytestmark = pytest.mark.django_db(transaction=True)


async def talk(runner: Runner, session: Session, text: str) -> None:
    request = TurnRequest(kind="message", user_id=session.user_id, session_id=session.id, text=text)
    await runner.open_turn(request)
    assert await runner.wait_until_idle(session.id, seconds=20)
    await runner.follow_ups.finish()


async def test_what_follows_a_turn_is_written_over_the_budget_and_turns_go_on_the_next_day(
    user: User, practice: PracticeServer, work_off: WorkOff, settings: Settings
) -> None:
    session = await in_database(opened_session, user, is_titled=False)
    runner = Runner()
    await talk(runner, session, "I sleep badly since we moved.")
    settings.SAGE_DAILY_TOKENS = BUDGET
    await in_database(ModelUsage.unscoped.create, user=user, model="m", output_tokens=BUDGET)
    with pytest.raises(Refused, match="Today’s budget is used up"):
        await talk(runner, session, "Are you there?")
    asked = len(practice.requests)

    await in_database(make_due)
    await work_off()
    assert [job.status for job in await jobs_named(TITLE_JOB)] == ["succeeded"]
    assert [job.status for job in await jobs_named(BRIEF_JOB)] == ["succeeded"]
    assert len(practice.requests) == asked + 2
    session = await in_database(Session.unscoped.get, id=session.id)
    assert session.title_source == TitleSource.MODEL
    assert (await in_database(SessionBrief.unscoped.get, session=session)).covers_until == 2
    rows = ModelUsage.unscoped.filter(purpose__in=[UsagePurpose.TITLE, UsagePurpose.BRIEF])
    assert await in_database(rows.filter(output_tokens__gt=0).count) == 2
    day = await in_database(read_tokens_of_day, user_id=user.pk, now=timezone.now(), limit=BUDGET)
    assert day.tokens > BUDGET, "they count"

    yesterday = timezone.now() - timedelta(hours=25)
    await in_database(lambda: ModelUsage.unscoped.update(created_at=yesterday))
    await talk(runner, session, "And today?")
    session = await in_database(Session.unscoped.get, id=session.id)
    assert session.last_message_number == 4
    await runner.drain(0)
