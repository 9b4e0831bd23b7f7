"""A title reaches every open socket, as JSON and as HTML, whoever gave it."""

import asyncio

import pytest
from django.contrib.auth.models import User

from coaching.engine.anthropic_client import AnthropicClient
from coaching.jobs.titles import REQUEST, write_title
from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from sessions_app.titles import rename_session
from tests.live_sage import LiveSage, open_socket, text_of

pytestmark = pytest.mark.django_db(transaction=True)


async def test_the_models_title_reaches_every_tab_once(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(["What keeps you awake?"], key="badly")
    practice.script(["Quiet nights"], key=REQUEST)
    async with (
        AnthropicClient("practice", practice.url) as model,
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie) as other,
    ):
        for tab in (client, other):
            await tab.until("sync")
        await client.send(type="message", text="I sleep badly")
        await asyncio.gather(client.until("done"), other.until("done"))
        # A worker is another process: readers catch up from the database.
        assert await write_title(session.id, client=model) == "Quiet nights"
        for tab in (client, other):
            await tab.until("title")
        await client.send(type="message", text="It is badly lit, too")
        await asyncio.gather(client.until("done"), other.until("done"))
    for tab in (client, other):
        told = [frame["title"] for frame in tab.frames if "title" in frame]
        assert told == [{"session": str(session.id), "text": "Quiet nights"}]


async def test_the_users_title_reaches_every_tab_also_while_sage_answers(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script([Reply.of("Half", Hold("middle"), " and whole.")])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="I sleep badly")
        await practice.reached("middle")
        await in_database(rename_session, user_id=user.pk, session_id=session.id, title="Nights")
        before = await client.until("title")
        practice.release("middle")
        told = [*before, *await client.until("done")]
    assert text_of(told) == "Half and whole."
    assert before[-1] == {"title": {"session": str(session.id), "text": "Nights"}}


async def test_a_page_gets_the_title_as_html(
    live_sage: LiveSage, session: Session, cookie: str, user: User
) -> None:
    async with open_socket(live_sage, session.id, cookie, subprotocols=()) as page:
        await page.html_of_sync()
        await in_database(rename_session, user_id=user.pk, session_id=session.id, title="<b>Nights</b>")
        html = await page.html_until('data-event="title"')
    assert '<div hx-swap-oob="innerHTML:#chat-title">&lt;b&gt;Nights&lt;/b&gt;</div>' in html
