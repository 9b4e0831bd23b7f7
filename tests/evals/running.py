"""Runs situations in several processes, each with a clock of its own; judges, prints, stores results."""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

import structlog
from django.conf import settings

from coaching.engine.anthropic_client import AnthropicClient
from tests.evals.judge import Judged, judge_all
from tests.evals.playing import play
from tests.evals.results import Row, Run, row_of, write_run
from tests.evals.situation import Situation, read_situations
from tests.evals.transcript import Transcript
from tests.evals.worker import set_up

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command was asked for. Without names all situations are run."""

    names: Sequence[str] = ()
    judge: str = ""
    at_once: int = 4
    transcripts: Path | None = None
    is_written: bool = False


def run(options: Options) -> Run:
    """Run, print a line a situation and what it comes to, and store it if asked for."""
    situations = read_situations(options.names)
    began = time.monotonic()
    found = play_all(situations, at_once=options.at_once)
    seconds = time.monotonic() - began
    played = [(each, there) for each in situations if (there := found[each.name]) is not None]
    judged = asyncio.run(_judge(played, options.judge)) if options.judge else {}
    costs = [each.spent.micro_usd for each in judged.values()]
    done = Run(
        model=settings.SAGE_MODEL,
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        seconds=round(seconds, 1),
        rows=[row_of(each, found[each.name], judged.get(each.name)) for each in situations],
        judge=options.judge,
        judge_micro_usd=None if None in costs else sum(cost or 0 for cost in costs),
    )
    if options.transcripts:
        _write_transcripts(options.transcripts, played)
    _print(done)
    if options.is_written and not done.is_answered:
        print("No answer came whole, so nothing is written: is the model's server up?")  # noqa: T201
    elif options.is_written:
        print(f"written to {write_run(done)}")  # noqa: T201 - the command's output
    return done


def play_all(situations: Sequence[Situation], *, at_once: int) -> Mapping[str, Transcript | None]:
    """Play all, `at_once` at a time; None for one whose run broke off, which is logged.

    Raises `BrokenExecutor` if a process was killed.
    """
    found: dict[str, Transcript | None] = {}
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn"), initializer=set_up) as pool:
        started = {pool.submit(play_alone, each): each for each in situations}
        for number, done in enumerate(as_completed(started), start=1):
            name = started[done].name
            print(f"{number} of {len(started)}: {name}", file=sys.stderr, flush=True)  # noqa: T201 - progress
            error = done.exception()
            if isinstance(error, BrokenExecutor):
                raise error
            if error is not None:
                logger.error("situation_broke_off", situation=name, error=f"{type(error).__name__}: {error}")
            found[name] = None if error else done.result()
    return found


def play_alone(situation: Situation) -> Transcript:
    """Play one in this process."""
    return asyncio.run(play(situation))


async def _judge(runs: Sequence[tuple[Situation, Transcript]], model: str) -> Mapping[str, Judged]:
    async with AnthropicClient(settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL) as client:
        return await judge_all(runs, client=client, model=model)


def _write_transcripts(folder: Path, runs: Sequence[tuple[Situation, Transcript]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for situation, found in runs:
        (folder / f"{situation.name}.txt").write_text(f"{situation.about}\n\n{found.to_text()}\n")


def _print(done: Run) -> None:
    for row in done.rows:
        print(f"{'✓' if row.is_passed else '✗'} {row.name}{_judged(row)}")  # noqa: T201 - the command's output
        for check, wrong in row.faults.items():
            for fault in wrong:
                print(f"    {check}: {' '.join(fault.split())}")  # noqa: T201
    cost = "unknown" if done.micro_usd is None else f"${done.micro_usd / 1_000_000:.2f}"
    print(f"{done.model}: {done.passed} of {len(done.rows)} passed, {cost}, {done.seconds:.0f} s")  # noqa: T201


def _judged(row: Row) -> str:
    return "" if row.points is None else f"  {row.met} of {row.points} points, {row.better} better"
