"""The long forms: which cluster each fault runs in, and how many points it has by default."""

import argparse
import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sage.embedded_postgres import EmbeddedPostgres
from tests.faults import (
    alternatives,
    brief_jobs,
    crashes,
    database_loss,
    document_jobs,
    openings,
    races,
    random_turns,
    readers,
    redis_loss,
    slow_readers,
    upstream,
)
from tests.faults.cluster import BRIEF, SHIFTED, UNBROKEN, Cluster, RedisServer
from tests.faults.report import Report

RUN_SECONDS = 3600.0

Scenario = Callable[..., Awaitable[Report]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongForm:
    """One fault's long form."""

    name: str
    scenario: Scenario
    points: int
    processes: int = 1
    variables: Mapping[str, str] = field(default_factory=dict)
    program: Sequence[str] = ("manage.py",)
    clock_error_seconds: float = 0.0


FORMS: tuple[LongForm, ...] = (
    LongForm(name="R1-alone", scenario=crashes.run_r1, points=150),
    LongForm(name="R1-twin", scenario=crashes.run_r1, points=150, processes=2),
    LongForm(name="R2-alone", scenario=database_loss.run_r2, points=160),
    LongForm(name="R2-twin", scenario=database_loss.run_r2, points=160, processes=2),
    LongForm(name="R3", scenario=redis_loss.run_r3, points=480, processes=2),
    # Every fault for turns of 8 seconds, and each kind and place once for turns with their full time.
    LongForm(
        name="R4-hasty",
        scenario=upstream.run_r4,
        points=upstream.EVERY_FAULT,
        variables={"SAGE_TURN_SECONDS": "8"},
        program=UNBROKEN,
    ),
    LongForm(name="R4-whole", scenario=upstream.run_r4, points=upstream.EACH_ONCE, program=UNBROKEN),
    LongForm(name="R6-alone", scenario=readers.run_r6, points=100),
    LongForm(name="R6-twin", scenario=readers.run_r6, points=100, processes=2),
    LongForm(name="R7", scenario=races.run_r7, points=1000, processes=2),
    LongForm(name="R8", scenario=crashes.run_r8, points=100, processes=2, program=BRIEF),
    LongForm(name="R9", scenario=races.run_r9, points=1000, processes=2),
    LongForm(name="R10", scenario=slow_readers.run_r10, points=40),
    LongForm(name="R12-alone", scenario=readers.run_r12, points=50),
    LongForm(name="R12-twin", scenario=readers.run_r12, points=50, processes=2),
    LongForm(name="openings-alone", scenario=openings.run_openings, points=180),
    LongForm(name="openings-twin", scenario=openings.run_openings, points=180, processes=2),
    LongForm(name="answers-alone", scenario=alternatives.run_alternatives, points=160),
    LongForm(name="answers-twin", scenario=alternatives.run_alternatives, points=160, processes=2),
    LongForm(name="turns-alone", scenario=random_turns.run_random_turns, points=300),
    LongForm(name="turns-twin", scenario=random_turns.run_random_turns, points=300, processes=2),
    LongForm(
        name="R14-clock",
        scenario=crashes.run_r1,
        points=60,
        processes=2,
        program=SHIFTED,
        clock_error_seconds=2 * 3600.0,
    ),
    LongForm(name="R15", scenario=brief_jobs.run_r15, points=24),
    LongForm(name="R17", scenario=document_jobs.run_r17, points=20),
    LongForm(name="R16", scenario=slow_readers.run_r16, points=1200),
    LongForm(name="R13", scenario=crashes.run_r13, points=100, processes=2),
)


async def run(form: LongForm, chosen: argparse.Namespace, folder: Path, database: EmbeddedPostgres) -> Report:
    """Run one long form in a cluster of its own, bounded in time."""
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)  # readers that disconnect are intended
    server = None
    if form.processes > 1:
        server = RedisServer(folder)
        server.start()
    cluster = Cluster(
        count=form.processes,
        redis_server=server,
        variables=form.variables,
        patience=chosen.patience,
        program=form.program,
        database=database,
        clock_error_seconds=form.clock_error_seconds,
    )
    try:
        async with asyncio.timeout(RUN_SECONDS):
            return await form.scenario(cluster, seed=chosen.seed, points=chosen.points or form.points)
    except (AssertionError, TimeoutError) as error:
        # A timeout is a violation, too, and the run can't continue after it.
        told = f"broke off: {type(error).__name__} {error}; last logged: {cluster.log_text()[-2000:]}"
        return Report(fault=form.name, seed=chosen.seed, violations=[told])
    finally:
        await asyncio.to_thread(cluster.close)
