"""The load: messages that people begin at random times, pages and files that they request meanwhile."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import aiohttp

from tests.drill.people import Person, Said
from tests.drill.site import Site

SAVING_SHARE = 0.1
PAGE_SECONDS, HEALTH_SECONDS, UPLOAD_SECONDS = 2.0, 0.25, 8.0
OPENED_AT_ONCE = 10
SETTLED_SECONDS = 120.0

LETTER = """\
Harbour Estates Ltd

Dear tenant, the rent of 12 Quay Street is EUR 24,000 a year from 1 May 2026. This is letter number {number}.
The next review is on 31 March 2027. Yours, the landlord.
"""


@dataclass(slots=True)
class Load:
    """People who write `rate` messages a second together (a Poisson process), and what they got."""

    site: Site
    people: Sequence[Person]
    rate: float
    rng: random.Random
    documents: list[int] = field(default_factory=list)
    """Those whose upload was answered."""
    nobody_free: int = 0
    _keys: "count[int]" = field(default_factory=lambda: count(1))

    @property
    def said(self) -> list[Said]:
        """All messages so far."""
        return [said for person in self.people for said in person.said]

    @property
    def are_all_connected(self) -> bool:
        return all(person.is_connected for person in self.people)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Load"]:
        """Open everybody's page, some at a time, and close them at last."""
        pages: list[asyncio.Task[None]] = []
        try:
            for start in range(0, len(self.people), OPENED_AT_ONCE):
                now = self.people[start : start + OPENED_AT_ONCE]
                pages += [asyncio.create_task(person.live()) for person in now]
                await until(lambda now=now: all(person.is_connected for person in now))  # type: ignore[misc]  # a default value hides its type
            yield self
        finally:
            for page in pages:
                page.cancel()
            await asyncio.gather(*pages, *(person.close() for person in self.people), return_exceptions=True)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let people write, read and upload during the block; then wait until all is answered."""
        every = [
            (self._write, lambda: self.rng.expovariate(self.rate)),
            (self._read_page, lambda: PAGE_SECONDS),
            (self._ask_health, lambda: HEALTH_SECONDS),
            (self._upload, lambda: UPLOAD_SECONDS),
        ]
        beats = [asyncio.create_task(self._repeat(act, wait)) for act, wait in every]
        try:
            yield
        finally:
            for beat in beats:
                beat.cancel()
            await asyncio.gather(*beats, return_exceptions=True)
        await self.settled()

    async def settled(self) -> None:
        """Wait until nobody waits for an answer, for a limited time: the audit finds what is missing."""
        await until(lambda: not any(person.waiting for person in self.people), SETTLED_SECONDS)

    async def _repeat(self, act: Callable[[], Awaitable[None]], wait: Callable[[], float]) -> None:
        """Begin `act` again and again, however long it takes."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        running: set[asyncio.Future[None]] = set()
        try:
            while True:
                due += wait()
                await asyncio.sleep(max(0.0, due - loop.time()))
                task = asyncio.ensure_future(act())
                running.add(task)
                task.add_done_callback(running.discard)
        finally:
            await asyncio.gather(*running, return_exceptions=True)

    async def _write(self) -> None:
        free = [person for person in self.people if person.waiting is None]
        if not free:
            self.nobody_free += 1
            return
        person = self.rng.choice(free)
        await person.say(f"d{next(self._keys)}", is_saving=self.rng.random() < SAVING_SHARE)

    async def _read_page(self) -> None:
        person = self.rng.choice(self.people)
        await self.site.get("page", person.path, person.cookie)

    async def _ask_health(self) -> None:
        await self.site.get("health", "/healthz")

    async def _upload(self) -> None:
        number = next(self._keys)
        form = aiohttp.FormData()
        text = LETTER.format(number=number).encode()
        form.add_field("files", text, filename=f"letter-{number}.txt", content_type="text/plain")
        person = self.rng.choice(self.people)
        status, answer = await self.site.post("upload", "/library/upload/", person.cookie, form)
        if status == 200:
            documents = json.loads(answer)["documents"]
            self.documents += [one["id"] for one in documents if one["state"] == "queued"]


async def until(is_so: Callable[[], bool], seconds: float = SETTLED_SECONDS) -> bool:
    """Wait until something is so, at most that long; return whether it is."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not is_so():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.05)  # nothing tells it
    return True
