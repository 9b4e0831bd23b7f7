"""Many requests of one person at once: none fails, and nobody else waits."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from sessions_app.database import in_database
from sessions_app.models import Session
from tests.live_sage import LiveSage, SharedSage, serve_practice, until_it_beats
from tests.requests.browsers import (
    Answered,
    Browser,
    browser_of,
    heart_was_in_time,
    measure_patience,
    slowest_page_during,
)
from tests.requests.lives import COSTLY, FILE_PATH, keep_file
from tests.requests.test_every_view import SIGN_IN, upload
from tests.stored_turns import open_conversation
from tests.thoroughness import size

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE = size(40, long=100)
SECONDS = 2.0

Asks = Callable[[Browser, Session], Awaitable[Answered]]
KINDS: dict[str, Asks] = {
    "form message": lambda browser, session: browser.post(
        f"/chat/{session.id}/message/", {"text": "hello", "id": str(uuid4())}
    ),
    "preview": lambda browser, _: browser.post(
        f"/files/{FILE_PATH}/preview/", {"body": f"{uuid4()} {COSTLY}"}
    ),
    "calendar upload": lambda browser, _: browser.post("/settings/calendar/upload/", upload(uuid4().hex)),
    "export": lambda browser, _: browser.post("/settings/export/"),
    "files": lambda browser, _: browser.get("/files/"),
    "sign-in": lambda browser, _: browser.post("/accounts/login/", SIGN_IN),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_many_at_once_fail_none_and_hold_up_nobody_else(
    shared_sage: SharedSage, live_sage: LiveSage, user: User, other_user: User, kind: str
) -> None:
    await until_it_beats(live_sage)
    logged = live_sage.log.stat().st_size
    await in_database(keep_file, user)
    session = await in_database(open_conversation, user)
    asker = None if kind == "sign-in" else user
    patience = await measure_patience(live_sage)
    async with (
        serve_practice(live_sage),
        browser_of(asker, live_sage) as mine,
        browser_of(other_user, live_sage) as theirs,
    ):
        many = asyncio.gather(*(KINDS[kind](mine, session) for _ in range(AT_ONCE)))
        slowest = await slowest_page_during(many, theirs)
        statuses = {answer.status for answer in await many}
    assert statuses <= {200, 302, 303, 409, 422, 429}
    assert 429 in statuses
    assert slowest < SECONDS * patience
    assert heart_was_in_time(live_sage.log.read_text()[logged:], patience)
    if kind == "sign-in":
        shared_sage.stop()  # for minutes it would refuse every sign-in
