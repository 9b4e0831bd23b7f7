"""R10 and R16: the cost of readers that don't read, and of many idle ones, for everybody else.

A delta's delay is how late it came relative to a steady rate, minus the fastest of its answer.
"""

import asyncio
import base64
import os
import socket
from collections.abc import Sequence
from typing import Any

import psutil

from coaching.practice.api.tokens import CHARACTERS_PER_TOKEN
from sessions_app.database import in_database
from tests.faults.auditor import audit
from tests.faults.cluster import Cluster
from tests.faults.people import Conversation, Frame, Reader, open_conversations, until_closed
from tests.faults.planned_model import PlannedRound
from tests.faults.report import Report
from tests.stored_briefs import cover_all

PEOPLE, SILENT, IDLE, STREAMING = 20, 5, 200, 20
DELTAS_PER_SECOND = 50.0
ANSWER_SECONDS = 30.0
FLOOD_PER_SECOND = 1500.0
MAX_MEGABYTES_EACH = 2.0
MAX_ADDED_SECONDS = 0.05
P95_SECONDS, P99_SECONDS = 0.1, 0.3
MEMORY_SLOPE = 1.05
CHARACTERS_PER_WORD = 14
WARM_UP_ANSWERS = 12
"""Until the window is full: a request grows with its conversation, and so does what a turn holds."""
CLOSED_SECONDS = 75.0
MEGABYTE = 1 << 20


class TimedReader(Reader):
    """A reader that records when how many characters had arrived."""

    def __init__(self, conversation: Conversation, **options: Any) -> None:
        super().__init__(conversation, **options)
        self.times: list[tuple[int, float]] = []

    def _apply(self, frame: Frame) -> None:
        super()._apply(frame)
        if "message" in frame:
            self.times = []
        elif "text" in frame:
            self.times.append((len(self.text), asyncio.get_running_loop().time()))

    def delays(self) -> list[float]:
        """Return each delta's delay in seconds."""
        late = [at - count / CHARACTERS_PER_TOKEN / DELTAS_PER_SECOND for count, at in self.times]
        return [value - min(late) for value in late]


