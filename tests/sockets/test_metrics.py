"""What a process counts for Prometheus while it answers."""

import asyncio
from http import HTTPStatus

import aiohttp
import pytest

from coaching.practice.faults.fault import Fault
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.conftest import MakeUser
from tests.live_sage import FRAME_SECONDS, LiveSage, open_socket, session_cookie
from tests.sage.test_metrics import Values, values_of

SECRET = "zebraquartz"


@pytest.mark.django_db(transaction=True)
async def test_turns_first_words_tools_failures_and_sockets_are_counted_without_words(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, make_user: MakeUser
) -> None:
    staff = await in_database(make_user, "operator", is_staff=True)
    operators = await in_database(session_cookie, staff)

    async def read() -> tuple[Values, str]:
        async with (
            aiohttp.ClientSession(headers={"cookie": operators}) as browser,
            browser.get(f"{live_sage.origin}/metrics") as response,
        ):
            assert response.status == HTTPStatus.OK
            text = await response.text()
            return values_of(text), text

    async with asyncio.timeout(FRAME_SECONDS):
        while (before := (await read())[0]).get(("sage_open_sockets",)):  # noqa: ASYNC110  # another process
            await asyncio.sleep(0.05)  # earlier tests' sockets are still closing
    save = ToolUse("save_file", {"file_type": "capture", "content": SECRET})
    unknown = ToolUse(SECRET, {})
    practice.script([Reply.of(Text("One moment."), save, unknown), "Saved."])
    practice.faults.push(Fault(kind="status", status=529))
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.next_frame()
        await client.send(type="message", text=SECRET)
        await client.until("done")
        after, text = await read()

    def growth(*key: str) -> float:
        return after.get(key, 0) - before.get(key, 0)

    assert growth("sage_turns_total", "completed") == 1
    assert growth("sage_tool_seconds_count", "save_file") == 1
    assert growth("sage_first_token_seconds_count") == 1
    assert growth("sage_upstream_errors_total", "overloaded") == 1
    assert growth("sage_open_sockets") == 1
    assert SECRET not in text
