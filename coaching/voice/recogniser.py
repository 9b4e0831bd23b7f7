"""Turns recordings into words on this machine, by whisper.cpp in a process without rights, one at a time.

Whoever recognises holds the lock of the model file, so that the machine's workers take turns: a process may
need more than a gigabyte. It ends with the answer, at its limits, and when the caller is cancelled.
"""

import asyncio
import fcntl
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import structlog
from django.utils.translation import gettext_noop

from coaching.sandbox.answers import json_object, number
from coaching.sandbox.errors import AllBusy, NotAnswered, NotStarted, OutOfTime, UntrueAnswer
from coaching.sandbox.host import ProcessHost, Reading
from coaching.sandbox.limits import MEGABYTE, Limits
from coaching.voice.sound import MOST_HEARD_SECONDS
from coaching.voice.transcriber import (
    BUSY,
    FAILING,
    LEAST_SECONDS,
    NOT_TAKEN,
    TOO_SLOW,
    Transcription,
    read_answer,
)
from sessions_app.errors import Refused

LIMITS = Limits(
    memory_bytes=1536 * MEGABYTE,
    cpu_seconds=round(LEAST_SECONDS) + 2 * MOST_HEARD_SECONDS,
    seconds=LEAST_SECONDS + 2 * MOST_HEARD_SECONDS,
    answer_bytes=4 * MEGABYTE,
    niceness=10,
)
"""For the longest recording; each has twice its own length, and a minute more."""
STEP_SECONDS = 0.5
TURN_SECONDS = 0.2
TOO_LONG = gettext_noop("This recording is longer than an hour. Split it into shorter ones.")

_host = ProcessHost("coaching.voice.speech_worker", LIMITS, slots=1)

logger = structlog.get_logger(__name__)


async def recognise(model: Path, audio: bytes, *, content_type: str, most_seconds: float) -> Transcription:
    """Return the words of a recording with their times, by a model file. Raises `Refused`.

    That takes at most twice the recording's length and a minute, of the clock and of the processor; with the
    time until its turn comes, at most `most_seconds`.
    """
    stopped = threading.Event()
    deadline = time.monotonic() + most_seconds
    try:
        async with _turn(model, deadline) as file:
            head = b"%s\n%s" % (content_type.encode(), audio)
            transcribing = partial(_transcribe, file, head, deadline=deadline, stopped=stopped)
            work = asyncio.get_running_loop().run_in_executor(None, transcribing)
            try:
                transcription = await asyncio.shield(work)
            finally:
                stopped.set()
                await asyncio.wait([work])  # the file stays open, and locked, until its process is killed
                work.exception()  # of a call that was cancelled, nobody else takes it
    except OSError as error:
        raise _failed(FAILING, type(error).__name__) from None
    return replace(transcription, text=" ".join(segment.text for segment in transcription.segments))


@asynccontextmanager
async def _turn(model: Path, deadline: float) -> AsyncIterator[BinaryIO]:
    """Open the model file, and hold its lock. Raises `Refused` and `OSError`."""
    with await asyncio.to_thread(model.open, "rb") as file:
        while not _is_locked(file):
            if time.monotonic() > deadline:
                raise _failed(BUSY, "busy")
            await asyncio.sleep(TURN_SECONDS)
        yield file


def _is_locked(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _transcribe(file: BinaryIO, head: bytes, *, deadline: float, stopped: threading.Event) -> Transcription:
    """Let a process transcribe a recording. Blocks. Raises `Refused`."""
    began = time.monotonic()
    most_seconds = deadline - began
    try:
        with _host.open(file, head, wait_seconds=STEP_SECONDS) as reading:
            answer = partial(_answer, reading, began=began, stopped=stopped)
            said = json_object(answer(most_seconds=min(most_seconds, LEAST_SECONDS)))
            if "refused" in said:
                raise _failed(TOO_LONG if said["refused"] == "long" else NOT_TAKEN, "not decoded")
            seconds = number(said.get("seconds"), most=MOST_HEARD_SECONDS)
            return read_answer(answer(most_seconds=min(most_seconds, LEAST_SECONDS + 2 * seconds)))
    except (NotAnswered, OutOfTime) as error:
        is_too_costly = isinstance(error, OutOfTime) or error.is_too_costly
        raise _failed(
            TOO_SLOW if is_too_costly else FAILING, "costly" if is_too_costly else "ended"
        ) from None
    except NotStarted:
        raise _failed(FAILING, "not started") from None
    except AllBusy:
        raise _failed(BUSY, "busy") from None
    except UntrueAnswer:
        raise _failed(FAILING, "untrue answer") from None


def _answer(reading: Reading, *, began: float, most_seconds: float, stopped: threading.Event) -> bytes:
    """Return the next answer of a process that may have used so many seconds by then.

    Raises `NotAnswered`, at the latest half a second after it is stopped, and `UntrueAnswer`.
    """
    while not stopped.is_set():
        try:
            answer = reading.next(seconds=STEP_SECONDS)
        except OutOfTime:
            if max(time.monotonic() - began, reading.cpu_seconds) > most_seconds:
                raise NotAnswered(is_too_costly=True) from None
            continue
        if answer is None:
            raise UntrueAnswer
        return answer
    raise NotAnswered(is_too_costly=False)


def _failed(sentence: str, cause: str) -> Refused:
    logger.warning("recording_not_recognised", cause=cause)
    return Refused(sentence)
