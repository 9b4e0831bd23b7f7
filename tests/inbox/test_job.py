"""The job reads the mailbox, and a worker's stop doesn't wait for the server."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.job_queue.names import INBOX_QUEUE
from coaching.job_queue.queue import enqueue
from coaching.jobs.inbox import READ_JOB, read_inbox
from coaching.jobs.worker import JobWorker
from coaching.models import Document, InboxState
from sessions_app.database import in_database
from tests.inbox.conftest import Inbox
from tests.inbox.lying_server import lying_server
from tests.inbox.mails import SERVER, Mail
from tests.jobs.conftest import empty_queue

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def empty(transactional_db: None) -> Iterator[None]:
    """An empty queue, before and after."""
    empty_queue()
    yield
    empty_queue()


async def test_the_job_takes_what_has_come(
    inbox: Inbox, user: User, confirm: Callable[[User], None], settings: Settings
) -> None:
    settings.SAGE_INBOX, settings.SAGE_INBOX_AUTHSERV_ID = inbox.place, SERVER
    await in_database(confirm, user)
    inbox.deliver(Mail(to=await in_database(inbox.address_of, user)).written())
    await read_inbox(timestamp=0)
    assert await in_database(Document.of(user.pk).count) == 1
    assert inbox.left == 0


async def test_a_worker_has_a_slot_for_incoming_mail_alone(
    empty: None, inbox: Inbox, user: User, confirm: Callable[[User], None], settings: Settings
) -> None:
    settings.SAGE_INBOX, settings.SAGE_INBOX_AUTHSERV_ID = inbox.place, SERVER
    assert read_inbox.queue == INBOX_QUEUE
    await in_database(confirm, user)
    inbox.deliver(Mail(to=await in_database(inbox.address_of, user)).written())
    async with JobWorker(), asyncio.timeout(60):
        await in_database(enqueue, READ_JOB, key="inbox", queue=INBOX_QUEUE, timestamp=0)
        while not await in_database(Document.of(user.pk).exists):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.1)


async def test_a_job_that_is_stopped_ends_at_once_and_is_no_failure(
    trusted: Path, settings: Settings
) -> None:
    asked = threading.Event()

    def search(_: bytes) -> bytes:
        asked.set()
        return b"HANG"  # without an end of the line

    with lying_server(trusted, {"SEARCH": search}) as place:
        settings.SAGE_INBOX, settings.SAGE_INBOX_AUTHSERV_ID = place, SERVER
        job = asyncio.ensure_future(read_inbox(timestamp=0))
        await asyncio.to_thread(asked.wait, 30)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(10):
                await job
    assert (await in_database(InboxState.objects.get)).failures == 0
