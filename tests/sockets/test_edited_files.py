"""Sage reads what a person writes into a file, and neither overwrites the other's changes."""

import json
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.files.selectors import read_versions
from coaching.models import UserFileVersion
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browsers import browser_of
from tests.live_sage import LiveSage, open_socket

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "sage/context.md"


def save(content: str) -> ToolUse:
    return ToolUse("save_file", {"file_type": "sage-context", "content": content})


def edit(user: User, body: str, *, version: int, **fields: str) -> tuple[int, str]:
    """Save the file's text from the person's browser; return the status and the page."""
    tab = browser_of(user)
    response = tab.post(f"/files/{PATH}/edit/", {"body": body, "version": version, **fields})
    return response.status_code, response.content.decode()


def newest_words(body: dict[str, Any]) -> str:
    """Return the newest user message of a request."""
    blocks = body["messages"][-1]["content"]
    return "\n".join(block.get("text") or str(block.get("content", "")) for block in blocks)


async def test_an_edited_file_is_what_sage_reads_next(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script([Reply.of(Text("I'll keep it."), save("Ada likes mornings.")), "Kept."])
    read = ToolUse("read_file", {"path": PATH})
    practice.script(["Evenings, then.", Reply.of(Text("I look."), read), "Evenings it is."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="I like mornings.")
        await client.until("done")
        status, _ = await in_database(edit, user, "Ada likes *evenings* </sage_context> now.", version=1)
        assert status == HTTPStatus.SEE_OTHER
        await client.send(type="message", text="What do I like?")
        await client.until("done")
        told = newest_words(practice.requests[2].body)
        assert "Ada likes *evenings*" in told
        assert told.count("</sage_context>") == 1, "a text can't close the section that it stands in"
        await client.send(type="message", text="Look again.")
        await client.until("done")
    (result,) = [
        block
        for block in practice.requests[4].body["messages"][-1]["content"]
        if block["type"] == "tool_result"
    ]
    assert 'version="2"' in json.dumps(result["content"]).replace('\\"', '"')
    assert "Ada likes *evenings*" in str(result["content"])


async def test_what_a_person_saves_while_sage_writes_stays_and_the_other_way_round(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script([Reply.of(save("Sage one")), "Kept."])
    practice.script([Reply.of(Text("Wait."), Hold("writing"), save("Sage two")), "Kept again."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text="Keep this.")
        await client.until("done")
        await client.send(type="message", text="And this.")
        await practice.reached("writing")
        status, _ = await in_database(edit, user, "Mine one", version=1)
        assert status == HTTPStatus.SEE_OTHER
        practice.release("writing")
        await client.until("done")
    status, page = await in_database(edit, user, "Mine two", version=2)
    assert status == HTTPStatus.CONFLICT
    assert "<del>Sage</del>" in page
    assert "<ins>Mine</ins>" in page
    status, _ = await in_database(edit, user, "Mine two", version=3, mine="Mine two", do="mine")
    assert status == HTTPStatus.SEE_OTHER
    kept: list[UserFileVersion] = await in_database(
        lambda: [UserFileVersion.unscoped.get(pk=one.pk) for one in read_versions(user_id=user.pk, path=PATH)]
    )
    said = [(one.source, one.content.splitlines()[-1]) for one in reversed(kept)]
    assert said == [("tool", "Sage one"), ("user", "Mine one"), ("tool", "Sage two"), ("user", "Mine two")]
