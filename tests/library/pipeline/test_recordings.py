"""A recording in the library becomes a transcript with times, and its page plays it at the sentence."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from coaching.job_queue.names import HEARING_JOB
from coaching.jobs.worker import JobWorker
from coaching.library.documents.filing import read_again
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.documents.readings import is_transcript
from coaching.library.extractors.content_types import recording_type
from coaching.library.jobs.reading import resume_waiting
from coaching.library.pipeline.speech import NOT_AGREED, UNHEARD
from coaching.models import (
    ActionItem,
    Document,
    DocumentSource,
    DocumentState,
    DocumentText,
    KnowledgeEntry,
    Profile,
)
from coaching.practice import PracticeServer
from coaching.voice.transcriber import FAILING, transcribe_with_times
from coaching.voice.transcription import transcription_host
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import ModelUsage, UsagePurpose
from tests.browsers import browser_of
from tests.files.conftest import disk_storage
from tests.jobs.conftest import WorkOff, empty_queue
from tests.library.pipeline.conftest import fresh
from tests.library.pipeline.truth import TruthfulModel
from tests.voice.conftest import agreed, server
from tests.voice.sounds import tones, wav_file
from tests.voice.transcription_server import TranscriptionServer

__all__ = ["agreed", "disk_storage", "server"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("disk_storage", "queue", "references", "practice"),
]

MEMO = wav_file(tones(0.5), rate=16_000)
SAID = (
    (0.0, 4.0, " Ada: Thanks for joining, can everybody hear me? The recording is on."),
    (64.2, 66.0, " Ben: I'll book the electrician"),
    (66.0, 67.5, " by Friday."),
    (70.0, 75.9, " Chloe: We agreed to renew the lease."),
)
TEXT = (
    "[00:00:00] Ada: Thanks for joining, can everybody hear me? The recording is on.\n"
    "[00:01:04] Ben: I'll book the electrician by Friday.\n"
    "[00:01:10] Chloe: We agreed to renew the lease."
)


def answer_with(server: TranscriptionServer) -> None:
    segments = [{"start": start, "end": end, "text": text} for start, end, text in SAID]
    whole = {"text": "".join(text for *_, text in SAID), "segments": segments, "usage": {"seconds": 76}}
    server.body = json.dumps(whole)


async def upload(
    user: User,
    data: bytes = MEMO,
    name: str = "memo.wav",
    *,
    source: DocumentSource = DocumentSource.UPLOAD,
) -> Document:
    destination = await in_database(lambda: destination_of(user_id=user.pk, source=source))
    return await in_database(lambda: take_in(user_id=user.pk, name=name, data=data, destination=destination))


async def test_a_memo_of_three_people_is_a_transcript_that_is_analysed(
    agreed: User, server: TranscriptionServer, model: TruthfulModel, work_off: WorkOff
) -> None:
    model.types = {"memo.wav": "call-transcript"}
    answer_with(server)
    document = await upload(agreed)
    await work_off()
    [document] = await fresh(document)
    [request] = server.requests
    assert request.audio == MEMO
    assert request.form["response_format"] == "verbose_json"
    assert (document.content_type, document.state, document.reason) == ("audio/wav", DocumentState.FILED, "")
    assert (await in_database(DocumentText.unscoped.get)).text == TEXT
    assert await in_database(is_transcript, document)
    [action] = await in_database(list, ActionItem.of(agreed.pk))
    assert "electrician" in action.title
    assert action.quote
    assert "[" not in action.quote
    assert action.quote in TEXT
    assert await in_database(KnowledgeEntry.of(agreed.pk).filter(document=document).exists)
    [usage] = await in_database(list, ModelUsage.of(agreed.pk).filter(purpose=UsagePurpose.VOICE))
    assert usage.audio_seconds == 76
    browser = await in_database(browser_of, agreed)
    address = f"/library/documents/{document.pk}/"
    part = await in_database(browser.get, f"{address}viewer/?step={action.pk}")
    assert f'src="{address}recording/#t=64"' in part.content.decode()
    assert "<mark>" in part.content.decode()
    page = await in_database(browser.get, address)
    assert f'src="{address}recording/"' in page.content.decode()


def played(user: User, address: str, asked: str = "") -> Any:
    browser = browser_of(user)
    headers = {"Range": asked} if asked else {}
    return browser.get(address, headers=headers)


async def test_a_recording_is_played_whole_and_in_parts(
    agreed: User, server: TranscriptionServer, work_off: WorkOff, other_user: User
) -> None:
    answer_with(server)
    document = await upload(agreed)
    await work_off()
    address, size = f"/library/documents/{document.pk}/recording/", len(MEMO)
    whole = await in_database(played, agreed, address)
    assert (whole.status_code, whole["Content-Type"], whole.content) == (HTTPStatus.OK, "audio/wav", MEMO)
    assert (whole["X-Content-Type-Options"], whole["Accept-Ranges"]) == ("nosniff", "bytes")
    for asked, first, last in (("0-9", 0, 9), ("100-", 100, size - 1), ("-5", size - 5, size - 1)):
        part = await in_database(played, agreed, address, f"bytes={asked}")
        assert part.status_code == HTTPStatus.PARTIAL_CONTENT
        assert part.content == MEMO[first : last + 1]
        assert part["Content-Range"] == f"bytes {first}-{last}/{size}"
    beyond = await in_database(played, agreed, address, "bytes=999999-")
    assert beyond.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
    for odd in ("bytes=-", "bytes=0-1,3-4", "lines=1-2"):
        assert (await in_database(played, agreed, address, odd)).content == MEMO
    assert (await in_database(played, other_user, address)).status_code == HTTPStatus.NOT_FOUND


async def test_a_recording_that_is_withheld_has_no_player(
    agreed: User, server: TranscriptionServer, work_off: WorkOff
) -> None:
    answer_with(server)
    document = await upload(agreed)
    await work_off()
    address = f"/library/documents/{document.pk}/viewer/"
    assert "<audio" in (await in_database(played, agreed, address)).content.decode()
    await in_database(lambda: Document.of(agreed.pk).update(is_withheld=True))
    assert "<audio" not in (await in_database(played, agreed, address)).content.decode()


async def test_a_second_attempt_without_times_has_only_what_is_left_of_the_time(
    server: TranscriptionServer,
) -> None:
    server.refuses, server.waits = "verbose_json", asyncio.Event()

    def refuse() -> None:
        answered, server.waits = server.waits, asyncio.Event()
        assert answered is not None
        answered.set()

    loop = asyncio.get_running_loop()
    began = loop.time()
    loop.call_later(2.5, refuse)
    with pytest.raises(Refused, match="took too long"):
        await transcribe_with_times(MEMO, name="a.wav", media_type="audio/wav", most_seconds=3)
    assert len(server.requests) == 2
    assert loop.time() - began < 5, "the second attempt began a limit of its own"


async def test_a_server_without_times_gives_words_without_times(
    agreed: User, server: TranscriptionServer, work_off: WorkOff
) -> None:
    server.texts = ["Words without times."]
    server.refuses = "verbose_json"
    document = await upload(agreed)
    await work_off()
    assert (await in_database(DocumentText.unscoped.get)).text == "Words without times."
    assert len(server.requests) == 2
    assert (await fresh(document))[0].state != DocumentState.FAILED


async def test_a_recording_that_cant_be_heard_says_why_and_is_read_again_later(
    user: User, server: TranscriptionServer, settings: Settings, work_off: WorkOff
) -> None:
    url, settings.SAGE_TRANSCRIBE_URL = settings.SAGE_TRANSCRIBE_URL, ""
    unheard = await upload(user)
    await work_off()
    [unheard] = await fresh(unheard)
    assert (unheard.state, unheard.reason) == (DocumentState.REFUSED, UNHEARD)
    settings.SAGE_TRANSCRIBE_URL = url
    document = await upload(user, MEMO + b"\0\0")
    await work_off()
    [document] = await fresh(document)
    assert (document.state, document.reason) == (DocumentState.FAILED, NOT_AGREED)
    await in_database(
        lambda: Profile.unscoped.update_or_create(user=user, defaults={"heard_by": transcription_host()})
    )
    for status, reason in ((500, FAILING), (200, "")):
        server.status = status
        answer_with(server)
        await in_database(read_again, user_id=user.pk, document_id=document.pk)
        await work_off()
        [document] = await fresh(document)
        assert (document.state == DocumentState.FAILED) == bool(reason)
        assert document.reason == reason or not reason


@pytest.mark.parametrize(
    ("data", "name", "content_type"),
    [
        (MEMO, "a", "audio/wav"),
        (b"OggS\0", "a", "audio/ogg"),
        (b"ID3\x03", "a", "audio/mpeg"),
        (b"\xff\xfb\x90", "a", "audio/mpeg"),
        (b"\0\0\0\x1cftypM4A ", "a", "audio/mp4"),
        (b"\0\0\0\x1cftypisom", "a.m4a", "audio/mp4"),
        (b"\0\0\0\x1cftypisom", "a.mp4", ""),
        (b"\x1aE\xdf\xa3", "a.webm", "audio/webm"),
        (b"\x1aE\xdf\xa3", "a.mkv", ""),
        (b"RIFF\0\0\0\0WEBP", "a", ""),
    ],
)
def test_recordings_are_known_by_how_they_begin(data: bytes, name: str, content_type: str) -> None:
    assert recording_type(data, name) == content_type


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a worker has done something."""
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)


