"""Metrics: who may read them, and what the database says of jobs."""

import uuid
from datetime import timedelta
from http import HTTPStatus
from math import inf
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import AsyncClient
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from coaching.job_queue.queue import enqueue
from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, Session, Turn, TurnStatus
from tests.conftest import MakeUser
from tests.jobs.conftest import empty_queue
from tests.live_sage import session_cookie

TOKEN = "a token of the metrics server"

Values = dict[tuple[str, ...], float]


def values_of(text: str) -> Values:
    """Return samples by their name and the values of their labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def ask(cookie: str = "", **headers: str) -> tuple[int, str]:
    client = AsyncClient()
    client.cookies.load(cookie)
    response: Any = await client.get("/metrics", headers=headers)
    return response.status_code, response.content.decode()


@pytest.mark.django_db(transaction=True)
async def test_the_token_and_operators_get_in_and_nobody_else(
    settings: Settings, user: User, make_user: MakeUser
) -> None:
    staff = await in_database(make_user, "operator", is_staff=True)
    theirs, operators = await in_database(session_cookie, user), await in_database(session_cookie, staff)
    for token in ("", TOKEN):
        settings.SAGE_METRICS_TOKEN = token
        assert (await ask(cookie=operators))[0] == HTTPStatus.OK
        for headers in (
            {},
            {"cookie": theirs},
            {"authorization": "Bearer "},
            {"authorization": "Bearer"},
            {"authorization": f"Bearer {TOKEN[:-1]}"},
            {"authorization": f"Basic {TOKEN}"},
            {"authorization": "Bearer ünicode"},
            {"authorization": TOKEN},
        ):
            status, text = await ask(**headers)
            assert status == HTTPStatus.FORBIDDEN, headers
            assert "sage_" not in text
    status, text = await ask(authorization=f"Bearer {TOKEN}")
    assert status == HTTPStatus.OK
    assert ("sage_open_sockets",) in values_of(text)
    await in_database(User.objects.filter(pk=staff.pk).update, is_active=False)
    assert (await ask(cookie=operators))[0] == HTTPStatus.FORBIDDEN


@pytest.mark.django_db(transaction=True)
async def test_without_its_tables_a_process_still_says_what_it_counted(settings: Settings) -> None:
    settings.SAGE_METRICS_TOKEN = TOKEN
    await in_database(_run, "ALTER TABLE procrastinate_jobs RENAME TO jobs_elsewhere")
    try:
        status, text = await ask(authorization=f"Bearer {TOKEN}")
    finally:
        await in_database(_run, "ALTER TABLE jobs_elsewhere RENAME TO procrastinate_jobs")
    assert status == HTTPStatus.OK
    assert ("sage_open_sockets",) in values_of(text)
    assert "sage_jobs" not in text


def _run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
async def test_jobs_are_counted_by_state(settings: Settings) -> None:
    settings.SAGE_METRICS_TOKEN = TOKEN
    await in_database(empty_queue)
    await in_database(_fill_queue)
    values = values_of((await ask(authorization=f"Bearer {TOKEN}"))[1])
    await in_database(empty_queue)
    assert [values["sage_jobs", state] for state in ("due", "later", "running")] == [3, 2, 1]
    assert values["sage_failed_jobs", "summarise_session"] == 1


@pytest.mark.django_db(transaction=True)
async def test_briefs_that_are_behind_or_failing_are_measured(settings: Settings, user: User) -> None:
    settings.SAGE_METRICS_TOKEN = TOKEN
    await in_database(_let_brief_fail, user)
    values = values_of((await ask(authorization=f"Bearer {TOKEN}"))[1])
    assert values["sage_briefs_failing",] == 1
    assert 60 <= values["sage_brief_lag_seconds",] < 600


def _let_brief_fail(user: User) -> None:
    session = Session.unscoped.create(user=user, last_message_number=1, brief_attempts=5)
    turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=timezone.now())
    Message.unscoped.create(session=session, turn=turn, number=1, role=MessageRole.USER, content="Hello")
    Message.unscoped.update(created_at=timezone.now() - timedelta(seconds=60))


def _fill_queue() -> None:
    for key in range(7):
        enqueue("summarise_session", key=f"summary:{key}", session_id=str(uuid.uuid4()))
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM procrastinate_jobs ORDER BY id")
        ids = [row[0] for row in cursor.fetchall()]
        later = "UPDATE procrastinate_jobs SET scheduled_at = now() + interval '1 hour' WHERE id = ANY(%s)"
        cursor.execute(later, [ids[:2]])
        cursor.execute("UPDATE procrastinate_jobs SET status = 'doing' WHERE id = %s", [ids[2]])
        cursor.execute("UPDATE procrastinate_jobs SET status = 'failed' WHERE id = %s", [ids[3]])


@pytest.mark.django_db(transaction=True)
async def test_the_silence_of_workers_is_measured(settings: Settings) -> None:
    settings.SAGE_METRICS_TOKEN = TOKEN
    await in_database(_run, "DELETE FROM procrastinate_workers")
    silent = values_of((await ask(authorization=f"Bearer {TOKEN}"))[1])[("sage_worker_silent_seconds",)]
    assert silent == inf
    await in_database(
        _run, "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour')"
    )
    silent = values_of((await ask(authorization=f"Bearer {TOKEN}"))[1])[("sage_worker_silent_seconds",)]
    assert 3600 <= silent < 3700
    await in_database(_run, "DELETE FROM procrastinate_workers")
