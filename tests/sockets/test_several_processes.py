"""Several processes on one database without Redis: nothing is lost, only delayed."""

import asyncio
import signal
import uuid
from collections.abc import Iterator
from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import leases, services, session_services
from sessions_app.database import in_database
from sessions_app.expiry import expire_session
from sessions_app.limits import RateLimit
from sessions_app.models import Session, SessionKind, Turn, TurnStatus
from sessions_app.turn_endings import Ending, close_turn
from sessions_app.turn_locks import TurnKey
from tests.live_sage import (
    LiveSage,
    SocketClient,
    open_socket,
    start_web_process,
    stop_web_process,
    text_of,
    until_it_beats,
)
from tests.patience import measure_slowness
from tests.stored_turns import new_turn, open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

PILLS = ToolUse("show_options", {"options": [{"label": "Fine"}, {"label": "Tired"}]}, id="toolu_pills")
TOLD_SECONDS = 5.0
REPLACED_SECONDS = 10.0  # half of a silent model's time limit


@pytest.fixture
def second(live_sage: LiveSage) -> Iterator[LiveSage]:
    """Another web process on the same database, without Redis."""
    sage = start_web_process(practice_port=live_sage.practice_port)
    yield sage
    stop_web_process(sage)


async def test_a_second_web_process_without_redis_says_so_and_takes_nothing_over(
    live_sage: LiveSage,
    practice: PracticeServer,
    session: Session,
    cookie: str,
    request: pytest.FixtureRequest,
) -> None:
    practice.script([Reply.of("First half, ", Hold("middle"), "second half.")])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="Tell me")
        await practice.reached("middle")
        await until_it_beats(live_sage)
        second = await asyncio.to_thread(request.getfixturevalue, "second")
        async with open_socket(second, session.id, cookie) as elsewhere:
            assert (await elsewhere.next_frame())["sync"]["status"] == "running"
            while text_of(elsewhere.frames) != "First half, ":
                await elsewhere.next_frame()
            practice.release("middle")
            await asyncio.gather(client.until("done"), elsewhere.until("done"))
            assert text_of(client.frames) == text_of(elsewhere.frames) == "First half, second half."
    turn = await in_database(Turn.unscoped.get)
    assert (turn.fence, turn.status) == (1, "completed")
    assert "REDIS_URL is unset" in second.log.read_text()
    assert "REDIS_URL is unset" not in live_sage.log.read_text()


async def test_readers_of_a_turn_that_was_taken_over_get_nothing_twice(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(["Good.", Reply.of("First half, ", Hold("middle"), "second half.")])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="How are you?")
        await client.until("done")
    await in_database(_open_turn_of_the_dead, session)
    await practice.reached("middle")  # it was taken over, without a reader
    async with open_socket(live_sage, session.id, cookie) as first:
        assert (await first.next_frame())["sync"]["status"] == "running"
        practice.release("middle")
        await first.until("done")
        async with open_socket(live_sage, session.id, cookie) as second:
            assert (await second.next_frame())["sync"]["status"] == "idle"
            await first.send(type="nonsense")
            assert list((await first.next_frame()).keys()) == ["error"]