async def test_documents_go_on_while_a_server_works_on_recordings(
    agreed: User, other_user: User, server: TranscriptionServer, practice: PracticeServer
) -> None:
    await in_database(lambda: Profile.unscoped.create(user=other_user, heard_by=transcription_host()))
    server.waits = asyncio.Event()

    async def asked(times: int) -> bool:
        return len(server.requests) >= times

    async def read(documents: Sequence[Document]) -> bool:
        return all(document.read_at for document in await fresh(*documents))

    memos = [await upload(agreed, MEMO + bytes(2 * number), f"{number}.wav") for number in range(8)]
    memos.append(await upload(agreed, MEMO + bytes(100), "said.wav", source=DocumentSource.CHAT))
    async with JobWorker():
        await until(lambda: asked(1))
        texts = [await upload(person, b"Dear Ada, yours.", "a.txt") for person in (agreed, other_user)]
        texts.append(await upload(agreed, b"Dear Ada, ours.", "b.txt", source=DocumentSource.CHAT))
        await until(lambda: read(texts))
        memos.append(await upload(other_user, MEMO, "other.wav"))
        await until(lambda: asked(2))
        states = sorted(document.state for document in await fresh(*memos))
        assert states == [DocumentState.QUEUED] * 8 + [DocumentState.READING] * 2, "one of a person"
        server.waits.set()
        await until(lambda: read(memos))
    assert len(server.requests) == 10, "each is heard once"


