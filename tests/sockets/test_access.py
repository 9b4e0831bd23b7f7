"""Who may open a socket and which frames it accepts; anything else gets a close code or an error."""

import asyncio
import uuid
from contextlib import AsyncExitStack

import pytest
import websockets
from django.contrib.auth.models import User
from django.test import Client

from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Message, Session
from tests.browsers import browser_of
from tests.conftest import MakeUser
from tests.live_sage import LiveSage, open_socket, session_cookie
from tests.patience import measure_slowness

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "https://evil.example",
        "http://localhost",
        "http://localhost:1",
        "null",
        "http://localhost.evil.example",
        "file://",
        "javascript:alert(1)",
    ],
)
async def test_a_foreign_or_missing_origin_is_refused_at_the_handshake(
    live_sage: LiveSage, session: Session, cookie: str, origin: str | None
) -> None:
    with pytest.raises(websockets.InvalidStatus) as refused:
        async with open_socket(live_sage, session.id, cookie, origin=origin):
            pass
    assert refused.value.response.status_code in {400, 403}


async def test_nobody_signed_in_is_closed_with_4403(live_sage: LiveSage, session: Session) -> None:
    for cookie in ("", "sessionid=nonsense"):
        async with open_socket(live_sage, session.id, cookie) as client:
            assert await client.closed_with() == 4403


async def test_anothers_session_and_a_missing_one_are_both_closed_with_4404(
    live_sage: LiveSage, session: Session, other_user: User
) -> None:
    cookie = await in_database(session_cookie, other_user)
    for session_id in (session.id, uuid.uuid4(), "not-a-uuid"):
        async with open_socket(live_sage, session_id, cookie) as client:
            assert await client.closed_with() == 4404
            assert client.frames == []


BAD_FRAMES: tuple[tuple[str | bytes, str], ...] = (
    ("", "not a JSON object"),
    ("hello", "not a JSON object"),
    ("[]", "not a JSON object"),
    ("null", "not a JSON object"),
    ("1e999", "not a JSON object"),
    ("[" * 100_000, "not a JSON object"),
    ("{}", "type must be one of"),
    ('{"type": 7}', "type must be one of"),
    ('{"type": ["message"]}', "type must be one of"),
    ('{"type": "__class__"}', "type must be one of"),
    ('{"type": "message"}', "must be text"),
    ('{"type": "message", "text": {"a": 1}}', "must be text"),
    ('{"type": "message", "text": ""}', "write something"),
    ('{"type": "message", "text": "a\\u0000b"}', "can’t be stored"),
    ('{"type": "message", "text": "a\\ud800b"}', "can’t be stored"),
    ('{"type": "message", "text": "hi", "id": {"a": 1}}', "message id"),
    ('{"type": "message", "text": "' + "x" * 20_001 + '"}', "20,001 characters"),
    ('{"type": "retry"}', "nothing to try again"),
    ('{"type": "continue"}', "nothing to continue"),
    (b"\x00\xff", "not a JSON object"),
)


async def test_a_bad_frame_gets_a_sentence_and_changes_nothing(
    live_sage: LiveSage, session: Session, cookie: str
) -> None:
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        for frame, told in BAD_FRAMES:
            await client.connection.send(frame)
            assert told in (await client.until("error"))[-1]["error"], frame[:40]
        await client.send(type="stop")
        await client.send(type="nonsense")
        assert "type must be one of" in (await client.until("error"))[-1]["error"]
    assert await in_database(Message.unscoped.count) == 0


async def test_a_frame_over_1_mib_is_refused_with_a_reason(
    live_sage: LiveSage, session: Session, cookie: str
) -> None:
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.connection.send("x" * ((1 << 20) + 1))
        assert await client.closed_with() == 1009


