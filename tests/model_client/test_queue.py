"""The places at the model: never more calls at once, persons first, and nothing lost with a process."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial

import psycopg
import pytest
from django.db import connection, transaction
from pytest_django import Settings

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import DEFAULT_TIMEOUTS, ModelClient, ReplyStream, StreamTimeouts
from coaching.model_client.places import FIRST_PLACE, ModelPlaces, Rank, places_now
from coaching.model_client.queue import MAX_WAYS_MADE, QueuedClient
from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app.limits import lock_limits
from sessions_app.lock_spaces import LockSpace

pytestmark = pytest.mark.django_db(transaction=True)

LONG = " ".join(["word"] * 400)


@pytest.fixture(autouse=True)
def one_place(settings: Settings) -> None:
    settings.SAGE_MODEL_CONCURRENCY = 1


@pytest.fixture
async def practice() -> AsyncIterator[PracticeServer]:
    """A slow model: a long answer takes seconds."""
    async with PracticeServer(keeps_bodies=True, tokens_per_second=300) as server:
        yield server


@pytest.fixture
async def client(practice: PracticeServer) -> AsyncIterator[AnthropicClient]:
    async with AnthropicClient("practice", practice.url) as client:
        yield client


@pytest.fixture
def places() -> Iterator[Sequence[ModelPlaces]]:
    """What two processes have: a web process and a worker."""
    made = (ModelPlaces(), ModelPlaces())
    yield made
    for each in made:
        each.close()


def request(words: str) -> ModelRequest:
    return ModelRequest(
        model="sage-practice",
        max_tokens=1_000,
        messages=[{"role": "user", "content": [{"type": "text", "text": words}]}],
    )


async def ask(client: ModelClient, words: str, order: list[str]) -> str:
    async with client.stream(request(words)) as stream:
        async for _ in stream:
            pass
        order.append(words)
        return stream.reply().text


async def test_a_person_goes_before_what_runs_and_waits_in_another_process(
    practice: PracticeServer, client: AnthropicClient, places: Sequence[ModelPlaces]
) -> None:
    web, worker = places
    order: list[str] = []
    practice.script([LONG, "To you.", "For later.", "For later."])
    jobs = [
        asyncio.create_task(ask(QueuedClient(client, Rank.JOB, places=worker), f"job {number}", order))
        for number in range(2)
    ]
    await until(lambda: len(practice.requests) > 0)
    assert await ask(QueuedClient(client, Rank.TURN, places=web), "person", order) == "To you."
    assert await asyncio.gather(*jobs) == ["For later.", "For later."]
    assert order[0] == "person"
    assert sorted(order) == ["job 0", "job 1", "person"]


async def test_calls_of_a_rank_are_answered_in_the_order_in_which_they_came(
    practice: PracticeServer, client: AnthropicClient, places: Sequence[ModelPlaces]
) -> None:
    queued = QueuedClient(client, Rank.JOB, places=places[0])
    order: list[str] = []
    names = [f"job {number}" for number in range(6)]
    practice.script([Reply.of("One ", Hold("first"), "."), *["Short."] * 5])
    jobs = [asyncio.create_task(ask(queued, names[0], order))]
    await practice.reached("first")
    for name in names[1:]:
        jobs.append(asyncio.create_task(ask(queued, name, order)))
        await asyncio.sleep(0.1)
    practice.release("first")
    await asyncio.gather(*jobs)
    assert order == names


async def test_a_background_call_makes_way_three_times_and_then_ends(
    practice: PracticeServer, client: AnthropicClient, places: Sequence[ModelPlaces]
) -> None:
    web, worker = places
    order: list[str] = []
    practice.script([LONG, "1", LONG, "2", LONG, "3", LONG, "4"])
    job = asyncio.create_task(ask(QueuedClient(client, Rank.JOB, places=worker), "job", order))
    for number in range(MAX_WAYS_MADE + 1):
        await until(partial(has_been_asked, practice, "job", more_than=number))
        await ask(QueuedClient(client, Rank.TURN, places=web), f"person {number}", order)
    assert await job == LONG
    assert order[:MAX_WAYS_MADE] == [f"person {number}" for number in range(MAX_WAYS_MADE)]
    assert order[MAX_WAYS_MADE:] == ["job", f"person {MAX_WAYS_MADE}"]
    assert practice_calls(practice, "job") == MAX_WAYS_MADE + 1


async def test_a_look_goes_before_jobs_and_makes_way_for_a_turn(
    practice: PracticeServer, client: AnthropicClient, places: Sequence[ModelPlaces]
) -> None:
    web, worker = places
    order: list[str] = []
    practice.script([LONG, LONG, "To you.", "No danger.", "For later."])
    job = asyncio.create_task(ask(QueuedClient(client, Rank.JOB, places=worker), "job", order))
    await until(partial(has_been_asked, practice, "job", more_than=0))
    look = asyncio.create_task(ask(QueuedClient(client, Rank.LOOK, places=web), "look", order))
    await until(partial(has_been_asked, practice, "look", more_than=0))
    assert await ask(QueuedClient(client, Rank.TURN, places=web), "turn", order) == "To you."
    assert [await look, await job] == ["No danger.", "For later."]
    assert order == ["turn", "look", "job"]


async def test_no_two_calls_run_at_once(
    client: AnthropicClient, practice: PracticeServer, places: Sequence[ModelPlaces]
) -> None:
    web, worker = places
    running = 0

    async def call(queued: ModelClient) -> int:
        nonlocal running
        async with queued.stream(request("Hi")) as stream:
            running += 1
            most = running
            async for _ in stream:
                await asyncio.sleep(0)
            most = max(most, running)
            running -= 1
        return most

    practice.script(["A few words."] * 6)
    queued = [QueuedClient(client, Rank.TURN, places=each) for each in (web, worker)] * 3
    assert await asyncio.gather(*map(call, queued)) == [1] * 6


async def test_a_killed_process_gives_its_place_back(
    client: AnthropicClient, practice: PracticeServer, places: Sequence[ModelPlaces]
) -> None:
    web, worker = places
    assert await asyncio.to_thread(worker.take, 1, Rank.JOB) == FIRST_PLACE
    assert await asyncio.to_thread(web.take, 1, Rank.TURN) is None
    await asyncio.to_thread(end_sessions_with_places)
    practice.script(["Here."])
    assert await ask(QueuedClient(client, Rank.TURN, places=web), "person", []) == "Here."


async def test_who_gives_up_waiting_keeps_nobody_out(
    client: AnthropicClient, practice: PracticeServer, places: Sequence[ModelPlaces]
) -> None:
    web, worker = places
    place = await asyncio.to_thread(worker.take, 1, Rank.TURN)
    assert place == FIRST_PLACE
    waiting = asyncio.create_task(ask(QueuedClient(client, Rank.TURN, places=web), "person", []))
    await until(partial(worker.has_to_make_way, Rank.JOB))
    waiting.cancel()
    await asyncio.wait([waiting])
    await asyncio.to_thread(worker.give_back, place)
    practice.script(["Later."])
    assert await ask(QueuedClient(client, Rank.JOB, places=worker), "job", []) == "Later."


async def test_a_reply_that_ends_while_others_are_looked_for_is_kept(
    client: AnthropicClient, practice: PracticeServer
) -> None:
    places, watched = SlowPlaces(), WatchedClient(client)
    practice.script([Reply.of("Here", Hold("end"), " it is.")])
    queued = QueuedClient(watched, Rank.JOB, places=places)
    with closing(places):
        job = asyncio.create_task(ask(queued, "job", []))
        await until(places.is_asked.is_set)
        practice.release("end")
        await asyncio.wait_for(watched.has_ended.wait(), 30)
        places.may_answer.set()
        assert await job == "Here it is."
    assert practice_calls(practice, "job") == 1


def test_a_lock_that_another_process_only_tries_is_no_waiting_person(places: Sequence[ModelPlaces]) -> None:
    web, worker = places
    with closing(psycopg.connect(**connection.get_connection_params(), autocommit=True)) as other:
        for rank in (Rank.TURN, Rank.LOOK):
            other.execute("SELECT pg_advisory_lock(%s, %s)", [LockSpace.MODEL_PLACES.value, int(rank)])
        assert not worker.has_to_make_way(Rank.JOB)
        now = places_now()
        assert now is not None
        assert now.waiting == 0
    web.begin_waiting(Rank.LOOK)
    assert [worker.has_to_make_way(rank) for rank in Rank] == [False, False, True]
    web.begin_waiting(Rank.TURN)
    assert [worker.has_to_make_way(rank) for rank in Rank] == [False, True, True]
    web.end_waiting(Rank.TURN)
    web.end_waiting(Rank.LOOK)
    assert not worker.has_to_make_way(Rank.JOB)


class SlowPlaces(ModelPlaces):
    """Places of which somebody has to be asked, who says late that a person waits."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def has_to_make_way(self, rank: Rank) -> bool:
        self.is_asked.set()
        return self.may_answer.wait(30)


