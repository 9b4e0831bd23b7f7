"""The panel below an answer is the same after the stream and after a reload."""

import re

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browsers import conversation_page
from tests.live_sage import LiveSage, open_socket

pytestmark = pytest.mark.django_db(transaction=True)

PANEL = re.compile(r'<details class="why">.*?</details>', re.DOTALL)


async def test_an_answer_is_explained_the_same_after_the_stream_and_after_a_reload(
    live_sage: LiveSage,
    practice: PracticeServer,
    session: Session,
    user: User,
    cookie: str,
    settings: Settings,
) -> None:
    practice.script(
        [Reply.of(Text("Let me see."), ToolUse("load_skill", {"name": "decision-helper"})), "So."]
    )
    async with open_socket(live_sage, session.id, cookie, subprotocols=()) as client:
        await client.html_of_sync()
        await client.connection.send('{"type": "message", "text": "Use the decision helper, please"}')
        shown = await client.html_until('data-event="done"')
    settings.IS_PRACTICE_MODEL = False  # like the web process

    streamed = PANEL.findall(shown)
    reloaded = PANEL.findall(await in_database(conversation_page, user, session))
    assert streamed == reloaded
    assert len(streamed) == 1
    assert "Decision helper: you asked for it" in streamed[0]
    assert "First talk" in streamed[0]
