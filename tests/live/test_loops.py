"""A session that can't be shown stops neither its process's loops nor what they do for other sessions."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction

from coaching import supervision
from coaching.events import Sync, TitleChanged, TurnEvent
from coaching.live import upkeep
from coaching.live.hub import Subscription
from coaching.live.runner import Runner
from coaching.live.upkeep import kept_up
from coaching.practice import PracticeServer
from coaching.supervision import supervisor
from sessions_app.database import in_database, is_outage
from sessions_app.models import EventKind, Session, SessionEvent, Turn, TurnStatus
from sessions_app.session_events import listeners
from sessions_app.titles import rename_session
from tests.live.conftest import attached
from tests.stored_turns import open_conversation, open_turn

pytestmark = pytest.mark.django_db(transaction=True)

FAILS = {"turn_ids": ["none"], "first_number": 1, "is_choice": False}
"""A fact whose id of a turn isn't one, so that reading what it shows fails."""


@pytest.fixture
async def runner(practice: PracticeServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Runner]:
    """A runner that hears of nothing that this process commits."""
    monkeypatch.setattr(upkeep, "FOLLOW_ALONE_SECONDS", 0.05)
    monkeypatch.setattr(supervision, "ITEM_WAIT_SECONDS", 0.2)
    runner = Runner()
    listeners.discard(runner.readers)
    yield runner
    await runner.drain(2)


@transaction.atomic
def note_what_fails(session: Session) -> None:
    """Append a fact that fails, as another process would."""
    locked = Session.unscoped.select_for_update().get(id=session.id)
    locked.event_seq += 1
    locked.save(update_fields=["event_seq"])
    SessionEvent.unscoped.create(
        session=locked, seq=locked.event_seq, kind=EventKind.WITHDRAWN, payload=FAILS
    )


async def told(reader: Subscription, kind: type[TurnEvent]) -> None:
    async with asyncio.timeout(30):
        while not any(isinstance(event, kind) for event in await reader.next_batch()):
            pass


async def test_readers_of_a_session_that_fails_begin_anew_and_those_of_others_are_told(
    user: User, runner: Runner
) -> None:
    sessions = [await in_database(open_conversation, user) for _ in range(3)]
    readers = [await attached(runner.readers, session) for session in sessions]
    async with kept_up(runner, is_alone=True, can_notify=False):
        await in_database(note_what_fails, sessions[1])
        await told(readers[1], Sync)
        for session, reader in zip(sessions, readers, strict=True):
            await in_database(rename_session, user_id=user.pk, session_id=session.id, title="Plans")
            await told(reader, TitleChanged)
        assert supervisor.failing() == []


async def test_lost_turns_are_taken_over_though_the_readers_of_one_can_not_be_told(
    user: User, other_user: User, runner: Runner, practice: PracticeServer
) -> None:
    practice.script(["Good morning."] * 3)
    sessions = [await in_database(open_conversation, each) for each in (user, user, other_user)]
    for session in sessions:
        await attached(runner.readers, session)
    await in_database(note_what_fails, sessions[1])
    for session in sessions:
        await in_database(open_turn, session, owner="here:2:0a1b2c3d:dead")
    done = Turn.unscoped.filter(status=TurnStatus.COMPLETED)
    async with kept_up(runner, is_alone=True, can_notify=False), asyncio.timeout(60):
        while await in_database(done.count) < len(sessions):  # noqa: ASYNC110 - tasks of the runner end them
            await asyncio.sleep(0.05)


@transaction.atomic
def take_too_long() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 10")
        cursor.execute("SELECT pg_sleep(30)")


def lose_the_connection() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


@pytest.mark.parametrize(("fail", "is_away"), [(take_too_long, False), (lose_the_connection, True)])
def test_only_a_database_that_is_away_is_an_outage(
    user: User, fail: Callable[[], None], *, is_away: bool
) -> None:
    with pytest.raises(OperationalError) as failed:
        fail()
    connection.close()
    assert is_outage(failed.value) == is_away
