"""The points in a turn where faults strike, and how to bring a conversation exactly there.

Gates of the practice model, faults that stall, and row locks stop a turn at its point, without sleeps.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import psycopg
from django.db import connection
from psycopg import sql

from coaching.practice.faults.fault import Fault
from sessions_app.database import in_database
from tests.faults.cluster import Cluster
from tests.faults.people import Conversation, Reader
from tests.faults.planned_model import DOMAINS, Plan, PlannedRound, plan_of
from tests.live_sage import url_of_test_database

Place = Literal[
    "before_first_byte", "in_text", "in_tool_json", "in_tool", "before_next_round", "at_final_save"
]
Point = Place | Literal["amid_statements"]
POINTS: tuple[Place, ...] = get_args(Place)
ROW_POINTS: tuple[Point, ...] = ("in_tool", "at_final_save")
"""Points where the turn waits for a locked row."""
REACH_SECONDS = 60.0
"""Only ends a run that hangs: on a busy machine, a fresh process takes long over its first turn."""


async def _nothing() -> None:
    return None


@dataclass(slots=True, kw_only=True)
class Placed:
    """A conversation whose turn is at its point. `release` lets it continue where possible."""

    conversation: Conversation
    plan: Plan
    point: Point
    release: Callable[[], Awaitable[None]]


class RowLock:
    """A transaction outside Sage that blocks a turn by a row lock."""

    def __init__(self, cluster: Cluster) -> None:
        cluster.cleanups.append(self.release)
        self._seconds = REACH_SECONDS * cluster.patience
        self._connection: psycopg.AsyncConnection[tuple[int]] | None = None

    async def take(self, statement: sql.SQL, *values: object) -> None:
        """Open the transaction and take the statement's locks."""
        self._connection = await psycopg.AsyncConnection.connect(url_of_test_database())
        await self._connection.execute(statement, values)

    async def reached(self) -> None:
        """Wait until somebody waits for the lock."""
        assert self._connection is not None
        waiting = sql.SQL(
            "SELECT count(*) FROM pg_locks"
            " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        async with asyncio.timeout(self._seconds):
            while True:
                row = await (await self._connection.execute(waiting)).fetchone()
                if row and row[0]:
                    return
                await asyncio.sleep(0.02)

    async def release(self) -> None:
        """Release the lock."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.rollback()
            await connection.close()


async def bring(conversation: Conversation, point: Point, rng: random.Random, **options: Any) -> Placed:
    """Start a turn and return when it is at the point; options are those of `_bring`."""
    try:
        return await _bring(conversation, point, rng, **options)
    except TimeoutError:
        plan = conversation.plans[-1]
        speaker = options.get("reader") or conversation.reader
        raise AssertionError(
            f"{plan.key} didn't come to {point}: attempts {dict(plan.attempts)} of {plan.rounds};"
            f" saw {speaker.frames[-20:]}"
        ) from None


async def _bring(
    conversation: Conversation,
    point: Point,
    rng: random.Random,
    *,
    reader: Reader | None = None,
    hold_attempts: frozenset[int] = frozenset({1}),
    is_json_stalled: bool = True,
) -> Placed:
    """Without `is_json_stalled` a turn stops before a call's JSON, not in it, and can be released."""
    match point:
        case "in_tool_json" if is_json_stalled:
            return await _bring_into_json(conversation, rng, reader)
        case "in_tool":
            return await _bring_into_tool(conversation, rng, reader)
        case "at_final_save":
            return await _bring_to_save(conversation, rng, reader)
        case _:
            return await _bring_to_gate(conversation, point, rng, reader, hold_attempts)


def random_rounds(rng: random.Random, *, with_saves: bool = True) -> list[PlannedRound]:
    """Return one to four rounds; all but the last one call tools."""
    rounds = []
    for _ in range(rng.randint(1, 3)):
        saves = tuple(rng.sample(DOMAINS, rng.randint(1, 3))) if with_saves else ()
        rounds.append(PlannedRound(words=rng.randint(0, 6), saves=saves, note=rng.random() < 0.3))
    return [*rounds, PlannedRound(words=rng.randint(6, 12))]


async def _bring_to_gate(
    conversation: Conversation,
    point: Point,
    rng: random.Random,
    reader: Reader | None,
    hold_attempts: frozenset[int],
) -> Placed:
    rounds = random_rounds(rng)
    number = 1 if point == "before_first_byte" else rng.randint(1, len(rounds))
    if point == "before_next_round":
        number = rng.randint(2, len(rounds))
    words = rng.randint(6, 12)
    held = PlannedRound(
        words=words,
        saves=rounds[number - 1].saves,
        hold="text" if point == "in_text" else "last" if point == "in_tool_json" else "first",
        hold_after=rng.randint(1, words - 1),
        hold_attempts=hold_attempts,
    )
    rounds[number - 1] = held
    plan = conversation.plan(*rounds)
    practice = conversation.cluster.practice
    await conversation.say(plan, reader=reader)
    await practice.reached(plan.gate(number), REACH_SECONDS * conversation.cluster.patience)
    if point == "in_text":
        last = f"{plan.key}r{number}a{min(hold_attempts)}w{held.hold_after - 1}"
        speaker = reader or conversation.reader
        # Between calls, current models send words as notes.
        await speaker.until(lambda: last in speaker.text or last in speaker.notes)

    async def release() -> None:
        practice.release(plan.gate(number))

    return Placed(conversation=conversation, plan=plan, point=point, release=release)


async def _bring_into_json(conversation: Conversation, rng: random.Random, reader: Reader | None) -> Placed:
    rounds = random_rounds(rng)
    number = rng.randint(1, len(rounds) - 1)
    plan = conversation.plan(*rounds)
    practice = conversation.cluster.practice
    practice.faults.push(
        Fault(kind="stall", place="in_tool_json", seconds=None, key=f"[{plan.key}]", skip=number - 1)
    )
    await conversation.say(plan, reader=reader)
    await practice.wait_until(
        lambda requests: any(
            request.fault == "stall" and request.answered_at and plan_of(request.body) == plan.key
            for request in requests
        ),
        REACH_SECONDS * conversation.cluster.patience,
    )
    return Placed(conversation=conversation, plan=plan, point="in_tool_json", release=_nothing)


async def _bring_into_tool(conversation: Conversation, rng: random.Random, reader: Reader | None) -> Placed:
    domains = rng.sample(DOMAINS, len(DOMAINS))
    rounds = [
        PlannedRound(words=rng.randint(0, 6), saves=tuple(domains.pop() for _ in range(rng.randint(1, 2))))
        for _ in range(rng.randint(1, 3))
    ]
    held = rng.choice([domain for planned in rounds for domain in planned.saves])
    plan = conversation.plan(*rounds, PlannedRound(words=8))
    lock = RowLock(conversation.cluster)
    await _lock_path(lock, conversation, held)
    await conversation.say(plan, reader=reader)
    await lock.reached()
    return Placed(conversation=conversation, plan=plan, point="in_tool", release=lock.release)


async def _lock_path(lock: RowLock, conversation: Conversation, domain: str) -> None:
    """Lock an existing file's row, or its path by an uncommitted row."""
    await lock.take(
        sql.SQL(
            "INSERT INTO coaching_userfile (user_id, path, file_type, frontmatter, size, sha256,"
            " version_number, created_at, updated_at)"
            " VALUES (%s, %s, 'domain', '{}', 0, '', 0, now(), now())"
            " ON CONFLICT (user_id, path) WHERE deleted_at IS NULL"
            " DO UPDATE SET size = coaching_userfile.size"
        ),
        conversation.user_id,
        f"life-map/{domain}.md",
    )


async def _bring_to_save(conversation: Conversation, rng: random.Random, reader: Reader | None) -> Placed:
    rounds = random_rounds(rng)
    rounds[-1] = PlannedRound(words=rng.randint(6, 12), hold="last")
    plan = conversation.plan(*rounds)
    practice = conversation.cluster.practice
    await conversation.say(plan, reader=reader)
    await practice.reached(plan.gate(len(rounds)), REACH_SECONDS * conversation.cluster.patience)
    # Text is stored separately from the rounds, and not while the row is locked.
    last = f"{plan.key}r{len(rounds)}a1w{rounds[-1].words - 1}"
    for each in conversation.readers:
        await each.until(lambda each=each: last in each.text)  # type: ignore[misc]  # a default value hides its type
    lock = RowLock(conversation.cluster)
    # Before the last round is stored, or between it and the turn's closing.
    table = rng.choice(("turn", "session"))
    condition = "id" if table == "session" else "session_id"
    await lock.take(
        sql.SQL(f"SELECT id FROM sessions_app_{table} WHERE {condition} = %s FOR NO KEY UPDATE"),
        conversation.session_id,
    )
    practice.release(plan.gate(len(rounds)))
    await lock.reached()
    return Placed(conversation=conversation, plan=plan, point="at_final_save", release=lock.release)


async def bring_to_end(conversation: Conversation) -> Placed:
    """Start a turn that has said everything, and is closed once it is released."""
    plan = conversation.plan(PlannedRound(hold="last"))
    practice = conversation.cluster.practice
    await conversation.say(plan)
    await practice.reached(plan.gate(1), REACH_SECONDS * conversation.cluster.patience)

    async def release() -> None:
        practice.release(plan.gate(1))

    return Placed(conversation=conversation, plan=plan, point="amid_statements", release=release)


async def hold_amid_statements(placed: Placed, *, place: int) -> None:
    """Stop such a turn while a `BRIEF` process closes it: it holds locks, and the database expects more."""
    cluster = placed.conversation.cluster
    cluster.hold_statements(place)
    await placed.release()
    async with asyncio.timeout(REACH_SECONDS * cluster.patience):
        while not await in_database(_is_amid_statements, cluster.process(place).popen.pid):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.02)


def _is_amid_statements(pid: int) -> bool:
    """Return whether the database waits for a process in the middle of what it sends, with rows locked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_stat_activity WHERE split_part(application_name, ':', 2) = %s"
            " AND state = 'active' AND wait_event = 'ClientRead' AND backend_xid IS NOT NULL",
            [str(pid)],
        )
        return cursor.fetchone() is not None
