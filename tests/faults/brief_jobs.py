"""R15: the worker that writes a brief is killed at every step, frozen, refused, or works with another.

Meanwhile a person talks with Sage in a web process: the turns' ends queue the briefs, and no turn may wait.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args
from uuid import uuid4

from django.db.models import QuerySet
from procrastinate.contrib.django.models import ProcrastinateJob
from psycopg import sql

from coaching.job_queue.names import BRIEF_JOB
from coaching.job_queue.sessions import enqueue_brief, enqueue_brief_anew
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session, SessionBrief
from tests.faults.auditor import audit
from tests.faults.cluster import Cluster, WebProcess
from tests.faults.people import Conversation, open_conversations
from tests.faults.points import RowLock
from tests.faults.report import Report
from tests.jobs.conftest import make_due

Place = Literal["asking", "writing", "storing", "stored", "frozen", "twice", "refused", "down"]
PLACES: tuple[Place, ...] = get_args(Place)
REACH_SECONDS = 60.0
THAWED_SECONDS = 10.0
TURN_SECONDS = 5.0
"""A turn waits for no brief, so it ends as soon as ever."""
ASKED = "new version of the brief"
STALE = "Stale words"
REFUSALS = (
    Fault(kind="status", status=529, key=ASKED),
    Fault(kind="cut", key=ASKED),
    Fault(kind="refusal", key=ASKED),
    Fault(kind="max_tokens_in_text", key=ASKED),
    Fault(kind="end_early", key=ASKED),
)


@dataclass(slots=True, kw_only=True)
class _Run:
    cluster: Cluster
    report: Report
    rng: random.Random
    practice: PracticeServer
    conversation: Conversation
    session: Session
    seen: dict[int, tuple[str, int]] = field(default_factory=dict)
    """The versions so far: their text and the last message that they cover."""
    worker: WebProcess | None = None
    gates: int = 0
    turn_seconds: float = 0.0
    """How long the slowest turn took."""

    @property
    def seconds(self) -> float:
        return REACH_SECONDS * self.cluster.patience

    async def ensure_worker(self) -> WebProcess:
        if self.worker is None or not self.worker.is_up:
            self.worker = await asyncio.to_thread(self.cluster.start_worker)
        return self.worker

    async def kill_worker(self) -> None:
        if self.worker is not None:
            await asyncio.to_thread(self.cluster.end_worker, self.worker)
        self.worker = None

    async def until(self, is_so: Callable[[], bool], *, seconds: float = REACH_SECONDS) -> bool:
        """Wait until the database says so; return whether it did in time."""
        try:
            async with asyncio.timeout(seconds * self.cluster.patience):
                while not await in_database(is_so):  # noqa: ASYNC110 - a worker makes it so
                    await asyncio.sleep(0.05)
        except TimeoutError:
            return False
        return True

    async def talk(self, turns: int = 1) -> None:
        """Send messages through the web process, each answered to its end."""
        reader = self.conversation.reader
        for _ in range(turns):
            words = f"Today I walked {self.rng.random()} miles."
            self.practice.script(["Good."], key=words)
            client_id, before = uuid4().hex, len(reader.dones)
            began = asyncio.get_running_loop().time()
            await reader.send(type="message", text=words, id=client_id)
            await reader.until(lambda before=before: len(reader.dones) > before)  # type: ignore[misc]  # a default value hides its type
            seconds = asyncio.get_running_loop().time() - began
            self.turn_seconds = max(self.turn_seconds, seconds)
            self.report.expect(
                seconds < TURN_SECONDS * self.cluster.patience, f"R15 a turn took {seconds:.1f} s"
            )
            self.conversation.sent.append(client_id)
            self.report.count("turns")

    def hold(self, text: str) -> str:
        """Let the next brief wait in the middle of this text; return its gate."""
        self.gates += 1
        gate = f"brief {self.gates}"
        self.practice.script([Reply.of(text[:2], Hold(gate), text[2:])], key=ASKED)
        return gate

    async def queue(self, *, is_anew: bool = False) -> None:
        def put() -> None:
            session = Session.unscoped.get(id=self.session.id)
            (enqueue_brief_anew if is_anew else enqueue_brief)(session)
            make_due()

        await in_database(put)


async def run_r15(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Talk, and break what writes the brief at one of its places. A point is one of them."""
    report = Report(fault="R15", seed=seed)
    rng = random.Random(seed)
    async with PracticeServer(
        port=cluster.practice_port, tokens_per_second=0, keeps_bodies=True, kept_requests=100_000
    ) as practice:
        cluster.practice = practice
        await cluster.ensure_up()
        (conversation,) = await open_conversations(cluster, 1)
        await conversation.read()
        session = await in_database(Session.unscoped.get, id=conversation.session_id)
        run = _Run(
            cluster=cluster,
            report=report,
            rng=rng,
            practice=practice,
            conversation=conversation,
            session=session,
        )
        try:
            while report.points < points:
                for place in rng.sample(PLACES, min(len(PLACES), points - report.points)):
                    await _break(run, place)
                    report.points += 1
                    report.count(place)
            report.violations += await audit(cluster, [conversation])
        finally:
            await cluster.clean_up()
            await run.kill_worker()
    report.count(f"slowest turn {run.turn_seconds:.1f} s")
    return report


