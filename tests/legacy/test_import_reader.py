"""An export is read by a process that can be killed: a hostile file ends its import for good."""

import io
import json
import os
import signal
import struct
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import psutil
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from coaching.job_queue.names import IMPORT_JOB
from coaching.job_queue.queue import is_queued
from coaching.legacy import reading, watching
from coaching.legacy.importers import reader, source, wire
from coaching.legacy.importers.assembly import Assembly
from coaching.legacy.importers.bounded import MAX_ITEMS, TOO_LARGE
from coaching.legacy.importers.formats import ADAPTERS, UNKNOWN
from coaching.legacy.importers.left import NOT_IN_EXPORT, LeftBehind
from coaching.legacy.importers.sage import Domain
from coaching.legacy.importers.things import FoundReference
from coaching.legacy.importers.wire import Misread, decode, encode
from coaching.legacy.imports import job_steps, queue_upload
from coaching.models import Import, ImportState, LifeDomain
from coaching.sandbox.host import ProcessHost
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.jobs.conftest import WorkOff, jobs_named
from tests.legacy.exports import chatgpt_conversation
from tests.patience import patience

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]

CONVERSATION = json.dumps(chatgpt_conversation()).encode()
STUCK = b"[[" + b"[]," * (8 << 20)
"""Goes through seconds of brackets without finishing an item."""


def zipped(data: bytes, *, others: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", data)
        for number in range(others):
            archive.writestr(f"a name that takes some memory in each entry of a directory {number}", b"")
    return out.getvalue()


def with_copies(archive: bytes, copies: int) -> bytes:
    """Return a ZIP whose directory names its last member so many times more."""
    ending = archive[-22:]
    length, start = struct.unpack("<LL", ending[12:20])
    directory = archive[start : start + length]
    more = directory[directory.rindex(b"PK\x01\x02") :] * copies
    sizes = struct.pack("<LL", length + len(more), start)
    return archive[:start] + directory + more + ending[:12] + sizes + ending[20:]


def queued(user: User, data: bytes) -> Import:
    return queue_upload(user_id=user.pk, name="export", file=SimpleUploadedFile("export", data))


def run(row: Import) -> Import:
    for _ in job_steps(row.pk):
        pass
    row.refresh_from_db()
    return row


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessHost]:
    """Readers with less memory than usual, apart from those of other tests and as urgent."""
    limits = replace(reading._host.limits, memory_bytes=160 << 20, niceness=0)
    made = ProcessHost("coaching.legacy.importers.reader", limits)
    monkeypatch.setattr(reading, "_host", made)
    yield made
    made.close()


def readers() -> list[int]:
    """Return the readers of this process that live, without the process that they are forked from."""
    ours = psutil.Process().children(recursive=True)
    named = [each for each in ours if "coaching.legacy.importers.reader" in _command(each)]
    return [each.pid for each in named if each.ppid() != os.getpid()]


def _command(process: psutil.Process) -> Sequence[str]:
    try:
        return process.cmdline() if process.status() != psutil.STATUS_ZOMBIE else ()
    except psutil.NoSuchProcess:
        return ()


def until_none_is_left() -> None:
    deadline = time.monotonic() + 5 * patience()
    while readers():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: b'[{"a":"' + b"x" * (5 << 20) + b'"}]', None),
        (lambda: b"[" + b"9" * (5 << 20) + b"]", None),
        (lambda: b'["' + b"\\\\" * (3 << 20) + b'"]', None),
        (lambda: b"[" + b"[" * (2 << 20), source.NOT_JSON),
        (lambda: b"[" + b" " * (5 << 20), source.NOT_JSON),
        pytest.param(
            lambda: b"[" + CONVERSATION + b",0" * MAX_ITEMS + b"]", source.TOO_MUCH, marks=pytest.mark.slow
        ),
        (lambda: zipped(b'[{"a":"' + b"0" * (12 << 20) + b'"}]'), source.BOMB),
        (lambda: zipped(b"[]", others=50_001), source.TOO_MANY_MEMBERS),
    ],
)
def test_a_hostile_file_ends_its_import_with_a_sentence(
    make: Callable[[], bytes], sentence: str | None, user: User
) -> None:
    row = run(queued(user, make()))
    assert (row.state, row.storage_key) == (ImportState.FAILED, "")
    assert row.failure == (sentence or UNKNOWN)