class WatchedClient:
    """A client of which it is known when a stream has ended."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client
        self.has_ended = asyncio.Event()

    @asynccontextmanager
    async def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    ) -> AsyncIterator[ReplyStream]:
        async with self._client.stream(request, timeouts=timeouts) as stream:
            yield stream
        self.has_ended.set()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(30):
        while not await asyncio.to_thread(is_so):  # noqa: ASYNC110 - it becomes so elsewhere
            await asyncio.sleep(0.05)


def has_been_asked(practice: PracticeServer, words: str, *, more_than: int) -> bool:
    return practice_calls(practice, words) > more_than


def test_a_place_at_the_model_keeps_nobody_from_beginning_a_turn(places: Sequence[ModelPlaces]) -> None:
    place = places[0].take(1, Rank.JOB)
    assert place is not None
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '2s'")
        lock_limits(user_id=place)


def practice_calls(practice: PracticeServer, words: str) -> int:
    return sum(each.body["messages"][0]["content"][0]["text"] == words for each in practice.requests)


def end_sessions_with_places() -> None:
    """End the connections that hold a place, as the database does when their process is killed."""
    with closing(psycopg.connect(**connection.get_connection_params(), autocommit=True)) as session:
        session.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks"
            " WHERE locktype = 'advisory' AND classid = %s AND objid >= %s AND granted",
            [LockSpace.MODEL_PLACES.value, FIRST_PLACE],
        )