async def test_after_signing_out_the_next_frame_closes_the_socket(
    live_sage: LiveSage, practice: PracticeServer, session: Session, user: User
) -> None:
    browser = await in_database(browser_of, user)
    cookie = f"sessionid={browser.cookies['sessionid'].value}"
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await in_database(browser.logout)
        await client.send(type="message", text="Am I still here?")
        assert await client.closed_with() == 4403
    assert practice.requests == []


@pytest.mark.parametrize("change", ["password", "is_active", "deleted"])
async def test_a_changed_password_or_a_disabled_account_ends_the_socket(
    live_sage: LiveSage, session: Session, cookie: str, user: User, change: str
) -> None:
    def end_access() -> None:
        if change == "deleted":
            user.delete()
            return
        if change == "password":
            user.set_password("another-one")
        user.is_active = user.is_active and change != "is_active"
        user.save()

    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await in_database(end_access)
        await client.send(type="message", text="Am I still here?")
        assert await client.closed_with() == 4403


async def test_a_flood_of_frames_is_slowed_down_and_then_ended(
    live_sage: LiveSage, session: Session, cookie: str
) -> None:
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        try:
            for _ in range(2000):
                await client.send(type="stop")
        except websockets.ConnectionClosed:
            pass
        assert await client.closed_with() == 1008
    assert any("slow down" in frame.get("error", "") for frame in client.frames)


async def test_every_frame_of_a_flood_is_answered_and_what_was_a_message_is_refused_aloud(
    live_sage: LiveSage, session: Session, cookie: str
) -> None:
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        for _ in range(400):
            await client.send(type="nonsense")
        await client.send(type="message", text="Do you hear me?", id="in-the-flood")
        answers = [await client.next_frame() for _ in range(401)]
    assert "slow down" in answers[-1]["error"]
    assert await in_database(session.messages.count) == 0


async def test_nothing_of_one_session_reaches_another(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, other_user: User
) -> None:
    foreign = await in_database(_session_of, other_user)
    foreign_cookie = await in_database(session_cookie, other_user)
    # Words that no id contains by chance.
    practice.script([Reply.of("Only for Lovelace", Hold("private"), ".")], key="Lovelace")
    practice.script(["Only for Hopper."], key="Hopper")
    async with (
        open_socket(live_sage, session.id, cookie) as mine,
        open_socket(live_sage, foreign.id, foreign_cookie) as theirs,
    ):
        await asyncio.gather(mine.next_frame(), theirs.next_frame())
        await mine.send(type="message", text="this is Lovelace")
        await practice.reached("private")
        await theirs.send(type="message", text="this is Hopper")
        frames = await theirs.until("done")
        practice.release("private")
        await mine.until("done")
    assert "Lovelace" not in str(frames)
    assert "Hopper" not in str(mine.frames)


def _session_of(user: User) -> Session:
    return Session.unscoped.create(user=user)


@pytest.mark.slow
async def test_a_socket_that_only_listens_ends_within_five_seconds(
    live_sage: LiveSage, make_user: MakeUser
) -> None:
    people = [await in_database(make_user) for _ in range(4)]
    browsers = [Client() for _ in people]
    _, renewed, disabled, _ = people

    def end_access() -> None:
        browsers[0].logout()
        renewed.set_password("another-one")
        renewed.save()
        disabled.is_active = False
        disabled.save()

    async with AsyncExitStack() as stack:
        sockets = []
        for person, browser in zip(people, browsers, strict=True):
            await in_database(browser.force_login, person)
            session = await in_database(_session_of, person)
            cookie = f"sessionid={browser.cookies['sessionid'].value}"
            sockets.append(await stack.enter_async_context(open_socket(live_sage, session.id, cookie)))
            await sockets[-1].next_frame()
        seconds = 5 * await measure_slowness(live_sage.origin)
        await in_database(end_access)
        async with asyncio.timeout(seconds):
            assert [await client.closed_with() for client in sockets[:3]] == [4403] * 3
        await sockets[3].send(type="nonsense")
        assert "error" in await sockets[3].next_frame(), "nothing has changed for this person"
