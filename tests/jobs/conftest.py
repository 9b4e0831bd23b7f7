"""An empty queue, a practice model in the settings, and a worker that runs what is due."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Protocol

import pytest
import structlog
from django.contrib.auth.models import User
from django.db import connection
from procrastinate import PsycopgConnector
from procrastinate.contrib.django import connector_params
from procrastinate.contrib.django.models import ProcrastinateJob
from structlog.testing import capture_logs

from coaching.job_queue.names import TITLE_JOB
from coaching.job_queue.queue import enqueue
from coaching.jobs.tasks import MODELS
from coaching.jobs.worker import open_queue
from coaching.model_client.connection import ModelConnection
from coaching.practice import PracticeServer
from coaching.safety.danger import Danger
from coaching.turns.second_looks import LookResult, read_words, store_looks
from sessions_app import services, session_services
from sessions_app.database import in_database
from sessions_app.models import MessageRole, Session, SessionKind, SessionStatus, TitleSource, TurnStatus
from sessions_app.turn_endings import Ending, close_turn
from sessions_app.turn_locks import TurnKey
from tests.asked_model import asked_model
from tests.messages import append_message
from tests.stored_turns import new_turn

WorkOff = Callable[[], Coroutine[Any, Any, None]]


def empty_queue() -> None:
    """Delete all jobs: they aren't our models, so tests don't roll them back."""
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE procrastinate_jobs, procrastinate_events, procrastinate_workers,"
            " procrastinate_periodic_defers"
        )


@pytest.fixture
def queue(transactional_db: None) -> Iterator[None]:
    """An empty queue, before and after."""
    empty_queue()
    yield
    empty_queue()


@pytest.fixture
async def practice() -> AsyncIterator[PracticeServer]:
    """The model that this process asks."""
    async with asked_model() as server:
        yield server


@pytest.fixture
async def work_off(queue: None, practice: PracticeServer) -> AsyncIterator[WorkOff]:
    """Run a worker in this process until no job is due."""
    models = ModelConnection()
    worker_queue = open_queue(has_periodic=False)

    async def work() -> None:
        connector = PsycopgConnector(kwargs=connector_params(), min_size=1, max_size=2)
        with worker_queue.replace_connector(connector):
            async with worker_queue.open_async():
                await worker_queue.run_worker_async(
                    wait=False,
                    concurrency=1,
                    listen_notify=False,
                    install_signal_handlers=False,
                    additional_context={MODELS: models},
                )

    yield work
    await models.close()


def opened_session(
    user: User, *texts: str, kind: str = SessionKind.OPEN_CONVERSATION, is_titled: bool = True
) -> Session:
    """Open a session with these texts by the user and Sage in turn; with a title, so that none is made."""
    session = session_services.open_session(user_id=user.pk, kind=kind)
    for question, answer in zip(texts[::2], texts[1::2], strict=True):
        add_turn(session, question, answer)
    session.refresh_from_db()
    if is_titled:
        session.title_source = TitleSource.MODEL
        session.save(update_fields=["title_source"])
    return session


def add_turn(session: Session, question: str, answer: str) -> None:
    """Add a finished turn with these texts."""
    opened = services.open_turn(new_turn(session), text=question, client_id=None)
    key = TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence)
    locked = Session.unscoped.get(id=session.pk)
    append_message(session=locked, turn=opened.turn, role=MessageRole.ASSISTANT, content=answer)
    close_turn(key, Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn"))


def completed_session(user: User, *texts: str) -> Session:
    """Open a session with these texts and complete it."""
    session = opened_session(user, *texts)
    return session_services.end_session(
        user_id=user.pk, session_id=session.pk, status=SessionStatus.COMPLETED
    )


class HasLogger(Protocol):
    """A module of jobs."""

    __name__: str
    logger: Any


@contextmanager
def logged_by(module: HasLogger) -> Iterator[list[MutableMapping[str, Any]]]:
    """Capture what a module of jobs logs: its logger keeps the configuration that it was first used with."""
    used, module.logger = module.logger, structlog.get_logger(module.__name__)
    try:
        with capture_logs() as logged:
            yield logged
    finally:
        module.logger = used


def enqueue_title(session: Session) -> None:
    """Queue the title of a session, and nothing else that follows its turns."""
    enqueue(TITLE_JOB, key=f"title:{session.id}", session_id=str(session.id))


async def jobs_named(name: str) -> list[ProcrastinateJob]:
    """Return all jobs of that name, oldest first."""
    return await in_database(lambda: list(ProcrastinateJob.objects.filter(task_name=name).order_by("id")))


def make_due() -> None:
    """Let the retry waits elapse."""
    with connection.cursor() as cursor:
        # What a worker has just locked is no longer to do; waiting for it in another order would deadlock.
        cursor.execute(
            "UPDATE procrastinate_jobs SET scheduled_at = now() WHERE id IN"
            " (SELECT id FROM procrastinate_jobs WHERE status = 'todo' FOR UPDATE SKIP LOCKED)"
        )


async def fresh(session: Session) -> Session:
    """Return the session as it is now."""
    return await in_database(lambda: Session.unscoped.get(id=session.id))


def see_danger(session: Session) -> None:
    """Store that a second look saw danger in the session's first message."""
    looked = read_words(session.turns.earliest("started_at").id)
    assert looked is not None
    store_looks(
        [(looked, LookResult(outcome="concern", danger=Danger(level="concern", about="self", topic="life")))]
    )
