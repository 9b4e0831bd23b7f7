"""The measurements of `python -m tests.bench.library`."""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from coaching.library.documents.intake import destination_of, take_in
from coaching.library.jobs.reading import resume_waiting
from coaching.library.references.files import sync_reference_files
from coaching.models import UNFINISHED_STATES, Document, DocumentSource
from coaching.practice.coach.analysis import analyse, is_analysis
from coaching.practice.coach.documents import answer_of, row_for, sent_documents
from coaching.practice.script import Reply
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from tests.library.extractors.files import pdf
from tests.library.pipeline.conftest import stored

MANAGE = Path(__file__).resolve().parents[3] / "manage.py"
CALLS_AT_ONCE = 2
DOCUMENTS_A_CALL = 8
SHARE = 0.8
TWO_WORKERS = 1.8
CHAT_SECONDS = 5.0
TEXT_BYTES = 2_000
PDF_PAGES = 10
WAITING = 1_000
WORDS = tuple(f"word{number}" for number in range(5_000))


class Bench:
    """A model that answers after some seconds, and the times at which documents were asked about."""

    def __init__(self, seconds: float) -> None:
        self.asked: dict[int, float] = {}
        self._seconds = seconds

    def answer(self, body: Mapping[str, Any]) -> Reply:
        if is_analysis(body):
            return analyse(body)
        documents = sent_documents(body)
        self.asked.update(dict.fromkeys((document.id for document in documents), time.monotonic()))
        reply = answer_of([row_for(document, "letter", 0.95, why="It is one.") for document in documents])
        return Reply(reply.blocks, tokens_per_second=0.0, first_token_seconds=self._seconds)


async def run(rows: Sequence[str], *, documents: int, seconds: float) -> list[str]:
    """Return a line for each measurement."""
    await in_database(sync_reference_files)
    bench = Bench(seconds)
    said: list[str] = []
    async with PracticeServer(tokens_per_second=0, answer=bench.answer) as practice:
        one = two = 0.0
        if "one" in rows:
            one = await _rate(practice, bench, workers=1, files=_texts(documents))
            least = SHARE * CALLS_AT_ONCE * DOCUMENTS_A_CALL / seconds
            said.append(f"one worker, TXT of 2 kB: {one:.2f} documents/s (at least {least:.2f})")
        if "two" in rows:
            two = await _rate(practice, bench, workers=2, files=_texts(2 * documents))
            said.append(f"two workers, TXT of 2 kB: {two:.2f} documents/s")
        if one and two:
            said.append(f"two workers are {two / one:.2f} times one (at least {TWO_WORKERS})")
        if "mix" in rows:
            mix = await _rate(practice, bench, workers=1, files=_mixed(documents))
            said.append(
                f"one worker, two thirds TXT, a third PDF of {PDF_PAGES} pages: {mix:.2f} documents/s"
            )
        if "chat" in rows:
            waited = await _chat(practice, bench)
            said.append(
                f"a conversation's document, {WAITING} others waiting: asked about after {waited:.2f} s "
                f"(at most {CHAT_SECONDS:.0f})"
            )
    return said


async def _rate(
    practice: PracticeServer, bench: Bench, *, workers: int, files: Iterator[tuple[str, bytes]]
) -> float:
    """Return how many documents workers read a second, from the first call to the last document."""
    bench.asked.clear()
    user, count = await in_database(_take_in, list(files))
    async with _workers(practice, workers):
        await _until(lambda: bool(bench.asked))
        began = min(bench.asked.values())
        await _until_in_database(lambda: not _unfinished(user))
        return count / (time.monotonic() - began)


async def _chat(practice: PracticeServer, bench: Bench) -> float:
    bench.asked.clear()
    user = await in_database(_person)
    await in_database(stored, user, WAITING)
    await in_database(resume_waiting)
    async with _workers(practice, 1):
        await _until(lambda: len(bench.asked) >= 3 * DOCUMENTS_A_CALL)
        began = time.monotonic()
        (document,) = await in_database(_take_in_more, user, [_file(0)], DocumentSource.CHAT)
        await _until(lambda: document.pk in bench.asked)
        return bench.asked[document.pk] - began


def _texts(count: int) -> Iterator[tuple[str, bytes]]:
    yield from (_file(number) for number in range(count))


def _mixed(count: int) -> Iterator[tuple[str, bytes]]:
    for number in range(count):
        if number % 3:
            yield _file(number)
        else:
            chance = random.Random(number)
            pages = [[" ".join(chance.choices(WORDS, k=10)) for _ in range(40)] for _ in range(PDF_PAGES)]
            yield f"{number}.pdf", pdf(pages)


def _file(number: int) -> tuple[str, bytes]:
    chance = random.Random(f"{number} {time.time()}")
    text = "Dear Ada,\n" + " ".join(chance.choices(WORDS, k=TEXT_BYTES // 8))
    return f"{number}.txt", text.encode()[:TEXT_BYTES]


def _person() -> User:
    return get_user_model().objects.create_user(username=f"reader{time.time_ns()}")


def _take_in(files: Sequence[tuple[str, bytes]]) -> tuple[User, int]:
    user = _person()
    return user, len(_take_in_more(user, files))


def _take_in_more(
    user: User, files: Sequence[tuple[str, bytes]], source: DocumentSource = DocumentSource.UPLOAD
) -> Sequence[Document]:
    destination = destination_of(user_id=user.pk, source=source)
    return [take_in(user_id=user.pk, name=name, data=data, destination=destination) for name, data in files]


def _unfinished(user: User) -> int:
    return Document.of(user.pk).filter(state__in=UNFINISHED_STATES).count()


@asynccontextmanager
async def _workers(practice: PracticeServer, count: int) -> AsyncIterator[None]:
    environment = {**os.environ, "ANTHROPIC_BASE_URL": practice.url, "ANTHROPIC_API_KEY": "bench"}
    command = [sys.executable, str(MANAGE), "worker"]
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: ASYNC220 - at once
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not is_so():  # noqa: ASYNC110 - a worker makes it so
            await asyncio.sleep(0.01)


async def _until_in_database(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(600):
        while not await in_database(is_so):  # noqa: ASYNC110 - a worker makes it so
            await asyncio.sleep(0.2)
