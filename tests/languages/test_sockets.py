"""Frames of a live socket are in their reader's language, and the page shows the same after a reload."""

import json
import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from aiohttp import ClientSession
from django.contrib.auth.models import User
from django.utils.formats import date_format
from django.utils.translation import override

from coaching.clock.days import local_day
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.conftest import MakeUser
from tests.languages.conftest import speaks, translated
from tests.live_sage import LiveSage, open_socket, session_cookie
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

TURN = re.compile(r'<li class="turn" id="turn-.*?</footer>\s*</li>', re.DOTALL)
DAY = re.compile(r'<li class="day".*?</li>')
NOTES = re.compile(r'<div hx-swap-oob="\w+:#live-notes">(.*?)</div>')


def conversation_of(user: User) -> tuple[Session, str]:
    """Return a person's new conversation, and their cookie."""
    session = open_conversation(user)
    return session, session_cookie(user)


async def reload(sage: LiveSage, session: Session, cookie: str) -> str:
    """Return the conversation's page."""
    headers = {"Cookie": cookie}
    async with (
        ClientSession(headers=headers) as browser,
        browser.get(f"{sage.origin}/chat/{session.id}/") as page,
    ):
        return await page.text()


def without_ids(body: object) -> str:
    """Return a request without what differs from one person and moment to the next, the language included."""
    return re.sub(r"toolu_\w+|\d|Language: \w+\\n", "", json.dumps(body, sort_keys=True))


def weekday_in(code: str) -> str:
    with override(code):
        return date_format(local_day(datetime.now(UTC), ZoneInfo("UTC")), "l")


@pytest.fixture
def people(make_user: MakeUser) -> list[tuple[User, str, Session, str]]:
    """Somebody who speaks German, and somebody who speaks English: language, conversation and cookie."""
    return [(speaks(user := make_user(), code), code, *conversation_of(user)) for code in ("de", "en")]


async def test_two_people_get_each_their_own_language_and_a_reload_shows_the_same(
    live_sage: LiveSage,
    practice: PracticeServer,
    people: list[tuple[User, str, Session, str]],
) -> None:
    reply: list[Reply | str] = [
        Reply.of(Text("I write it down."), ToolUse("load_skill", {"name": "decision-helper"})),
        "So.",
    ]
    sockets, shown = [], {}
    (_, _, german, german_cookie), (_, _, english, english_cookie) = people
    async with (
        open_socket(live_sage, german.id, german_cookie, subprotocols=()) as first,
        open_socket(live_sage, english.id, english_cookie, subprotocols=()) as second,
    ):
        sockets = [first, second]
        for client in sockets:
            await client.html_of_sync()
        for client in sockets:  # one after another: the model answers in the order in which it is asked
            practice.script([*reply])
            await client.connection.send('{"type": "message", "text": "Use the decision helper, please"}')
            shown[client] = await client.html_until('data-event="done"')
    for client, (_, code, session, cookie) in zip(sockets, people, strict=True):
        page = await reload(live_sage, session, cookie)
        assert DAY.findall(shown[client]) == DAY.findall(page)
        assert weekday_in(code) in DAY.findall(page)[0]
        assert TURN.findall(shown[client])[-1:] == TURN.findall(page)
        assert (translated("Copy", "de") in TURN.findall(page)[0]) == (code == "de")
    # The model heard both in the same words.
    bodies = [request.body for request in practice.log.all()]
    assert len(bodies) == 4
    for in_german, in_english in zip(bodies[:2], bodies[2:], strict=True):
        assert without_ids(in_german) == without_ids(in_english)


async def test_a_failure_is_told_in_the_readers_language_to_pages_and_programs(
    live_sage: LiveSage, practice: PracticeServer, people: list[tuple[User, str, Session, str]]
) -> None:
    (_, _, session, cookie), _ = people
    practice.faults.push(Fault(kind="status", status=400))
    told = "The model refused this request. Try again with a shorter or different message."
    async with (
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
        open_socket(live_sage, session.id, cookie) as program,
    ):
        await page.html_of_sync()
        await program.until("sync")
        await program.send(type="message", text="Hello", id="1")
        (*_, frame) = await program.until("error")
        assert frame["error"] == translated(told, "de")
        assert translated(told, "de") in await page.html_until('data-event="done"')
    assert translated(told, "de") in await reload(live_sage, session, cookie)
