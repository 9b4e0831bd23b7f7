"""Whole turns in this process: services, engine, tools and the practice model on a real socket."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.breaker import BreakerClient
from coaching.engine.budget import StopSignal
from coaching.events import TurnDone, TurnEvent
from coaching.jobs.briefs import write_briefs
from coaching.models import Capture, FileSource, Profile, UserFile, UserFileVersion
from coaching.practice.server import PracticeServer
from coaching.turns import answering
from coaching.turns.request import RequestKind, TurnRequest
from coaching.turns.start import start_turn
from sessions_app.database import in_database
from sessions_app.limits import RateLimit
from sessions_app.models import Message, Session
from sessions_app.turn_locks import TurnKey
from tests.stored_turns import open_conversation

NO_LIMIT = RateLimit(turns=10_000, seconds=60)
TYPES = {
    "sage/context.md": "sage-context",
    "sage/patterns.md": "sage-patterns",
    "life-map/_overview.md": "overview",
    "life-plan/current.md": "life-plan",
    "life-plan/weekly.md": "weekly-plan",
}
FOLDERS = {
    "life-map": "domain",
    "check-ins": "check-in",
    "daily-logs": "daily-log",
    "day-plans": "day-plan",
    "captures": "capture",
    "reflections": "reflection-prompt",
}


def put_file(user: User, path: str, body: str, **frontmatter: Any) -> UserFile:
    """Store a file, or its next version, in the database."""
    kind = TYPES.get(path) or FOLDERS[path.partition("/")[0]]
    file, _ = UserFile.unscoped.get_or_create(user=user, path=path, defaults={"file_type": kind})
    file.version_number += 1
    file.frontmatter = {"type": kind, **frontmatter}
    file.save()
    lines = "".join(f"{key}: {value}\n" for key, value in file.frontmatter.items())
    UserFileVersion.unscoped.create(
        file=file,
        number=file.version_number,
        content=f"---\n{lines}---\n\n{body}\n",
        size=len(body),
        sha256="0" * 64,
        storage_key=f"{user.pk}/{path}/{file.version_number}",
        source=FileSource.USER,
    )
    if kind == "capture":
        Capture.unscoped.get_or_create(user=user, file=file, defaults={"captured_at": timezone.now()})
    return file


@dataclass
class Talk:
    """A session for a test; `said` are Sage's answers."""

    practice: PracticeServer
    client: AnthropicClient
    brief_client: AnthropicClient
    session: Session
    said: list[str] = field(default_factory=list)

    async def say(self, text: str) -> TurnDone:
        """Send a message and have it answered."""
        return await self._answer("message", text)

    async def remember(self) -> int:
        """Write the session's brief, as its job would; return how many versions."""
        return await write_briefs(self.session.id, client=self.brief_client)

    async def edit(self, text: str) -> TurnDone:
        """Replace the last message."""
        return await self._answer("edit", text)

    async def _answer(self, kind: RequestKind, text: str) -> TurnDone:
        started = await in_database(
            start_turn,
            TurnRequest(kind=kind, user_id=self.session.user_id, session_id=self.session.id, text=text),
            owner="test",
            rate_limit=NO_LIMIT,
        )
        turn = started.opened.turn
        events: list[TurnEvent] = []
        done = await answering.answer(
            TurnKey(turn_id=turn.id, fence=turn.fence),
            client=BreakerClient(self.client),
            publish=events.append,
            stop=StopSignal(),
            setup=started.setup,
            on_setup=lambda _: None,
        )
        self.said.append(done.text)
        return done

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The requests that the model got."""
        return [request.body for request in self.practice.requests]

    async def newest_message(self) -> Message:
        """The user's newest message."""
        newest = self.session.messages.filter(role="user").order_by("-number")[:1]
        return await in_database(newest.get)


@pytest.fixture
async def practice() -> AsyncIterator[PracticeServer]:
    """A practice model without delay."""
    async with PracticeServer(keeps_bodies=True, tokens_per_second=0) as server:
        yield server


@pytest.fixture
async def client(practice: PracticeServer) -> AsyncIterator[AnthropicClient]:
    """The real client of it."""
    async with AnthropicClient("practice", practice.url) as client:
        yield client


@pytest.fixture
async def brief_practice() -> AsyncIterator[PracticeServer]:
    """A practice model for briefs, so that the turns' requests stay by themselves."""
    async with PracticeServer(keeps_bodies=True, tokens_per_second=0) as server:
        yield server


@pytest.fixture
async def brief_client(brief_practice: PracticeServer) -> AsyncIterator[AnthropicClient]:
    async with AnthropicClient("practice", brief_practice.url) as client:
        yield client


@pytest.fixture
def person(user: User) -> User:
    """Somebody in Lisbon with a profile."""
    Profile.unscoped.create(user=user, name="Ada", timezone="Europe/Lisbon")
    return user


@pytest.fixture
def talk(
    person: User, practice: PracticeServer, client: AnthropicClient, brief_client: AnthropicClient
) -> Talk:
    """An open conversation of the person."""
    session = open_conversation(person)
    return Talk(practice=practice, client=client, brief_client=brief_client, session=session)


def text_blocks(body: dict[str, Any]) -> list[str]:
    """Return all text blocks of a request's user messages, in order."""
    return [
        block["text"]
        for message in body["messages"]
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "text"
    ]
