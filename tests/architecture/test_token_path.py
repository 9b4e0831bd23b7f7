"""The modules that a token passes from the model's bytes to the socket are those in docs/architecture.md."""

import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore

from coaching.live.runner import Runner
from coaching.practice.script import Hold, Reply, Text
from coaching.practice.server import PracticeServer
from coaching.sockets import consumers
from coaching.turns.request import TurnRequest
from sage.sign_in import OneCheckBackend
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.asked_model import asked_model
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[2]
PRODUCT = tuple(str(ROOT / package) for package in ("coaching", "sessions_app", "sage"))
MODEL = str(ROOT / "coaching/practice")
TOKENS = ("Schnirkelschnecke", "Weinbergschnecke", "Posthornschnecke")
"""One a turn: what a timer stores of a slow turn holds one of them, and only what holds each is its path."""
MAX_MODULES = 6


@pytest.fixture
async def practice() -> AsyncIterator[PracticeServer]:
    """The model that this process asks."""
    async with asked_model() as server:
        yield server


@pytest.fixture
async def runner(practice: PracticeServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Runner]:
    """The runner of the consumer, made for this test's event loop."""
    runner = Runner()
    monkeypatch.setattr(consumers, "get_runner", lambda: runner)
    yield runner
    await runner.drain(2)


@contextmanager
def modules_that_hold(token: str) -> Iterator[set[str]]:
    """Collect the modules of ours in which a function of this thread is given, keeps or returns the token."""
    found: set[str] = set()

    def look(frame: FrameType, event: str, returned: object) -> None:
        name = frame.f_code.co_filename
        if event in ("call", "return") and name.startswith(PRODUCT) and not name.startswith(MODEL):
            held = [*frame.f_locals.values(), returned if event == "return" else None]
            if any(holds(value, token) for value in held):
                found.add(str(Path(name).relative_to(ROOT)))

    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)


def holds(value: object, token: str) -> bool:
    """Whether the token is in a text, bytes, a collection or a plain value."""
    if isinstance(value, str):
        return token in value
    if isinstance(value, bytes):
        return token.encode() in value
    if isinstance(value, list | tuple):
        return any(holds(item, token) for item in value)
    if isinstance(value, dict):
        return any(holds(item, token) for item in value.values())
    if is_dataclass(value) and not isinstance(value, type):
        texts = [getattr(value, field.name) for field in fields(value)]
        return any(isinstance(text, str) and token in text for text in texts)
    return False


def listed_modules(rendering: str) -> set[str]:
    """Return the modules in the document's table; its last row names one for each rendering."""
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| (\d) \| (.+?) \|", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) <= MAX_MODULES
    *before, last = [re.findall(r"`([\w/]+\.py)`", names) for _, names in rows]
    assert [len(names) for names in before] == [1] * len(before)
    return {name for names in before for name in names} | {name for name in last if rendering in name}


@pytest.mark.parametrize(("subprotocols", "rendering"), [(["sage.json"], "frames"), ([], "fragments")])
async def test_a_token_passes_the_listed_modules_and_no_other(
    user: User, runner: Runner, practice: PracticeServer, subprotocols: list[str], rendering: str
) -> None:
    session = await in_database(open_conversation, user)
    signed_in = await in_database(OneCheckBackend().get_user, user.pk)
    socket = socket_of(signed_in, session, subprotocols)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(60))["type"] == "websocket.accept"
    passed = []
    for token in TOKENS:
        practice.script([Reply((Text(token), Hold(token), Text(" is a snail.")))])
        with modules_that_hold(token) as found:
            request = TurnRequest(
                kind="message", user_id=user.pk, session_id=session.id, text="Hi", client_id=token[:4]
            )
            await runner.open_turn(request)
            while token not in (await socket.receive_output(60)).get("text", ""):
                pass
        practice.release(token)
        await runner.wait_until_idle(session.id, seconds=60)
        passed.append(found)
    await socket.send_input({"type": "websocket.disconnect", "code": 1000})
    await socket.wait(60)
    assert set.intersection(*passed) == listed_modules(rendering)


def socket_of(user: User | None, session: Session, subprotocols: list[str]) -> Any:
    """Run a consumer as the server does; asgiref's communicator has no types."""
    scope = {
        "type": "websocket",
        "user": user,
        "session": SessionStore(),
        "cookies": {},
        "subprotocols": subprotocols,
        "url_route": {"kwargs": {"session_id": session.id}},
    }
    communicator: Any = ApplicationCommunicator
    return communicator(consumers.SessionConsumer.as_asgi(), scope)
