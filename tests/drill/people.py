"""A person with an open conversation page, which does what the page's scripts do (static/js/chat).

The page reconnects with growing waits, sends an unacknowledged message again under the same id, and fetches
the conversation when a snapshot comes while it waits for something (the real page does that only if it sees
that it is behind, so a page that is wrong about that isn't noticed). A refused message is sent anew.
"""

import asyncio
import json
import random
import re
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import uuid4

import aiohttp

from tests.drill.model import said_with, words_of
from tests.drill.site import LOST, Site

FAST_TRIES = 8
LONG_SECONDS = 1.0
REFUSED_SECONDS = 2.0
"""A person reads why, and presses the button once more."""
LAST_CODES = range(4400, 4500)
"""After one of these, a page doesn't reconnect (connection.js)."""
_WORD = re.compile(r"\b(d\d+)w\d+\b")
_SYNC = re.compile(r'data-event="sync" data-status="(\w*)"')
_ENDED = '<li class="turn"'
"""An answer that isn't being written any more."""
_LIVE = '<div hx-swap-oob="beforeend:#live-text">'


@dataclass(slots=True, kw_only=True)
class Said:
    """A message and what became of it. Times are of the loop's clock."""

    key: str
    session_id: str
    is_saving: bool
    said_at: float
    ids: list[str] = field(default_factory=list)
    """One, and another after each refusal; only the last can be accepted."""
    accepted_id: str = ""
    accepted_at: float | None = None
    first_word_at: float | None = None
    ended_at: float | None = None
    last_sign_at: float = 0.0
    """When the page last showed something of it; the moment it was said until then."""
    gaps: list[tuple[float, float]] = field(default_factory=list)
    """From when to when the page showed nothing new, if that took long."""
    markup: list[str] = field(default_factory=list)
    """What the page got of its answer beside the words."""
    sent: int = 0
    is_whole: bool = False
    """Whether the page has shown the whole answer at its end."""

    def note_sign(self) -> None:
        """Note that the page has shown something new."""
        now = asyncio.get_running_loop().time()
        since = self.last_sign_at or self.said_at
        if now - since > LONG_SECONDS:
            self.gaps.append((since, now))
        self.last_sign_at = now

    def end(self) -> None:
        """Note that the page has shown the end of its answer."""
        self.note_sign()
        self.ended_at = asyncio.get_running_loop().time()

    def waits(self, until: float) -> list[tuple[float, float]]:
        """Return all long gaps; the one of a message without an end lasts until then."""
        still = [] if self.ended_at is not None else [(self.last_sign_at or self.said_at, until)]
        return [*self.gaps, *still]

    @property
    def refusals(self) -> int:
        return len(self.ids) - 1


