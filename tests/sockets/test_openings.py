"""Sage speaks first: frames and pages of an opening, and what its user's own words do to it."""

import asyncio
from http import HTTPStatus
from uuid import UUID, uuid4

import aiohttp
import pytest
from django.contrib.auth.models import User

from coaching.practice.coach import conversation as practice_conversation
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.turns.words import OPENING_CUT
from sessions_app.database import in_database
from sessions_app.models import Message, ModelUsage, Session, SessionKind, Turn
from sessions_app.opening_message import OPENING_WORDS
from tests.live_sage import (
    Frame,
    LiveSage,
    open_socket,
    start_web_process,
    stop_web_process,
    text_of,
    until_it_beats,
)

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "c" * 32
GREETING = "A new day. What would make it a good one?"
CLOSED_SECONDS = 10.0
SAVE = ToolUse("save_file", {"file_type": "sage-context", "content": "# Context\n\nNothing yet."}, id="t1")
MORNING = "Good morning. How did you wake?"


async def send(sage: LiveSage, cookie: str, path: str, **fields: str) -> str:
    """Get a page, or post a form if there are fields; return the page, or the address of the redirect."""
    headers = {"Cookie": f"{cookie}; csrftoken={TOKEN}", "Origin": sage.origin}
    async with aiohttp.ClientSession(base_url=sage.origin, headers=headers) as browser:
        if not fields:
            async with browser.get(path) as answer:
                assert answer.status == HTTPStatus.OK
                return await answer.text()
        data = {"csrfmiddlewaretoken": TOKEN, **fields}
        async with browser.post(path, data=data, allow_redirects=False) as answer:
            assert answer.status in (HTTPStatus.FOUND, HTTPStatus.SEE_OTHER), await answer.text()
            return answer.headers["Location"]


async def begin(sage: LiveSage, cookie: str, *, kind: str = SessionKind.OPEN_DAY, form_id: str = "") -> UUID:
    """Begin a conversation as home does; return its id."""
    address = await send(sage, cookie, "/chat/new/", kind=kind, id=form_id or str(uuid4()))
    return UUID(address.split("/")[2])


async def opening_of(session_id: UUID) -> Turn:
    return await in_database(Turn.unscoped.get, session_id=session_id, is_opening=True)


async def stored(session_id: UUID) -> list[tuple[int, str, bool]]:
    """Return number, words and whether withdrawn of each message."""
    rows = Message.unscoped.filter(session_id=session_id).order_by("number")
    return await in_database(list, rows.values_list("number", "content", "turn__is_withdrawn"))


def names(frames: list[Frame]) -> list[str]:
    """Return the frames' names, with adjacent ones of text as one."""
    found: list[str] = []
    for frame in frames:
        (name,) = frame
        if not (name == "text" and found[-1:] == ["text"]):
            found.append(name)
    return found


def test_the_practice_model_knows_the_words_of_an_opening() -> None:
    assert practice_conversation.OPENING_WORDS == OPENING_WORDS


async def test_sage_begins_by_itself_once_and_nobody_sees_the_hidden_message(
    live_sage: LiveSage, practice: PracticeServer, cookie: str
) -> None:
    practice.script([Reply.of("Good morning. ", Hold("middle"), "How did you wake?"), "Let's rest, then."])
    session_id = await begin(live_sage, cookie, form_id="form")
    await practice.reached("middle")
    assert await begin(live_sage, cookie, form_id="form") == session_id
    async with (
        open_socket(live_sage, session_id, cookie) as first,
        open_socket(live_sage, session_id, cookie) as second,
    ):
        for tab in (first, second):
            assert (await tab.next_frame())["sync"]["status"] == "running"
        page = await send(live_sage, cookie, f"/chat/{session_id}/")
        assert 'http-equiv="refresh"' in page
        practice.release("middle")
        for tab in (first, second):
            await tab.until("done")
            assert text_of(tab.frames) == MORNING
            assert "message" not in names(tab.frames)
        await first.send(type="message", text="Badly.", id="mine")
        frames = await second.until("done")
        assert frames[0] == {"message": {"id": "mine", "number": 3, "text": "Badly."}}
    page = await send(live_sage, cookie, f"/chat/{session_id}/")
    assert "How did you wake?" in page
    assert OPENING_WORDS not in page
    assert [request.status for request in practice.requests] == [200, 200]
    opening, following = (request.body["messages"] for request in practice.requests)
    assert opening[-1]["content"][-1]["text"] == OPENING_WORDS
    assert [message["role"] for message in following] == ["user", "assistant", "user"]


