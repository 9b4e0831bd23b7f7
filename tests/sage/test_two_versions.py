"""Web and worker of this version serve on a database that a later version has migrated.

As in a rolling restart: the web process runs when the migration comes, and the worker starts after it.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher, make_password
from django.contrib.auth.models import User
from django.utils import timezone
from procrastinate.contrib.django import app

from coaching.library.references.files import sync_reference_files
from coaching.models import Document, DocumentState, DocumentText
from coaching.personal_data.removal import begin_removal
from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.conftest import PASSWORD
from tests.jobs.conftest import queue
from tests.jobs.test_worker import until, worker
from tests.live_sage import LiveSage, open_socket, text_of
from tests.reminders.conftest import reminded
from tests.sage import later_version
from tests.sage.mail_server import mail_server

__all__ = ["queue"]

pytestmark = pytest.mark.django_db(transaction=True)

REPLY = Reply.of("First half, ", Hold("the migration"), "second half.")
LEASE = b"COMMERCIAL LEASE\n\nThe landlord lets 12 Quay Street to Blue Door Bakery for ten years."


@pytest.fixture
def undone(queue: None) -> Iterator[None]:
    """Undo the migration before the tables are emptied."""
    with later_version.undone_at_the_end():
        yield


@pytest.fixture
def person(user: User) -> User:
    """Somebody who can sign in where passwords aren't hashed as in tests."""
    user.password = make_password(PASSWORD, hasher=PBKDF2PasswordHasher())
    user.save()
    return user


@asynccontextmanager
async def signed_in(sage: LiveSage) -> AsyncIterator[aiohttp.ClientSession]:
    """Sign in with the form, as a browser does."""
    async with aiohttp.ClientSession(sage.origin, headers={"Origin": sage.origin}) as browser:
        await browser.get("/accounts/login/")
        form = {"login": "ada@example.org", "password": PASSWORD, "csrfmiddlewaretoken": token_of(browser)}
        async with browser.post("/accounts/login/", data=form, allow_redirects=False) as answer:
            assert answer.status == 302, await answer.text()
        yield browser


def cookies_of(browser: aiohttp.ClientSession) -> dict[str, str]:
    return {cookie.key: cookie.value for cookie in browser.cookie_jar}


def token_of(browser: aiohttp.ClientSession) -> str:
    return cookies_of(browser)["csrftoken"]


async def upload(browser: aiohttp.ClientSession, session: Session) -> int:
    form = aiohttp.FormData({"csrfmiddlewaretoken": token_of(browser), "session": str(session.pk)})
    form.add_field("files", LEASE, filename="lease.txt", content_type="text/plain")
    async with browser.post("/library/upload/", data=form, headers={"Accept": "application/json"}) as answer:
        assert answer.status == 200, await answer.text()
        (document,) = (await answer.json())["documents"]
    return int(document["id"])


def is_read(document_id: int) -> bool:
    document = Document.unscoped.get(pk=document_id)
    assert document.state != DocumentState.FAILED, document.reason
    is_done = document.state in {DocumentState.REVIEW, DocumentState.FILED}
    return is_done and DocumentText.unscoped.filter(document=document).exists()


def remind_now(user: User) -> None:
    """Make a reminder due this minute, and queue the job that each minute has."""
    reminded(user, at=timezone.now().time().replace(second=0, microsecond=0))
    app.configure_task("claim_reminders", lock="claim_reminders").defer(timestamp=0)


@pytest.mark.slow
@pytest.mark.usefixtures("undone")
async def test_web_and_worker_serve_on_a_database_that_a_later_version_has_migrated(
    live_sage: LiveSage, practice: PracticeServer, person: User
) -> None:
    await in_database(sync_reference_files)
    practice.script([REPLY, "After it.", "And after that."])
    session = await in_database(Session.of(person.pk).create)
    async with signed_in(live_sage) as browser:
        cookie = f"sessionid={cookies_of(browser)['sessionid']}"
        async with open_socket(live_sage, session.pk, cookie) as client:
            await client.until("sync")
            await client.send(type="message", text="Before", id="before")
            await practice.reached("the migration")
            await in_database(later_version.migrate)
            practice.release("the migration")
            assert text_of(await client.until("done")) == "First half, second half."
            await client.send(type="message", text="After", id="after")
            assert text_of(await client.until("done")) == "After it."
            await in_database(later_version.rename, session.pk)
            assert (await client.until("sync"))[-1]["sync"]["status"] == "idle"
            await client.send(type="message", text="Still here", id="still")
            assert text_of(await client.until("done")) == "And after that."
    async with signed_in(live_sage) as browser, mail_server() as mails:
        document = await upload(browser, session)
        await in_database(remind_now, person)
        async with worker(
            practice, EMAIL_URL=mails.url, SAGE_DATA_DIR=os.environ["SAGE_DATA_DIR"]
        ) as process:
            await until(lambda: is_read(document), seconds=60)
            reminder = await asyncio.wait_for(mails.mails.get(), 60)
            assert reminder["To"] == person.email
            assert "This version may run beside the next one during an upgrade" in process.output
            # Rows of a table that this version doesn't know go with their owner.
            await in_database(begin_removal, user_id=person.pk)
            await until(lambda: not User.objects.filter(pk=person.pk).exists())
