"""The breaker counts failed turns of several people: those of one block nobody else."""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from coaching.engine.breaker import FAILURES_TO_OPEN
from coaching.engine.budget import PartLimits
from coaching.events import TurnDone, TurnEvent
from coaching.live.runner import Runner
from coaching.practice import PracticeServer
from coaching.practice.faults.fault import Fault
from coaching.turns import setup
from coaching.turns.request import TurnRequest
from coaching.turns.words import FAILS_ALONE, FAILURES
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import SessionKind, Turn, TurnStatus
from tests.conftest import MakeUser
from tests.patience import patience
from tests.thoroughness import size

pytestmark = pytest.mark.django_db(transaction=True)

FAILING = "words that the server can’t read"


class Talk:
    """A conversation of one person with a runner."""

    def __init__(self, runner: Runner, user_id: int, session_id: uuid.UUID) -> None:
        self.runner = runner
        self.user_id = user_id
        self.session_id = session_id

    async def say(self, text: str) -> Turn:
        """Send a message and return its closed turn."""
        subscription = await self.runner.readers.attach(user_id=self.user_id, session_id=self.session_id)
        request = TurnRequest(kind="message", user_id=self.user_id, session_id=self.session_id, text=text)
        started = await self.runner.open_turn(request)
        seen: list[TurnEvent] = []
        async with asyncio.timeout(60 * patience()):
            while not any(isinstance(event, TurnDone) for event in seen):
                seen += await subscription.next_batch()
        return await in_database(Turn.unscoped.get, id=started.opened.turn.id)


@pytest.fixture
def talk_of(runner: Runner, make_user: MakeUser) -> Callable[[str], Awaitable[Talk]]:
    """Open a conversation of a new person."""

    async def open_talk(name: str) -> Talk:
        user = await in_database(make_user, name)
        kind = SessionKind.OPEN_CONVERSATION
        session = await in_database(session_services.open_session, user_id=user.pk, kind=kind)
        return Talk(runner, user.pk, session.id)

    return open_talk


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "PartLimits", partial(PartLimits, first_wait_seconds=0.001))


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("status", [500, 529])
async def test_many_failing_turns_of_one_person_block_nobody_else(
    practice: PracticeServer, talk_of: Callable[[str], Awaitable[Talk]], status: int
) -> None:
    ada, bea = await talk_of("ada"), await talk_of("bea")
    practice.faults.push(Fault(kind="status", status=status, key=FAILING, times=10_000))
    failed = []
    for number in range(1, size(12, long=30) + 1):
        failed.append(await ada.say(f"{number}: {FAILING}"))
        if number % 10 == 0:
            answered = await bea.say(f"Good morning {number}")
            assert answered.status == TurnStatus.COMPLETED, answered.user_notice
    assert {turn.failure for turn in failed} == {"unavailable" if status == 500 else "overloaded"}
    told = [turn.user_notice for turn in failed]
    assert FAILS_ALONE not in told[: FAILURES_TO_OPEN - 1]
    assert set(told[FAILURES_TO_OPEN - 1 : 10]) == {FAILS_ALONE}
    assert set(told[11:]) == {FAILS_ALONE}


@pytest.mark.usefixtures("quick_retries")
async def test_failing_turns_of_two_people_open_it_for_all(
    practice: PracticeServer, talk_of: Callable[[str], Awaitable[Talk]]
) -> None:
    ada, bea = await talk_of("ada"), await talk_of("bea")
    practice.faults.push(Fault(kind="status", status=529, times=10_000))
    turns = [await (ada, bea)[number % 2].say("Hello?") for number in range(FAILURES_TO_OPEN)]
    assert [turn.user_notice for turn in turns] == [FAILURES["overloaded"]] * FAILURES_TO_OPEN
    requests = len(practice.requests)
    refused = await (await talk_of("cleo")).say("Hello?")
    assert refused.failure == "circuit_open"
    assert re.fullmatch(
        r"The model can’t be reached right now\. Try again in (?:[12]?[0-9]|30) seconds\.",
        refused.user_notice,
    )
    assert len(practice.requests) == requests