@pytest.mark.usefixtures("practice")
async def test_a_page_starts_nothing(live_sage: LiveSage, cookie: str, user: User) -> None:
    session = await in_database(Session.of(user.pk).create, kind=SessionKind.OPEN_DAY)
    page = await send(live_sage, cookie, f"/chat/{session.id}/")
    assert GREETING in page
    async with open_socket(live_sage, session.id, cookie) as client:
        assert (await client.next_frame())["sync"]["status"] == "idle"
    assert not await in_database(Turn.unscoped.exists)


HELD = {
    "before its first word": Reply.of(Hold("held"), MORNING),
    "amid its words": Reply.of("Good morning. ", Hold("held"), "How did you wake?"),
    "before its call": Reply.of(Text("Good morning."), Hold("held"), SAVE),
}


@pytest.mark.parametrize("point", HELD)
async def test_writing_while_sage_begins_takes_its_place(
    live_sage: LiveSage, practice: PracticeServer, cookie: str, point: str
) -> None:
    practice.script([HELD[point], "I hear you."])
    session_id = await begin(live_sage, cookie)
    await practice.reached("held")
    opening = await opening_of(session_id)
    async with (
        open_socket(live_sage, session_id, cookie) as first,
        open_socket(live_sage, session_id, cookie) as second,
    ):
        await first.next_frame()
        await second.next_frame()
        await second.send(type="message", text="I slept badly.", id="mine")
        for tab in (first, second):
            frames = [*await tab.until("done"), *await tab.until("done")]
            told = [frame for frame in frames if "text" not in frame]
            assert told[:3] == [
                {"done": {"turn": str(opening.id), "stopReason": "superseded"}},
                {"withdrawn": {"from": 1}},
                {"message": {"id": "mine", "number": 2, "text": "I slept badly."}},
            ]
            assert len(told) == 4
            assert text_of(frames[frames.index(told[2]) :]) == "I hear you."
    await practice.wait_until(lambda requests: requests[0].closed_by_client_at is not None, CLOSED_SECONDS)
    practice.release("held")
    rows = await stored(session_id)
    assert [number for number, _, _ in rows] == [1, 2, 3]
    assert [words for _, words, is_withdrawn in rows if not is_withdrawn] == ["I slept badly.", "I hear you."]
    assert [request.status for request in practice.requests] == [200, 200]
    assert OPENING_WORDS not in str(practice.requests[1].body["messages"])
    page = await send(live_sage, cookie, f"/chat/{session_id}/")
    assert "Good morning" not in page
    if "words" in point:  # the tokens are spent: the budget counts them
        await until_counted(opening)


async def until_counted(turn: Turn) -> None:
    async with asyncio.timeout(CLOSED_SECONDS):
        while not await in_database(ModelUsage.unscoped.filter(turn=turn).exists):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)


async def test_writing_while_sage_saves_something_keeps_the_file_and_takes_its_place(
    live_sage: LiveSage, practice: PracticeServer, cookie: str
) -> None:
    practice.script([Reply.of(Text("Good morning."), SAVE), Reply.of(Hold("held"), "Done."), "I hear you."])
    session_id = await begin(live_sage, cookie)
    await practice.reached("held")
    async with open_socket(live_sage, session_id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="I slept badly.", id="mine")
        frames = await client.until("message")
        assert frames[-1]["message"]["number"] == 3
        await client.until("done")
        assert text_of(client.frames[client.frames.index(frames[-1]) :]) == "I hear you."
    assert [number for number, _, _ in await stored(session_id)] == [1, 2, 3, 4]


@pytest.mark.slow
async def test_writing_in_another_process_takes_its_place_and_stops_it(
    live_sage: LiveSage, practice: PracticeServer, cookie: str
) -> None:
    practice.script([HELD["amid its words"], "I hear you."])
    session_id = await begin(live_sage, cookie)
    await practice.reached("held")
    opening = await opening_of(session_id)
    await until_it_beats(live_sage)
    other = await asyncio.to_thread(start_web_process, practice_port=live_sage.practice_port)
    try:
        async with (
            open_socket(live_sage, session_id, cookie) as here,
            open_socket(other, session_id, cookie) as there,
        ):
            await here.next_frame()
            assert (await there.next_frame())["sync"]["status"] == "running"
            await there.send(type="message", text="I slept badly.", id="mine")
            for tab in (there, here):
                await tab.until("message")
                await tab.until("done")
                numbers = [frame["message"]["number"] for frame in tab.frames if "message" in frame]
                dones = [frame["done"]["turn"] for frame in tab.frames if "done" in frame]
                assert numbers == [2]
                assert len(set(dones)) == len(dones)
                assert {"withdrawn": {"from": 1}} in tab.frames
                assert text_of(tab.frames).endswith("I hear you.")
        await practice.wait_until(
            lambda requests: requests[0].closed_by_client_at is not None, CLOSED_SECONDS
        )
        await until_counted(opening)
    finally:
        await asyncio.to_thread(stop_web_process, other)


