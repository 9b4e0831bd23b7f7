"""Conversations and their readers: a person's client, which may lose its connection at any time.

A `Reader` obeys the frames as in the public contract: a sync replaces, text is appended, a boundary between
two texts is a blank line. When its socket breaks it reconnects, to any running process.

Over the usual length: a reader and its conversation depend on each other.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import websockets
from django.contrib.auth.models import User
from django.db import DatabaseError

from sessions_app.database import in_database
from sessions_app.models import OPEN_TURN_STATUSES, Message, Turn
from tests.faults.cluster import Cluster
from tests.faults.planned_model import Plan, PlannedRound
from tests.live_sage import session_cookie
from tests.stored_turns import open_conversation

WAIT_SECONDS = 75.0  # longer than any part of a turn can last
ASKED_SECONDS = 60.0
LOOK_SECONDS = 0.1  # between two queries, when there is no event to wait for
REFUSED_SECONDS = 0.2  # a refused client reads the reason before it retries
PROBE = "nonsense"
PROBED = "A frame's type must be"
_LOST = (OSError, websockets.WebSocketException, TimeoutError, EOFError)

Frame = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Ended:
    """The end of a turn part as a reader saw it. `is_whole`: it was connected throughout or got a sync."""

    turn_id: str
    stop_reason: str
    text: str
    notes: str
    errors: list[str]


class Reader:
    """A person's socket. `place` is the number of the process that it prefers."""

    def __init__(
        self, conversation: "Conversation", *, place: int = 0, port: int | None = None, returns: bool = True
    ) -> None:
        self.conversation = conversation
        self.place = place
        self.port = port
        self.returns = returns
        self.frames: list[Frame] = []
        self.text = ""
        self.notes = ""
        self.turn_id = ""
        self.status = ""
        self.errors: list[str] = []
        self.refusals: list[str] = []
        self.ended: dict[str, Ended] = {}
        self.dones: list[str] = []
        self.acknowledged: set[str] = set()
        self.continued = 0  # messages that went into another conversation, since this one had ended
        self.pending: Frame | None = None
        self.answer: tuple[str, str] | None = None  # the newest one: its turn and its text
        self._is_over = False
        self._is_break_due = False
        self.attached = self.shown = 0
        self.probed = 0
        self.close_codes: list[int | None] = []
        self._connection: websockets.ClientConnection | None = None
        self._changed = conversation.changed  # of all its readers: a condition may involve several
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> "Reader":
        """Connect and wait for the first frame."""
        self.conversation.cluster.cleanups.append(self.close)
        self.go_back()
        await self.until(lambda: self.attached > 0)
        return self

    async def close(self) -> None:
        """Close for good."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def drop(self) -> None:
        """Close the socket normally; the reader reconnects by itself if it `returns`."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def go_back(self) -> None:
        """Come back after the connection was lost."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"reader of {self.conversation.key}")

    @property
    def is_connected(self) -> bool:
        """Whether its socket has received the current state; before that, its data is outdated."""
        return self._connection is not None

    def pending_id(self) -> str:
        """Return the id of the pending call, as this reader sees it."""
        shown = next(iter(self.pending.values())) if self.pending else {}
        return str(shown.get("toolUseId", ""))

    def knows_the_end(self) -> bool:
        """Whether it is connected and knows that nothing is running. A question may wait for its answer."""
        return self.is_connected and self.status != "running"

    async def send(self, **frame: object) -> bool:
        """Send a frame; return whether there was a socket to send it through."""
        if self._connection is None:
            return False
        try:
            await self._connection.send(json.dumps(frame))
        except _LOST:
            return False
        return True

    async def is_done_with(self) -> bool:
        """Wait until all that it has sent is handled; return whether it stayed connected.

        A socket's frames are handled in order, and so are their responses.
        """
        attached, probed = self.attached, self.probed
        if not await self.send(type=PROBE):
            return False
        await self.until(
            lambda: self.probed > probed or self.attached > attached or not self.is_connected, ASKED_SECONDS
        )
        return self.probed > probed

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        """Wait for a condition, checked after every frame."""
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(condition)
        except TimeoutError:
            raise AssertionError(
                f"{self.conversation.key} waited {seconds} s in vain; last frames {self.frames[-12:]}"
            ) from None

    async def _run(self) -> None:
        while True:
            with suppress(*_LOST):
                await self._attach()
            self._connection = None
            async with self._changed:
                self._changed.notify_all()
            if not self.returns:
                return
            await asyncio.sleep(0.05)

    async def _attach(self) -> None:
        cluster = self.conversation.cluster
        up = cluster.up()
        if not up:
            return
        place = self.place if self.place in up else up[0]
        port = self.port or cluster.process(place).port
        async with websockets.connect(
            f"ws://localhost:{port}/ws/sessions/{self.conversation.session_id}/",
            origin=websockets.Origin(f"http://localhost:{port}"),
            additional_headers={"Cookie": self.conversation.cookie},
            subprotocols=[websockets.Subprotocol("sage.json")],
            max_size=None,
            proxy=None,
            open_timeout=20,
            close_timeout=2,
            ping_interval=None,
        ) as connection:
            is_first = True
            try:
                async for text in connection:
                    frame = json.loads(text)
                    async with self._changed:
                        if is_first:
                            assert "sync" in frame, frame
                            self._connection = connection
                            self.attached += 1
                            is_first = False
                        self._apply(frame)
                        self._changed.notify_all()
            finally:
                self.close_codes.append(connection.close_code)

    def _begin_again(self, frame: Frame) -> None:
        if not frame.keys().isdisjoint(("sync", "message", "withdrawn", "text", "note", "toolCall")):
            self.answer = None
        if self._is_over and not frame.keys().isdisjoint(("text", "note", "toolCall")):
            # A turn without its own user message: a retry, or continuing.
            self.text, self.notes, self._is_over, self.status = "", "", False, "running"
            self._is_break_due = False
        elif "sync" in frame or "message" in frame:
            self._is_over = False
        if "showOptions" in frame or "showPulseCheck" in frame:
            self.pending = frame
        elif "answered" in frame:
            self.pending = None

    def _apply(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._begin_again(frame)
        if "sync" in frame:
            self.shown += 1
            sync = frame["sync"]
            self.status = sync["status"]
            self.text, self.turn_id = sync["text"], sync["turn"] or ""
            self._is_break_due = False
            self.notes = "\n\n".join(sync["notes"])
            self.pending = sync["pending"][0] if sync["pending"] else None
        elif "message" in frame:
            self.acknowledged.add(frame["message"]["id"])
            self._is_break_due = False
            self.text, self.notes, self.errors, self.status = "", "", [], "running"
        elif "withdrawn" in frame:
            if self._is_over:  # another answer follows, or another choice
                self.status = "running"
            self.text, self.notes, self.errors = "", "", []
            self._is_over = self._is_break_due = False
        elif "chosen" in frame:
            self.turn_id, self.text = frame["chosen"]["turn"], frame["chosen"]["text"]
            self.answer = (self.turn_id, self.text)
            self.status, self._is_over = "idle", True
        else:
            self._apply_progress(frame)

    def _apply_progress(self, frame: Frame) -> None:
        if "text" in frame:
            self.text += ("\n\n" if self.text and self._is_break_due else "") + frame["text"]
            self._is_break_due = False
        elif "note" in frame:
            self.notes += frame["note"]
        elif "toolCall" in frame:
            self.notes += " "  # notes of the next round are separate
        elif "roundBoundary" in frame:
            self._is_break_due = True
        elif "continued" in frame:
            self.continued += 1
        elif PROBED in frame.get("error", ""):
            self.probed += 1
        elif "error" in frame:
            self.errors.append(frame["error"])
            self.refusals.append(frame["error"])
        elif "done" in frame:
            self._end(frame["done"])

    def _end(self, done: Frame) -> None:
        if self._is_over and done["turn"] != self.turn_id:
            self.text, self.notes = "", ""  # it went on after a hidden message, and failed before a word
        self.dones.append(done["turn"])
        self.ended[done["turn"]] = Ended(
            turn_id=done["turn"],
            stop_reason=done["stopReason"],
            text=self.text,
            notes=self.notes,
            errors=[*self.errors],
        )
        if done["stopReason"] != "tool_use":
            self.answer = (done["turn"], self.text)
        self.status, self.turn_id, self.errors = "idle", done["turn"], []
        self._is_over = True


@dataclass(slots=True, kw_only=True)
class Conversation:
    """A person with a session, and what was acknowledged to them.

    `given` are the answers that may be stored, by call; `unheard` are calls whose answer may arrive late,
    because its sender lost the connection. `words_before` are the words of the history that each plan's
    message was sent after, where nothing else ran.
    """

    cluster: Cluster
    key: str
    user_id: int
    session_id: UUID
    cookie: str
    plans: list[Plan] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    given: dict[str, list[object]] = field(default_factory=dict)
    unheard: set[str] = field(default_factory=set)
    words_before: dict[str, list[str]] = field(default_factory=dict)
    readers: list[Reader] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def reader(self) -> Reader:
        """The reader that speaks."""
        return self.readers[0]

    def plan(self, *rounds: PlannedRound) -> Plan:
        """Plan the answer to this person's next message."""
        plan = Plan(key=f"{self.key}t{len(self.plans) + 1}", rounds=rounds)
        self.plans.append(plan)
        return self.cluster.model.add(plan)

    async def read(self, **options: Any) -> Reader:
        """Open another reader."""
        reader = Reader(self, **options)
        self.readers.append(reader)
        return await reader.open()

    async def say(self, plan: Plan, *, reader: Reader | None = None, kind: str = "message") -> str:
        """Send a plan's message under the same id until it is acknowledged; return the id.

        With the kind `edit` it replaces the last message.
        """
        speaker = reader or self.reader
        client_id = f"{plan.key}-{uuid4().hex[:8]}"
        times, continued = 0, speaker.continued
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while True:
                    await speaker.until(lambda: speaker.is_connected)
                    # It may have arrived before the connection was lost: then the snapshot shows it, and so
                    # does the one that answers a repeated message.
                    if times and await in_database(self._is_stored, client_id):
                        break
                    times += 1
                    if await self._sent(speaker, kind, plan.text, client_id):
                        break
        except TimeoutError:
            told = f"{kind} {client_id} was sent {times} times in vain"
            raise AssertionError(f"{told}; last frames {speaker.frames[-12:]}") from None
        if speaker.continued == continued:
            self.sent.append(client_id)
        return client_id

    async def say_at_the_end(self, plan: Plan, reader: Reader) -> str:
        """Send a plan's message as a tab does in which it was queued: when it sees that nothing runs."""
        await reader.until(reader.knows_the_end)
        return await self.say(plan, reader=reader)

    async def _sent(self, speaker: Reader, kind: str, text: str, client_id: str) -> bool:
        before, refused, continued = speaker.shown, len(speaker.refusals), speaker.continued
        await speaker.send(type=kind, text=text, id=client_id)
        await speaker.until(
            lambda: (
                client_id in speaker.acknowledged
                or speaker.shown > before
                or speaker.continued > continued
                or len(speaker.refusals) > refused
                or not speaker.is_connected
            )
        )
        if (
            client_id in speaker.acknowledged
            or speaker.continued > continued
            or await in_database(self._is_stored, client_id)
        ):
            return True
        if len(speaker.refusals) > refused:
            await asyncio.sleep(REFUSED_SECONDS)
        return False

    def _is_stored(self, client_id: str) -> bool:
        try:
            return Message.unscoped.filter(session_id=self.session_id, client_id=client_id).exists()
        except DatabaseError:  # lost on purpose: it will be acknowledged when it is sent again
            return False

    async def news(self) -> None:
        """Wait until one of its readers gets something, or for the poll interval."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS), self.changed:
                await self.changed.wait()

    async def close(self) -> None:
        """Close all its readers."""
        await asyncio.gather(*(reader.close() for reader in self.readers))


async def open_conversations(cluster: Cluster, count: int) -> list[Conversation]:
    """Make that many people, each with an open conversation."""
    return [await in_database(_open_conversation, cluster, cluster.next_key()) for _ in range(count)]


def _open_conversation(cluster: Cluster, key: str) -> Conversation:
    user = User.objects.create(username=f"{key}-{uuid4().hex[:8]}", password="!")
    session = open_conversation(user)
    return Conversation(
        cluster=cluster, key=key, user_id=user.pk, session_id=session.id, cookie=session_cookie(user)
    )


def open_turns(sessions: list[UUID]) -> dict[UUID, Turn]:
    """Return the open turns of these sessions."""
    turns = Turn.unscoped.filter(session_id__in=sessions, status__in=OPEN_TURN_STATUSES)
    return {turn.session_id: turn for turn in turns}


async def until_closed(conversations: list[Conversation], seconds: float) -> dict[str, float]:
    """Wait until no turn is open; return when each conversation's was first seen closed (loop time).

    Conversations that didn't end within `seconds` are missing in the result.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    closed: dict[str, float] = {}
    while loop.time() < deadline and len(closed) < len(conversations):
        still = await in_database(open_turns, [item.session_id for item in conversations])
        for item in conversations:
            if item.session_id not in still:
                closed.setdefault(item.key, loop.time())
        if len(closed) < len(conversations):
            await asyncio.sleep(LOOK_SECONDS)
    return closed


def last_turn(session_id: UUID) -> Turn:
    """Return the session's newest turn."""
    return Turn.unscoped.filter(session_id=session_id).order_by("-started_at")[0]
