"""A process reads a session again where another process changed it, and not after its own turns."""

import pytest
from django.contrib.auth.models import User

from coaching.events import TurnDone
from coaching.live.following import read_positions
from coaching.live.runner import Runner
from coaching.practice import PracticeServer
from coaching.turns.request import TurnRequest
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.stored_turns import open_conversation, open_turn, store_round

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def runner(practice: PracticeServer, runner: Runner) -> Runner:
    """A runner whose model says one word."""
    practice.script(["Hello."])
    return runner


async def has_seen(runner: Runner, session: Session) -> bool:
    positions = await in_database(read_positions, [session.id])
    return runner.readers.is_at(session.id, positions[session.id])


async def test_readers_of_a_turn_that_ran_here_have_seen_all_of_it(user: User, runner: Runner) -> None:
    session = await in_database(open_conversation, user)
    subscription = await runner.readers.attach(user_id=user.pk, session_id=session.id)
    assert await has_seen(runner, session)

    request = TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Hi", client_id="1")
    await runner.open_turn(request)
    while not any(isinstance(event, TurnDone) for event in await subscription.next_batch()):
        pass
    assert await has_seen(runner, session)

    await in_database(session_services.abandon_session, user_id=user.pk, session_id=session.id)
    assert not await has_seen(runner, session)


def test_a_round_is_news_to_others_though_nothing_of_it_was_stored_before(user: User) -> None:
    session = open_conversation(user)
    key = open_turn(session)
    positions = [read_positions([session.id])[session.id]]
    for number in (1, 2):
        store_round(key, number=number, text="Before a call that is held up")
        positions.append(read_positions([session.id])[session.id])
    assert len({position.progress for position in positions}) == len(positions)