def test_what_is_too_large_is_left_out_and_the_rest_imported(user: User) -> None:
    large = b'{"mapping": {}, "title": "' + b"x" * (5 << 20) + b'"}'
    row = run(queued(user, b"[" + CONVERSATION + b"," + large + b"]"))
    assert row.state == ImportState.FINISHED
    assert (row.counts["sessions"], row.counts["unread"]) == (1, 1)
    assert row.problems == [{"where": "line 1, [1]", "text": TOO_LARGE.reason}]


async def test_a_reader_that_finishes_nothing_is_killed_and_never_tried_again(
    user: User, work_off: WorkOff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_ITEM_CPU_SECONDS", 0.2)
    monkeypatch.setattr(reading, "STEP_SECONDS", 0.05)
    row = await in_database(queued, user, STUCK)
    await work_off()
    await in_database(row.refresh_from_db)
    assert (row.state, row.failure, row.storage_key) == (ImportState.FAILED, reading.TOO_COSTLY, "")
    (job,) = await jobs_named(IMPORT_JOB)
    assert (job.status, job.attempts) == ("succeeded", 1)
    assert not await in_database(is_queued, f"import:{row.pk}")
    until_none_is_left()


@pytest.mark.slow
def test_time_that_was_spent_on_an_item_counts_after_a_restart(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "NOTED_SECONDS", 0.1)
    monkeypatch.setattr(reading, "STEP_SECONDS", 0.05)
    row = queued(user, STUCK)
    steps = job_steps(row.pk)
    while not row.stuck_seconds:
        next(steps)
        row.refresh_from_db()
    steps.close()  # the worker stops
    assert row.state == ImportState.RUNNING
    spent = row.stuck_seconds
    monkeypatch.setattr(reading, "MAX_ITEM_CPU_SECONDS", spent + 0.3)
    row = run(row)
    assert row.failure == reading.TOO_COSTLY
    assert spent <= row.stuck_seconds <= spent + 0.3


@pytest.mark.slow
def test_a_reader_that_needs_too_much_memory_ends_the_import(user: User, host: ProcessHost) -> None:
    sound = zipped(b"[" + CONVERSATION + b"]", others=1)
    assert run(queued(user, sound)).state == ImportState.FINISHED
    # Each name in a ZIP's directory takes memory.
    row = run(queued(user, with_copies(sound, 200_000)))
    assert (row.state, row.failure) == (ImportState.FAILED, reading.TOO_COSTLY)


def test_a_reader_that_is_killed_ends_the_import(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "STEP_SECONDS", 0.05)
    row = queued(user, STUCK)
    steps = job_steps(row.pk)
    for _ in range(3):
        next(steps)
    os.kill(max(readers()), signal.SIGKILL)
    for _ in steps:
        pass
    row.refresh_from_db()
    assert (row.state, row.failure) == (ImportState.FAILED, reading.CRASHED)


def test_no_step_waits_for_the_reader(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are what a worker's stop waits for."""
    monkeypatch.setattr(reading, "STEP_SECONDS", 0.05)
    steps = job_steps(queued(user, STUCK).pk)
    assert [next(steps) for _ in range(5)] == [None] * 5
    assert readers()
    steps.close()
    until_none_is_left()


def test_a_sound_import_goes_on_after_its_worker_is_lost(user: User) -> None:
    many = [chatgpt_conversation() | {"conversation_id": f"c-{n}", "id": f"c-{n}"} for n in range(120)]
    row = queued(user, json.dumps(many).encode())
    steps = job_steps(row.pk)
    while not Session.of(user.pk).exists():
        next(steps)
    steps.close()
    assert 0 < Session.of(user.pk).filter(archived_at=None).count() < 120
    row = run(row)
    assert (row.state, row.counts["sessions"]) == (ImportState.FINISHED, 120)
    assert Session.of(user.pk).filter(archived_at=None).count() == 120


@pytest.mark.parametrize(
    "sent",
    [
        b"", b"[]", b"{", b'{"items": -1}', b'{"items": 1, "read_bytes": 0, "json_bytes": 0, "found": [{}]}',
        encode({"items": 0, "read_bytes": 0, "json_bytes": 0, "found": [{"kind": "message"}]}),
        encode({"items": 0, "read_bytes": 0, "json_bytes": 0, "extra": 1}),
        b"[" * 100_000,
    ],
)  # fmt: skip
def test_nonsense_of_a_reader_is_refused(sent: bytes) -> None:
    with pytest.raises(Misread):
        decode(sent)


def test_parts_of_conversations_out_of_order_are_refused() -> None:
    entry: dict[str, Any] = {"imported_id": "m", "role": "user", "text": "x"}
    entry |= {"created_at": None, "metadata": {}}
    progress = {"items": 0, "read_bytes": 0, "json_bytes": 0}
    for found in ([{"kind": "end"}], [entry | {"kind": "message"}]):
        with pytest.raises(Misread):
            list(Assembly(9).take(decode(encode({**progress, "found": found})).found))


def test_what_a_reader_sends_is_what_it_found() -> None:
    data = b"[" + CONVERSATION + b', 5, {"mapping": {}, "id": "\\ud83d"}]'
    assembly, head = Assembly(9), reader.request(read_as="chatgpt")
    frames = [decode(sent) for sent in reader.answers(head, io.BytesIO(data))]
    found = [thing for frame in frames for thing in assembly.take(frame.found)]
    told = source.open_source(io.BytesIO(data))
    expected = [thing for item in told.items() for thing in ADAPTERS["chatgpt"].read(item)]
    left = [
        LeftBehind(kind="tool", name="web"),
        LeftBehind(kind="picture", name="x", where="Growing artichokes", why=NOT_IN_EXPORT),
    ]
    beside = (LeftBehind, FoundReference)
    expected = [thing for thing in expected if not isinstance(thing, beside)]
    assert found[:3] == expected[:3]
    assert sorted(map(str, found[4:])) == sorted(map(str, left))
    assert found[3].imported_id == "\ufffd"  # type: ignore[union-attr]
    assert frames[-1].is_last


def test_no_frame_is_too_large_however_many_files_a_zip_has_and_however_long_their_ids_are() -> None:
    conversation = chatgpt_conversation()
    files = {f"file-Long{number:04}": b"x" for number in range(60)}
    node: dict[str, Any] = {"parent": None, "children": []}
    conversation["mapping"] = {
        key: node
        | {"message": {
            "id": key, "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Look."]},
            "metadata": {"attachments": [{"id": file, "name": "a.txt"} for file in files]},
        }}
        for key in (f"{number:0500}" for number in range(50))
    }  # fmt: skip
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("conversations.json", json.dumps([conversation]))
        for name, data in files.items():
            archive.writestr(f"{name}.txt", data)
    asked = reader.request(read_as="chatgpt", most_bytes=9)
    frames = list(reader.answers(asked, out))
    assert sum(map(len, frames)) > 60 * 50 * 500
    assert max(map(len, frames)) < 4 * wire.FRAME_BYTES


def test_problems_are_sent_as_many_as_are_listed_and_counted(user: User) -> None:
    row = run(queued(user, b"[" + CONVERSATION + b",0" * 5_000 + b"]"))
    assert (row.state, row.problem_count, len(row.problems)) == (ImportState.FINISHED, 5_000, 200)
    assert row.counts["unread"] == 5_000


def test_a_refusal_in_words_of_its_own_is_a_crash(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_REFUSALS", set())
    assert run(queued(user, b"%PDF-1.7")).failure == reading.CRASHED


def test_the_readers_domains_are_the_life_domains() -> None:
    assert set(Domain.__args__) == set(LifeDomain.values)  # type: ignore[attr-defined]
    assert reading._host.limits.answer_bytes == wire.MAX_FRAME_BYTES
