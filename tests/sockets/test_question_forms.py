"""Pending questions answered by a form, without JavaScript."""

import re
from typing import Any

import aiohttp
import pytest

from coaching.models import PulseRating
from coaching.practice.script import Reply
from coaching.practice.server import PracticeServer
from sessions_app.models import Session, ToolCallRecord, ToolCallState
from tests.live_sage import (
    LiveSage,
)
from tests.sockets.questions import PILLS, PULSE, assert_all_accepted, rows

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def browser(live_sage: LiveSage, session: Session, cookie: str) -> Any:
    """A browser without JavaScript: `post(fields)` sends the session's form and returns status and page."""
    url = f"{live_sage.origin}/chat/{session.id}/"
    async with aiohttp.ClientSession(headers={"Cookie": cookie}) as http:

        async def post(**fields: str) -> tuple[int, str]:
            async with http.get(url) as page:
                token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', await page.text())
                csrf = page.cookies["csrftoken"].value if "csrftoken" in page.cookies else ""
            assert token
            headers = {"Cookie": f"{cookie}; csrftoken={csrf or token[1]}", "Referer": url}
            form = {"csrfmiddlewaretoken": token[1], **fields}
            async with http.post(url + "message/", data=form, headers=headers) as answer:
                return answer.status, await answer.text()

        yield post


async def test_without_javascript_a_form_answers_rates_and_dismisses(
    live_sage: LiveSage, practice: PracticeServer, session: Session, browser: Any
) -> None:
    practice.script([Reply.of(PILLS), Reply.of(PULSE), Reply.of("Now you know."), Reply.of(PILLS)])
    await browser(text="Hello")
    status, page = await browser(tool_use_id="toolu_pills", value="")
    assert (status, "Please choose one of the answers" in page) == (422, True)
    status, _ = await browser(tool_use_id="toolu_pills", value="low")
    assert status == 200
    for fields, told in (
        ({"note": "nothing rated"}, "rate at least one"),
        ({"rating_career": "", "rating_health": ""}, "rate at least one"),
        ({"rating_career": "6"}, "from 1 to 5"),
        ({"rating_career": "many"}, "from 1 to 5"),
        ({"rating_career": "3.5"}, "from 1 to 5"),
        ({"rating_play": "3"}, "asked about"),
    ):
        status, page = await browser(tool_use_id="toolu_pulse", **fields)
        assert (status, told in page) == (422, True)
    status, page = await browser(
        tool_use_id="toolu_pulse", rating_career="2", rating_health="5", note="a note"
    )
    assert (status, "Now you know." in page) == (200, True)
    ratings = await rows(PulseRating.unscoped.order_by("domain").values_list("domain", "rating", "note"))
    assert ratings == [("career", 2, "a note"), ("health", 5, "a note")]
    await browser(text="Once more")
    status, _ = await browser(tool_use_id="toolu_pills", do="dismiss")
    assert status == 200
    states = await rows(ToolCallRecord.unscoped.order_by("id").values_list("state", flat=True))
    assert states == [ToolCallState.ANSWERED, ToolCallState.ANSWERED, ToolCallState.DISMISSED]
    assert_all_accepted(practice, 4)
