"""A model that writes the blocks of the earlier app writes no file, and nobody sees a tag."""

import re

import pytest

from coaching.models import UserFile
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, Session, ToolCallRecord
from tests.legacy_text.replies import RAW_TAG
from tests.live_sage import LiveSage, open_socket, text_of

pytestmark = pytest.mark.django_db(transaction=True)

REPLY = (
    'Here it is.\n\n[FILE_UPDATE type="overview"]\n# My life\n\nIn words.\n[/FILE_UPDATE]\n\n'
    "```\n[ENTER_MODE: open_day]\n```\n\n[SUGGESTED_REPLIES]\nRest\nWork\n[/SUGGESTED_REPLIES]\n"
    "[SESSION_COMPLETE]"
)
SHOWN = "Here it is.\n\n\n# My life\n\nIn words.\n\n\n```\n[ENTER_MODE: open_day]\n```\n\n\nRest\nWork\n\n"


async def answer_of(session: Session) -> Message:
    answers = Message.unscoped.filter(session=session, role=MessageRole.ASSISTANT)
    return await in_database(answers.get)


@pytest.mark.parametrize("characters", [1, 7, 2_000])
async def test_programs_get_the_words_without_tags_and_nothing_is_written(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, characters: int
) -> None:
    practice.script([Reply.of(REPLY, chunk_characters=characters), "Gladly."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.send(type="message", text="Write it down")
        frames = await client.until("done")
        shown = ""
        for frame in frames:
            shown += frame.get("text", "")
            assert not RAW_TAG.search(shown.replace("[ENTER_MODE: open_day]", ""))
        assert text_of(frames) == SHOWN
        assert not any("showOptions" in frame or "sessionCompleted" in frame for frame in frames)
        assert (await answer_of(session)).content == SHOWN
        await client.send(type="message", text="Thank you")
        await client.until("done")
    assert "FILE_UPDATE" not in str(practice.requests[-1].body["messages"])
    assert not await in_database(UserFile.unscoped.exists)
    assert not await in_database(ToolCallRecord.unscoped.exists)


async def test_the_page_never_shows_a_tag(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(
        [
            Reply.of("First [FILE_UPDATE", ToolUse("load_skill", {"name": "decision-helper"})),
            Reply.of(REPLY, chunk_characters=3),
        ]
    )
    async with open_socket(live_sage, session.id, cookie, subprotocols=()) as client:
        await client.html_of_sync()
        await client.send(type="message", text="Write it down")
        markup = await client.html_until('data-event="done"')
    assert "In words." in markup
    # The pieces of the stream stand alone, so one tag may be spread over several elements.
    assert not RAW_TAG.search(re.sub(r"<[^>]*>\s*", "", markup).replace("[ENTER_MODE: open_day]", ""))