async def run_r10(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Stream to people while others request floods and read nothing. A point is an answer to a reader."""
    report = Report(fault="R10", seed=seed)
    async with cluster.opened():
        people = await _timed(cluster, PEOPLE)
        while report.points < points:
            # First the same floods with readers: only the additional delay of silent ones counts.
            quiet = await _flooded_answers(cluster, people, report, is_silent=False)
            before = _memory(cluster)
            loud = await _flooded_answers(cluster, people, report, is_silent=True)
            grown = (_memory(cluster) - before) / MEGABYTE / SILENT
            added = _percentile(loud, 95) - _percentile(quiet, 95)
            report.points += len(people)
            report.seconds.append(added)
            report.count("MB for each silent one", round(grown))
            report.expect(grown <= MAX_MEGABYTES_EACH, f"R10 a silent socket took {grown:.1f} MB")
            is_undisturbed = added <= MAX_ADDED_SECONDS * cluster.patience
            report.expect(is_undisturbed, f"R10 others' p95 grew by {added * 1000:.0f} ms")
        report.violations += await audit(cluster, people)
        await asyncio.gather(*(item.close() for item in people))
    return report


async def run_r16(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Keep 200 idle sockets and stream to 20 people. A point is an answer: 1,200 take half an hour."""
    report = Report(fault="R16", seed=seed)
    async with cluster.opened():
        idle = await open_conversations(cluster, IDLE)
        for item in idle:
            await item.read(returns=False)
        people = await _timed(cluster, STREAMING)
        for _ in range(WARM_UP_ANSWERS):
            await _answers(people)
            await in_database(cover_all)
        before = _memory(cluster)
        while report.points < points:
            delays = await _answers(people)
            await in_database(cover_all)  # as a worker would, or the windows would grow all the time
            report.points += len(people)
            p95, p99 = _percentile(delays, 95), _percentile(delays, 99)
            report.seconds.append(p99)
            report.expect(p95 <= P95_SECONDS * cluster.patience, f"R16 p95 {p95 * 1000:.0f} ms")
            report.expect(p99 <= P99_SECONDS * cluster.patience, f"R16 p99 {p99 * 1000:.0f} ms")
        slope = _memory(cluster) / before
        report.count("% of memory at the start", round(100 * slope))
        report.expect(slope <= MEMORY_SLOPE, f"R16 memory grew to {slope:.2f} of what it was")
        report.expect(all(item.reader.is_connected for item in idle), "R16 an idle socket was lost")
        report.violations += await audit(cluster, people)
        await asyncio.gather(*(item.close() for item in (*people, *idle)))
    return report


async def _timed(cluster: Cluster, count: int) -> list[Conversation]:
    people = await open_conversations(cluster, count)
    for item in people:
        reader = TimedReader(item)
        item.readers.append(reader)
        await reader.open()
    return people


async def _flooded_answers(
    cluster: Cluster, people: Sequence[Conversation], report: Report, *, is_silent: bool
) -> list[float]:
    """Return the delays of all answers while five conversations are flooded."""
    flooded = await open_conversations(cluster, SILENT)
    silent = [await _open_silent_socket(cluster, item) for item in flooded] if is_silent else []
    for item in flooded:
        await _flood(item, is_silent=is_silent)
    delays = await _answers(people)
    for writer in silent:
        writer.transport.abort()
    closed = await until_closed([*people, *flooded], CLOSED_SECONDS)
    report.expect(len(closed) == len(people) + SILENT, "R10 a turn didn't come to its end")
    await asyncio.gather(*(item.close() for item in flooded))
    return delays


async def _answers(people: Sequence[Conversation]) -> list[float]:
    """Let everybody ask at once; return all delays of their answers."""
    words = int(DELTAS_PER_SECOND * ANSWER_SECONDS * CHARACTERS_PER_TOKEN / CHARACTERS_PER_WORD)
    planned = PlannedRound(words=words, tokens_per_second=DELTAS_PER_SECOND)
    before = [len(item.reader.dones) for item in people]
    await asyncio.gather(*(item.say(item.plan(planned)) for item in people))
    for item, count in zip(people, before, strict=True):
        await item.reader.until(lambda item=item, count=count: len(item.reader.dones) > count)  # type: ignore[misc]  # a default value hides its type
    return [
        delay for item in people if isinstance(item.reader, TimedReader) for delay in item.reader.delays()
    ]


async def _flood(conversation: Conversation, *, is_silent: bool) -> None:
    """Start a long, fast answer; its reader stays, or leaves if a silent socket remains."""
    reader = await conversation.read(returns=False)
    words = int(FLOOD_PER_SECOND * ANSWER_SECONDS * CHARACTERS_PER_TOKEN / CHARACTERS_PER_WORD)
    await conversation.say(conversation.plan(PlannedRound(words=words, tokens_per_second=FLOOD_PER_SECOND)))
    if is_silent:
        await reader.drop()


async def _open_silent_socket(cluster: Cluster, conversation: Conversation) -> asyncio.StreamWriter:
    """Open a socket of this session that reads hardly a byte after the handshake."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.setblocking(False)
    port = cluster.process(0).port
    await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=plain, limit=1024)
    lines = (
        f"GET /ws/sessions/{conversation.session_id}/ HTTP/1.1",
        f"Host: localhost:{port}",
        f"Origin: http://localhost:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Protocol: sage.json",
        f"Cookie: {conversation.cookie}",
    )
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    status = await reader.readline()
    assert b" 101 " in status, status
    return writer


def _memory(cluster: Cluster) -> float:
    return float(psutil.Process(cluster.process(0).popen.pid).memory_info().rss)


def _percentile(values: Sequence[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]
