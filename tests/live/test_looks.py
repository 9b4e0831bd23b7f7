"""How second looks that saw nothing are stored."""

import asyncio

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.live.runner import Runner
from coaching.turns.looks import Looked, Seen, read_words, store_look
from sessions_app.database import in_database
from sessions_app.models import LookOutcome, ModelUsage, SafetyVerdict, Session
from tests.jobs.conftest import opened_session

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = ("I sleep badly.", "What keeps you awake?")


async def outcomes() -> list[tuple[str, str]]:
    return await in_database(lambda: list(SafetyVerdict.unscoped.values_list("level", "looked")))


async def words_of(session: Session) -> Looked | None:
    turn = await in_database(session.turns.get)
    return await in_database(read_words, turn.id)


async def test_a_look_over_the_budget_is_stored_as_skipped(user: User, settings: Settings) -> None:
    settings.SAGE_SAFETY_MODEL, settings.SAGE_DAILY_TOKENS = "claude-haiku-5-5", 1_000
    session = await in_database(opened_session, user, *TEXTS)
    turn = await in_database(session.turns.get)
    await in_database(
        lambda: ModelUsage.unscoped.create(user=user, session=session, model="m", input_tokens=2_000)
    )
    runner = Runner()
    runner.second_looks.begin(session.id, turn.id)
    async with asyncio.timeout(60):
        while not (stored := await outcomes()):  # noqa: ASYNC110 - a task of the runner stores it
            await asyncio.sleep(0.02)
    assert stored == [("none", "skipped")]
    verdict = await in_database(SafetyVerdict.unscoped.get)
    assert (verdict.model, verdict.milliseconds, verdict.usage_id) == ("", 0, None)
    await runner.drain(0)


async def test_a_look_that_failed_is_taken_again_and_never_replaces_one_that_saw(user: User) -> None:
    session = await in_database(opened_session, user, *TEXTS)
    first = await words_of(session)
    assert first is not None
    failed = Seen(outcome=LookOutcome.FAILED, model="m", milliseconds=20)
    await in_database(store_look, first, failed)
    assert await words_of(session) == first
    await in_database(store_look, first, Seen(outcome=LookOutcome.NONE, model="m", milliseconds=30))
    await in_database(store_look, first, failed)
    assert await outcomes() == [("none", "none")]
    assert await words_of(session) is None