async def test_recordings_whose_job_was_lost_are_queued_again(
    agreed: User, server: TranscriptionServer, work_off: WorkOff
) -> None:
    document = await upload(agreed)
    await in_database(lambda: Document.unscoped.update(content_type="audio/wav"))
    await in_database(empty_queue)
    await in_database(resume_waiting)
    jobs = await in_database(lambda: list(ProcrastinateJob.objects.values_list("task_name", flat=True)))
    assert jobs.count(HEARING_JOB) == 1
    await work_off()
    assert len(server.requests) == 1
    assert (await fresh(document))[0].read_at is not None


async def test_a_recording_waits_for_the_budget_and_isnt_sent_before(
    agreed: User, server: TranscriptionServer, work_off: WorkOff, settings: Settings
) -> None:
    answer_with(server)
    settings.SAGE_DAILY_TOKENS = 1
    usage = ModelUsage(user=agreed, purpose=UsagePurpose.VOICE, model="whisper-1", input_tokens=1)
    await in_database(usage.save)
    document = await upload(agreed)
    await work_off()
    [document] = await fresh(document)
    assert document.state == DocumentState.WAITING
    assert document.reason.startswith("Today’s budget is used up.")
    assert server.requests == []
    settings.SAGE_DAILY_TOKENS = None
    await in_database(resume_waiting)
    await work_off()
    assert len(server.requests) == 1
    assert (await fresh(document))[0].read_at is not None
