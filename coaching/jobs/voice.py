"""The job that turns a recording into words. That takes long, so it has a queue of its own."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

import structlog
from procrastinate.contrib.django import app

from coaching.files.errors import StorageFailed
from coaching.files.objects import stream_object
from coaching.job_queue.names import RECORDING_JOB, VOICE_QUEUE, JobPriority
from coaching.jobs.retries import AfterStop
from coaching.model_client.requests import store_usage
from coaching.models import Recording, RecordingState
from coaching.voice.recordings import (
    BROKEN_OFF,
    MAX_CHARACTERS,
    NOT_AGREED,
    NOT_FOUND,
    end_recording,
    has_agreed,
)
from coaching.voice.sound import seconds_of
from coaching.voice.transcriber import NO_WORDS, Transcription
from coaching.voice.usage import usage_row
from coaching.voice.words import words_of
from sessions_app.database import in_database
from sessions_app.errors import Refused

WANTED_SECONDS = 2.0
"""How long a recording is transcribed that its person has discarded."""

logger = structlog.get_logger(__name__)


@app.task(name=RECORDING_JOB, queue=VOICE_QUEUE, retry=AfterStop(), priority=JobPriority.CHAT_UPLOAD)
async def transcribe_recording(*, recording_id: int) -> None:
    """Store the words of a recording, or why there are none. Nothing is left to do if its page dropped it."""
    recording = await in_database(_waiting, recording_id)
    if recording is None:
        return
    try:
        text = await _words_of(recording)
    except Refused as refusal:
        await in_database(end_recording, recording, reason=str(refusal))
        return
    await in_database(end_recording, recording, text=text)
    logger.info("recording_transcribed", seconds=recording.seconds)


async def _words_of(recording: Recording) -> str:
    began = time.monotonic()
    transcription = await _transcribe(recording)
    if transcription.has_usage:
        row = usage_row(transcription, user_id=recording.user_id, seconds=time.monotonic() - began)
        await in_database(store_usage, row)
    if not transcription.text:
        raise Refused(NO_WORDS)
    return transcription.text[:MAX_CHARACTERS]


async def _transcribe(recording: Recording) -> Transcription:
    if not await in_database(has_agreed, recording.user_id):  # any more, or to another server meanwhile
        raise Refused(NOT_AGREED)
    try:
        audio = b"".join([piece async for piece in stream_object(recording.storage_key)])
    except StorageFailed:
        raise Refused(NOT_FOUND) from None
    return await _while_wanted(recording, words_of(audio, seconds=seconds_of(audio)))


async def _while_wanted(
    recording: Recording, transcribing: Coroutine[Any, Any, Transcription]
) -> Transcription:
    """Transcribe a recording for as long as its page waits for the words. Raises `Refused`."""
    task = asyncio.create_task(transcribing)
    try:
        while not (await asyncio.wait([task], timeout=WANTED_SECONDS))[0]:
            if await in_database(_waiting, recording.pk) is None:
                raise Refused(BROKEN_OFF)
        return await task
    finally:
        task.cancel()
        await asyncio.wait([task])


def _waiting(recording_id: int) -> Recording | None:
    return Recording.unscoped.filter(id=recording_id, state=RecordingState.WAITING).first()
