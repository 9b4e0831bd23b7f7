"""What follows turns is queued apart from them, for many sessions in one statement, and isn't lost."""

import asyncio

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.job_queue.names import BRIEF_JOB, TITLE_JOB
from coaching.job_queue.sessions import enqueue_follow_ups
from coaching.live.follow_ups import FollowUps
from coaching.live.runner import Runner
from coaching.practice import PracticeServer
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.jobs.conftest import jobs_named, opened_session

pytestmark = pytest.mark.django_db(transaction=True)


async def opened(user: User) -> Session:
    texts = ("I sleep badly.", "What keeps you awake?")
    return await in_database(opened_session, user, *texts, is_titled=False)


async def sessions_of(job: str) -> list[str]:
    return sorted(job.args["session_id"] for job in await jobs_named(job))


def rename_table(old: str, new: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")


async def test_turns_of_many_sessions_are_followed_together_a_little_later(
    user: User, practice: PracticeServer, queue: None
) -> None:
    practice.script(["Good evening.", "Good evening."])
    runner = Runner()
    sessions = [await opened(user) for _ in range(2)]  # as many as may be answered at once
    for session in sessions:
        request = TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Hello.")
        await runner.open_turn(request)
    for session in sessions:
        assert await runner.wait_until_idle(session.id, seconds=60)
    ids = sorted(str(session.id) for session in sessions)
    async with asyncio.timeout(60):
        while await sessions_of(BRIEF_JOB) != ids:  # noqa: ASYNC110 - a row appears
            await asyncio.sleep(0.05)
    assert await sessions_of(TITLE_JOB) == ids
    await runner.drain(5)


async def test_a_database_that_refuses_delays_what_follows(user: User, queue: None) -> None:
    session = await opened(user)
    follow_ups = FollowUps()
    follow_ups.add(session.id)
    await in_database(rename_table, "procrastinate_jobs", "not_there")
    try:
        await follow_ups.finish()
    finally:
        await in_database(rename_table, "not_there", "procrastinate_jobs")
    assert await sessions_of(BRIEF_JOB) == []
    await follow_ups.finish()
    assert await sessions_of(BRIEF_JOB) == [str(session.id)]


async def test_what_others_queue_meanwhile_keeps_no_job_from_the_queue(user: User, queue: None) -> None:
    ids = [(await opened(user)).id for _ in range(3)]
    await asyncio.gather(
        *(in_database(enqueue_follow_ups, part) for part in (ids[:2], ids[1:], ids, ids[:1], ids[2:]))
    )
    assert await sessions_of(BRIEF_JOB) == sorted(map(str, ids))
    assert await in_database(enqueue_follow_ups, ids) == set()