async def test_a_message_to_a_process_that_ends_is_sent_again_to_another_one(
    live_sage: LiveSage,
    second: LiveSage,
    practice: PracticeServer,
    session: Session,
    cookie: str,
    user: User,
) -> None:
    practice.script([Reply.of("First half, ", Hold("middle"), "second half."), "Good."])
    other = await in_database(open_conversation, user)
    message = {"type": "message", "text": "I slept well", "id": "slept"}
    async with (
        open_socket(second, session.id, cookie) as running,
        open_socket(second, other.id, cookie, subprotocols=()) as page,
        open_socket(second, other.id, cookie) as program,
        open_socket(second, other.id, cookie, subprotocols=()) as in_danger,
    ):
        await in_danger.html_of_sync()
        await running.send(type="message", text="Tell me")
        await practice.reached("middle")
        second.process.send_signal(signal.SIGTERM)
        await _until_it_drains(second, program)
        # Help lines don't wait until the message has reached another process.
        await in_danger.send(type="message", text="I want to die.")
        assert "safety" in await in_danger.html_until('data-event="error"')
        # A program may not send again what isn't acknowledged, so it is told.
        await program.send(**message)
        assert "restarting" in (await program.until("error"))[-1]["error"]
        await page.send(**message)
        await page.send(type="message", text="I want to die.")  # sent again, too, and not answered here
        assert await page.html_closed_with() == 1012
        async with open_socket(live_sage, other.id, cookie) as again:
            await again.send(**message)
            await again.until("done")
        # What a page doesn't send again by itself gets its reason.
        await in_danger.send(type="retry")
        assert "restarting" in await in_danger.html_until("restarting")
        practice.release("middle")
        await running.until("done")
    assert await in_database(other.messages.filter(client_id="slept").count) == 1


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "edit", "text": "I slept badly"},
        {"type": "answer", "toolUseId": "toolu_pills", "value": "Fine"},
        {"type": "dismiss", "toolUseId": "toolu_pills"},
    ],
    ids=lambda frame: frame["type"],
)
async def test_an_edit_or_an_answer_to_a_process_that_ends_closes_the_pages_socket(
    live_sage: LiveSage,
    second: LiveSage,
    practice: PracticeServer,
    session: Session,
    cookie: str,
    user: User,
    frame: dict[str, str],
) -> None:
    practice.script([Reply.of("First half, ", Hold("middle"), "second half.")])
    other = await in_database(open_conversation, user)
    async with (
        open_socket(second, session.id, cookie) as running,
        open_socket(second, other.id, cookie) as program,
        open_socket(second, other.id, cookie, subprotocols=()) as page,
    ):
        await page.html_of_sync()
        await running.send(type="message", text="Tell me")
        await practice.reached("middle")
        second.process.send_signal(signal.SIGTERM)
        await _until_it_drains(second, program)
        await page.send(**frame)
        assert await page.html_closed_with() == 1012
        practice.release("middle")
        await running.until("done")


async def _until_it_drains(sage: LiveSage, client: SocketClient) -> None:
    """Wait until a process that was asked to end accepts no connection, and takes nothing on."""
    with suppress(OSError):
        while True:
            _, writer = await asyncio.open_connection("127.0.0.1", sage.port)
            writer.close()
    await client.send(type="nonsense")
    await client.until("error")


def _open_turn_of_the_dead(session: Session) -> None:
    limit = RateLimit(turns=1000, seconds=60)
    services.open_turn(new_turn(session, owner="nobody", rate_limit=limit), text="Tell me", client_id="told")


async def test_a_replaced_runner_drops_the_turn_and_its_readers_follow_the_new_one(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("First half, ", Hold("middle"), "second half.")])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="Tell me")
        await practice.reached("middle")
        # As after suspending the machine, while the model sends nothing to store.
        key = await in_database(_claim_for_another)
        await practice.wait_until(
            lambda requests: requests[0].closed_by_client_at is not None, REPLACED_SECONDS
        )
        ending = Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn")
        await in_database(close_turn, key, ending)
        frames = await client.until("done")
        assert frames[-1]["done"]["stopReason"] == "end_turn"
    turn = await in_database(Turn.unscoped.get)
    assert (turn.owner, turn.status) == ("another", "completed")
    assert len(practice.requests) == 1


def _claim_for_another() -> TurnKey:
    leases.store_beat("another")
    turn = Turn.unscoped.get()
    key = leases.claim_turn(TurnKey(turn_id=turn.id, fence=turn.fence), owner="another")
    assert key is not None
    return key


@pytest.mark.parametrize("is_asked", [True, False])
async def test_open_pages_learn_of_a_session_that_expires_elsewhere(
    live_sage: LiveSage, practice: PracticeServer, user: User, cookie: str, is_asked: bool
) -> None:
    own = await in_database(session_services.open_session, user_id=user.pk, kind=SessionKind.OPEN_DAY)
    practice.script([Reply.of(Text("Good morning."), PILLS) if is_asked else "Good morning."])
    async with (
        open_socket(live_sage, own.id, cookie) as program,
        open_socket(live_sage, own.id, cookie, subprotocols=()) as page,
    ):
        await page.html_of_sync()
        await program.next_frame()
        await program.send(type="message", text="Hello")
        await program.until("done")
        seconds = TOLD_SECONDS * await measure_slowness(live_sage.origin)
        await in_database(_expire, user.pk, own.id)
        async with asyncio.timeout(seconds):
            await page.html_until('<i data-event="closed"></i>')
            frames = await program.until("sync")
            if is_asked:
                ended = {"toolUseId": "toolu_pills", "state": "expired", "value": None}
                assert frames[0] == {"answered": ended}
            assert frames[-1]["sync"]["ended"] == "expired"
    # The part ended when its question was asked.
    assert len([frame for frame in program.frames if "done" in frame]) == 1


def _expire(user_id: int, session_id: uuid.UUID) -> None:
    assert expire_session(user_id=user_id, session_id=session_id, idle_since=timezone.now()) == "expired"