async def _break(run: _Run, place: Place) -> None:
    run.practice.scripts.clear()
    await run.talk(run.rng.randint(1, 2))
    began = asyncio.get_running_loop().time()
    match place:
        case "asking" | "writing":
            await _kill_in_answer(run, text=f"- {STALE}" if place == "writing" else f" {STALE}")
        case "storing" | "stored":
            await _kill_at_row(run, is_stored=place == "stored")
        case "frozen":
            await _freeze(run)
        case "twice":
            await _work_twice(run)
        case "refused":
            fault = run.rng.choice(REFUSALS)
            run.practice.faults.push(*[fault] * run.rng.randint(1, 3))
            await run.ensure_worker()
            await run.queue()
        case "down":
            await _go_down(run)
    await _expect_caught_up(run, place)
    run.report.seconds.append(asyncio.get_running_loop().time() - began)


async def _kill_in_answer(run: _Run, *, text: str) -> None:
    gate = run.hold(text)
    await run.ensure_worker()
    await run.queue()
    await run.practice.reached(gate, run.seconds)
    await run.talk()
    await run.kill_worker()


async def _kill_at_row(run: _Run, *, is_stored: bool) -> None:
    """Kill the worker while it waits for a row: its session's before the version, or its job's after it."""
    newest = await in_database(_last_finished, run.session)
    text = "\n".join(f"- You said {number} [{number}]" for number in range(1, newest, 2))
    gate = run.hold(text if is_stored else f"- {STALE}")
    await run.ensure_worker()
    await run.queue()
    await run.practice.reached(gate, run.seconds)
    await run.talk()
    lock = RowLock(run.cluster)
    if is_stored:
        job = sql.SQL(
            "SELECT id FROM procrastinate_jobs WHERE status = 'doing' AND task_name = %s FOR UPDATE"
        )
        await lock.take(job, BRIEF_JOB)
    else:
        row = sql.SQL("SELECT id FROM sessions_app_session WHERE id = %s FOR NO KEY UPDATE")
        await lock.take(row, run.session.id)
    run.practice.release(gate)
    await lock.reached()
    await run.kill_worker()
    await lock.release()


async def _freeze(run: _Run) -> None:
    """Freeze a worker in its answer, let another do its job, and thaw it."""
    gate = run.hold(f"- {STALE}")
    frozen = await run.ensure_worker()
    await run.queue()
    await run.practice.reached(gate, run.seconds)
    run.cluster.stop_worker(frozen)
    run.worker = None
    await run.talk()
    await run.ensure_worker()
    await run.queue()
    await run.until(lambda: _is_covered(run.session))
    run.practice.release(gate)
    run.cluster.continue_worker(frozen)
    # It reports that its result is stale, or stops because it was taken for dead.
    if await run.until(lambda: "brief_failed" in frozen.log.read_text(), seconds=THAWED_SECONDS):
        run.report.count("stale results refused")
    await asyncio.to_thread(run.cluster.end_worker, frozen)


async def _work_twice(run: _Run) -> None:
    """Queue two jobs of the session for two workers: one of them runs at a time."""
    other = await asyncio.to_thread(run.cluster.start_worker)
    await run.ensure_worker()
    await run.queue()
    await run.queue(is_anew=True)
    doing = 0
    while await in_database(_jobs(run.session).exists):
        doing = max(doing, await in_database(_jobs(run.session).filter(status="doing").count))
        await asyncio.sleep(0.01)
    run.report.expect(doing <= 1, f"R15 {doing} jobs ran at once")
    await asyncio.to_thread(run.cluster.end_worker, other)


async def _go_down(run: _Run) -> None:
    """Take the brief model away for thirty turns."""
    run.practice.faults.push(Fault(kind="status", status=529, key=ASKED, times=30))
    await run.ensure_worker()
    for _ in range(30):
        await run.talk()
        await run.queue()
    while len(run.practice.faults):
        await in_database(make_due)
        await run.queue()
        await asyncio.sleep(0.05)


async def _expect_caught_up(run: _Run, place: Place) -> None:
    await run.ensure_worker()
    if not await in_database(_jobs(run.session).exists):
        await run.queue()

    def is_done() -> bool:
        make_due()
        return _is_covered(run.session) and not _jobs(run.session).exists()

    run.report.expect(await run.until(is_done), f"R15 {place}: the brief didn't catch up")
    briefs = await in_database(
        lambda: list(SessionBrief.unscoped.filter(session=run.session).order_by("version"))
    )
    _audit(run, place, briefs)


def _audit(run: _Run, place: Place, briefs: list[SessionBrief]) -> None:
    """Check that no version was lost, changed or stale, and that no message is missing."""
    expect = run.report.expect
    expect([brief.version for brief in briefs] == list(range(1, len(briefs) + 1)), f"R15 {place}: versions")
    now = {brief.version: (brief.text, brief.covers_until) for brief in briefs}
    kept = {version: now.get(version) for version in run.seen}
    expect(kept == run.seen, f"R15 {place}: a version was lost or changed")
    until = 0
    for brief in briefs:
        expect(brief.covers_from <= until + 1, f"R15 {place}: version {brief.version} leaves a hole")
        expect(
            brief.covers_until >= until, f"R15 {place}: version {brief.version} is older than the one before"
        )
        expect(STALE not in brief.text, f"R15 {place}: version {brief.version} is stale")
        until = brief.covers_until
    run.report.count("versions", len(briefs) - len(run.seen))
    run.seen = now


def _last_finished(session: Session) -> int:
    return Session.unscoped.get(id=session.id).last_message_number


def _is_covered(session: Session) -> bool:
    row = Session.unscoped.get(id=session.id)
    return row.brief_covers == row.last_message_number and row.brief_attempts == 0


def _jobs(session: Session) -> "QuerySet[ProcrastinateJob]":
    jobs = ProcrastinateJob.objects.filter(task_name=BRIEF_JOB, args__session_id=str(session.id))
    return jobs.filter(status__in=["todo", "doing"])