class Person:
    """One conversation, its page, and the messages of the person."""

    def __init__(self, site: Site, session_id: str, cookie: str, rng: random.Random) -> None:
        self.session_id = session_id
        self.cookie = cookie
        self.said: list[Said] = []
        self.close_codes: list[int] = []
        self.offline: list[tuple[float, float]] = []
        """From when to when its page had no socket, after its first one."""
        self.offline_since: float | None = None
        self._site = site
        self._rng = rng
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._is_running = False
        self._is_refused = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_connected(self) -> bool:
        return self._socket is not None

    @property
    def waiting(self) -> Said | None:
        """The message that isn't answered yet."""
        last = self.said[-1] if self.said else None
        return last if last is not None and last.ended_at is None else None

    @property
    def path(self) -> str:
        """The conversation's page."""
        return f"/chat/{self.session_id}/"

    async def live(self) -> None:
        """Keep the page open until cancelled."""
        tries = 0
        while True:
            try:
                async with self._site.socket(f"/ws/sessions/{self.session_id}/", self.cookie) as opened:
                    tries = 0
                    self._socket = opened
                    self._note_online()
                    await self._flush()
                    async for message in opened:
                        if message.type is aiohttp.WSMsgType.TEXT:
                            self._take(message.data)
                    self.close_codes.append(opened.close_code or 0)
            except LOST:
                pass
            if self._socket is not None:
                self._socket = None
                self.offline_since = asyncio.get_running_loop().time()
                if self.close_codes[-1:] and self.close_codes[-1] in LAST_CODES:
                    return
            tries += 1
            longest = 8.0 if tries > FAST_TRIES else 1.0
            await asyncio.sleep(longest * (0.4 + 0.6 * self._rng.random()))

    def _note_online(self) -> None:
        if self.offline_since is not None:
            self.offline.append((self.offline_since, asyncio.get_running_loop().time()))
            self.offline_since = None

    def without_socket(self, until: float) -> list[tuple[float, float]]:
        """Return from when to when its page had no socket; one that never came back, until then."""
        return [*self.offline, *([] if self.offline_since is None else [(self.offline_since, until)])]

    async def say(self, key: str, *, is_saving: bool) -> None:
        """Write a message; it waits if the page isn't connected."""
        now = asyncio.get_running_loop().time()
        self.said.append(Said(key=key, session_id=self.session_id, is_saving=is_saving, said_at=now))
        self._write_anew()
        await self._flush()

    async def close(self) -> None:
        """End what still runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _write_anew(self) -> None:
        said = self.said[-1]
        said.ids.append(f"{said.key}-{uuid4().hex[:8]}")

    async def _flush(self) -> None:
        said = self.waiting
        if said is None or said.accepted_at is not None or self._socket is None or self._is_refused:
            return
        said.sent += 1
        text = said_with(said.key, is_saving=said.is_saving)
        frame = {"type": "message", "text": text, "id": said.ids[-1]}
        with suppress(*LOST):  # then it is sent again on the next connection
            await self._socket.send_str(json.dumps(frame))

    def _take(self, frame: str) -> None:
        said = self.waiting
        if said is None:
            return
        if frame.startswith(_LIVE):
            if said.accepted_at is not None:
                said.note_sign()
            self._note_word(said)
            return
        said.markup.append(frame)
        self._note_words(said, frame)
        if f'data-client-id="{said.ids[-1]}"' in frame:
            self._is_running = True
            self._accept(said)
        if (sync := _SYNC.search(frame)) is not None:
            self._is_running = sync[1] == "running"
            if said.sent and not self._is_refused:
                self._follow(self._settle(said))
        elif 'data-event="done"' in frame and said.accepted_at is not None:
            said.end()
        elif 'data-event="error"' in frame and said.accepted_at is None and not self._is_refused:
            self._is_refused = True
            self._follow(self._send_anew())

    def _note_word(self, said: Said) -> None:
        if said.first_word_at is None and said.accepted_at is not None:
            said.first_word_at = asyncio.get_running_loop().time()

    def _note_words(self, said: Said, markup: str) -> None:
        if said.key not in markup:
            return
        shown = [match[0] for match in _WORD.finditer(markup) if match[1] == said.key]
        if shown:
            self._note_word(said)
        said.is_whole = said.is_whole or shown == words_of(said.key)

    def _accept(self, said: Said) -> None:
        if said.accepted_at is None:
            said.accepted_id = said.ids[-1]
            said.note_sign()
            said.accepted_at = said.last_sign_at

    async def _settle(self, said: Said) -> None:
        """After a snapshot: see in the conversation what the page has missed."""
        page = await self._site.get("page", self.path, self.cookie)
        _, found, after = page.partition(f'data-client-id="{said.ids[-1]}"')
        if not found:
            return
        self._accept(said)
        said.markup.append(after)
        self._note_words(said, after)
        if _ENDED in after and not self._is_running and said.ended_at is None:
            said.end()

    async def _send_anew(self) -> None:
        await asyncio.sleep(REFUSED_SECONDS)
        self._is_refused = False
        self._write_anew()
        await self._flush()

    def _follow(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
