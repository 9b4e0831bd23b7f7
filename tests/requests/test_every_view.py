"""Every view answers with a pool of two connections, even while others are waiting in every possible way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

import aiohttp
import pytest
from django.contrib.auth.models import User

from coaching.practice.script import Hold, Reply
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.live_sage import LiveSage, serve_practice, until_it_beats
from tests.requests.browsers import Answered, Browser, browser_of, heart_was_in_time, measure_patience
from tests.requests.lives import COSTLY, COSTLY_CALENDAR, DIFFERENT, FILE_PATH, keep_file
from tests.sockets.test_tenants import ROUTES, Row, answer_twice, ids_of
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

DELETING = ("file_delete", "remove_safety_plan")
SIGN_IN = {"login": "ada", "password": "a guess"}


async def asked(browser: Browser, row: Row, path: str) -> Answered:
    return await (browser.post(path, row.form) if row.method == "post" else browser.get(path))


async def walk(browser: Browser, owned: Session) -> dict[str, Answered]:
    """Request every route of the URL map as the owner of its objects; delete files last."""
    ids = await in_database(ids_of, owned)
    paths = {name: row.path.format(**ids) for name, row in ROUTES.items()}
    rows = sorted(ROUTES.items(), key=lambda item: item[0] in DELETING)
    return {name: await asked(browser, row, paths[name]) for name, row in rows}


async def has_two_answers(session: Session) -> None:
    await in_database(lambda: answer_twice(session, session.turns.get()))


def assert_answered(answers: dict[str, Answered]) -> None:
    refused = {name: 422 for name, row in ROUTES.items() if row.is_refused}
    refused |= {name: 403 for name, row in ROUTES.items() if row.scope == "staff"}
    refused["photo_image"] = 503  # its bytes were never stored
    refused |= {name: 401 for name, row in ROUTES.items() if row.scope == "program"}
    refused |= dict.fromkeys(
        ("oauth_authorize", "oauth_register", "oauth_token"), 400
    )  # they ask for nothing
    # No mail comes in where this web process runs.
    refused |= dict.fromkeys(("inbox", "renew_inbox", "library_recording"), 404)
    wrong = {
        name: answer.status
        for name, answer in answers.items()
        if answer.status >= 400 and answer.status != refused.get(name)
    }
    assert wrong == {}


def upload(name: str) -> aiohttp.FormData:
    form = aiohttp.FormData({"name": name})
    form.add_field("file", COSTLY_CALENDAR, filename=f"{name}.ics", content_type="text/calendar")
    return form


@asynccontextmanager
async def waits_of(sage: LiveSage, other: User, session: Session) -> AsyncIterator[list[Answered]]:
    """Repeatedly wait for everything that a view can wait for."""
    answers: list[Answered] = []

    async def repeat(ask: Callable[[], Awaitable[Answered]]) -> None:
        while True:
            answers.append(await ask())

    async with browser_of(other, sage) as theirs, browser_of(None, sage) as stranger:
        form = {"text": "hello", "id": str(uuid4())}
        asks: list[Callable[[], Awaitable[Answered]]] = [
            lambda: theirs.post(f"/chat/{session.id}/message/", form),
            lambda: theirs.post(f"/files/{FILE_PATH}/preview/", {"body": f"{uuid4()} {COSTLY}"}),
            lambda: theirs.get(f"/files/{FILE_PATH}/difference/"),
            lambda: theirs.post("/settings/calendar/upload/", upload(uuid4().hex)),
            lambda: theirs.get("/files/all.zip"),
            lambda: stranger.post("/accounts/login/", SIGN_IN),
        ]
        tasks = [asyncio.create_task(repeat(ask)) for ask in asks]
        try:
            yield answers
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def test_every_view_answers_while_somebody_waits_for_each_thing(
    small_sage: LiveSage, user: User, other_user: User, owned: Session
) -> None:
    await until_it_beats(small_sage)
    logged = small_sage.log.stat().st_size
    await has_two_answers(owned)
    await in_database(keep_file, other_user, *DIFFERENT)
    theirs = await in_database(open_conversation, other_user)
    async with serve_practice(small_sage) as practice, browser_of(user, small_sage) as mine:
        patience = await measure_patience(small_sage)
        practice.script([Reply.of("A moment", Hold("thinking"), "."), "Yours."])
        async with waits_of(small_sage, other_user, theirs) as waiting:
            await practice.reached("thinking")
            answers = await walk(mine, owned)
            practice.release("thinking")
        assert_answered(answers)
        assert {answer.status for answer in waiting} <= {200, 302, 303, 422, 429}
        assert heart_was_in_time(small_sage.log.read_text()[logged:], patience)