@pytest.mark.parametrize(
    ("point", "kept"), [("before its first word", ""), ("amid its words", "Good morning.")]
)
async def test_stopping_keeps_what_was_said_or_leaves_the_page_with_its_greeting(
    live_sage: LiveSage, practice: PracticeServer, cookie: str, point: str, kept: str
) -> None:
    practice.script([HELD[point], "I hear you."])
    session_id = await begin(live_sage, cookie)
    await practice.reached("held")
    async with open_socket(live_sage, session_id, cookie) as client:
        await client.next_frame()
        await client.send(type="stop")
        frames = await client.until("done")
        assert ({"withdrawn": {"from": 1}} in frames) == (not kept)
        page = await send(live_sage, cookie, f"/chat/{session_id}/")
        assert (kept or GREETING) in page
        assert 'value="retry"' not in page
        await client.send(type="message", text="I slept badly.", id="mine")
        await client.until("done")
        assert text_of(client.frames).endswith("I hear you.")


async def test_where_the_model_fails_the_page_has_its_greeting_and_writing_works(
    live_sage: LiveSage, practice: PracticeServer, cookie: str
) -> None:
    practice.faults.push(Fault(kind="status", status=400))
    session_id = await begin(live_sage, cookie)
    async with open_socket(live_sage, session_id, cookie) as client:
        if (await client.next_frame())["sync"]["status"] == "running":
            assert names(await client.until("done")) == ["withdrawn", "done"]
        page = await send(live_sage, cookie, f"/chat/{session_id}/")
        assert GREETING in page
        assert '<div class="notice">' not in page
        practice.script(["I hear you."])
        await client.send(type="message", text="I slept badly.", id="mine")
        frames = await client.until("done")
        assert names(frames) == ["message", "text", "done"]
        assert frames[0]["message"]["number"] == 2


async def test_where_it_breaks_off_its_words_stay_and_there_is_nothing_to_try_again(
    live_sage: LiveSage, practice: PracticeServer, cookie: str
) -> None:
    practice.script([MORNING] * 9)
    practice.faults.push(Fault(kind="end_early", place="in_text", times=9))
    session_id = await begin(live_sage, cookie)
    async with open_socket(live_sage, session_id, cookie) as client:
        if (await client.next_frame())["sync"]["status"] == "running":
            assert {"error": OPENING_CUT} in await client.until("done")
    page = await send(live_sage, cookie, f"/chat/{session_id}/")
    assert "Good" in page
    assert OPENING_CUT in page
    assert 'value="retry"' not in page


async def test_without_javascript_the_form_doesnt_wait_and_a_message_takes_its_place(
    live_sage: LiveSage, practice: PracticeServer, cookie: str
) -> None:
    practice.script([HELD["amid its words"], "I hear you."])
    async with asyncio.timeout(CLOSED_SECONDS):  # well below the time that a form waits for an answer
        session_id = await begin(live_sage, cookie)
    await practice.reached("held")
    assert 'http-equiv="refresh"' in await send(live_sage, cookie, f"/chat/{session_id}/")
    await send(live_sage, cookie, f"/chat/{session_id}/message/", text="I slept badly.", id="mine")
    page = await send(live_sage, cookie, f"/chat/{session_id}/")
    assert "I hear you." in page
    assert "Good morning" not in page
    assert [number for number, _, _ in await stored(session_id)] == [1, 2, 3]


async def test_a_conversation_that_begins_with_words_has_no_opening(
    live_sage: LiveSage, practice: PracticeServer, cookie: str
) -> None:
    practice.script(["I hear you."])
    address = await send(live_sage, cookie, "/chat/new/", kind=SessionKind.OPEN_DAY, text="Hello", id="form")
    session_id = UUID(address.split("/")[2])
    async with open_socket(live_sage, session_id, cookie) as client:
        if (await client.next_frame())["sync"]["status"] == "running":
            await client.until("done")
    assert [words for _, words, _ in await stored(session_id)] == ["Hello", "I hear you."]
