"""The migrations while the site runs: what writers do meanwhile, and who waits for whom."""

import importlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from coaching.models import FileType, RecallPassage, UserFile, UserFileVersion
from coaching.personal_data.removal import remove_rows
from sessions_app.migrations._locks import in_short_attempts, lock_tables
from sessions_app.models import Message, Session, TurnStatus
from tests.recall.history import add, talk, texts

pytestmark = pytest.mark.django_db(transaction=True)

backfill: Any = importlib.import_module("coaching.migrations.0010_recall_backfill")
TABLES = importlib.import_module("coaching.migrations.0009_recall_triggers").TABLES
WAIT_SECONDS = 60
Start = Callable[[Callable[[], object]], Future[object]]


def index_all() -> None:
    backfill.index_all(None, connection.schema_editor())


def indexed(user: User) -> set[tuple[Any, ...]]:
    """Return the user's index without its keys."""
    names = ("source", "session_id", "message_id", "file_id", "number", "part", "piece", "moment", "lexemes")
    return set(RecallPassage.of(user.pk).values_list(*names))


@pytest.fixture
def start() -> Iterator[Start]:
    """Start work in a thread with a connection of its own."""
    with ThreadPoolExecutor(max_workers=1) as threads:
        yield lambda work: threads.submit(_with_own_connection, work)


def _with_own_connection(work: Callable[[], object]) -> object:
    try:
        return work()
    finally:
        connection.close()


def wait_until_it_waits(*, is_waiting: bool = True) -> None:
    """Wait until somebody waits for a lock of this transaction, or until nobody does."""
    deadline = monotonic() + WAIT_SECONDS
    with connection.cursor() as cursor:
        while monotonic() < deadline:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            )
            if is_waiting == bool(cursor.fetchone()[0]):
                return
    raise AssertionError("nobody waits" if is_waiting else "it still waits")


@pytest.fixture
def session(user: User) -> Session:
    """A session with messages and a summary, and a file."""
    session = talk(user, "A numbat", "Ein Numbat, und das ist nicht sehr viel für mich", "Numbats of a kind")
    session.summary = "A numbat in short"
    session.save()
    file = UserFile.of(user.pk).create(path="captures/a.md", file_type=FileType.CAPTURE)
    append_version(file, "A numbat on file")
    return session


def append_version(file: UserFile, content: str) -> None:
    file.version_number += 1
    file.save()
    UserFileVersion.unscoped.create(
        file=file,
        number=file.version_number,
        content=content,
        size=1,
        sha256="",
        storage_key=f"{file.version_number}",
        source="user",
    )


@pytest.mark.slow
def test_what_was_there_before_is_indexed_once_as_the_triggers_would(user: User, session: Session) -> None:
    talk(user, *(f"A quoll, number {number}" for number in range(1_100)))
    append_version(UserFile.of(user.pk).get(), "A newer file")
    talk(user, "A dugong").turns.update(is_withdrawn=True, status=TurnStatus.SUPERSEDED)
    running = Session.of(user.pk).create()
    turn = running.turns.create()
    add(running, turn, "A bilby", is_by_user=True)
    before = indexed(user)
    assert len(before) == 1_105
    RecallPassage.of(user.pk).delete()
    for _ in range(2):
        index_all()
        assert indexed(user) == before
    turn.status, turn.ended_at = TurnStatus.COMPLETED, timezone.now()
    turn.save()
    assert texts(user, "bilby") == ["A bilby"]


def delete_session(session: Session) -> None:
    session.delete()


def delete_messages(session: Session) -> None:
    Message.within(session).delete()


def withdraw(session: Session) -> None:
    session.turns.update(is_withdrawn=True, status=TurnStatus.SUPERSEDED)


def hide(session: Session) -> None:
    session.messages.update(metadata={"is_hidden": True})


def reword_messages(session: Session) -> None:
    session.messages.update(content="Another thing " * 300)


def reword_summary(session: Session) -> None:
    Session.of(session.user_id).update(summary="Another thing")


def remove_summary(session: Session) -> None:
    Session.of(session.user_id).update(summary="")


def save_file(session: Session) -> None:
    append_version(UserFile.of(session.user_id).get(), "")


def delete_file(session: Session) -> None:
    UserFile.of(session.user_id).get().delete()


def remove_the_user(session: Session) -> None:
    remove_rows(session.user_id)


Write = Callable[[Session], None]
writes = pytest.mark.parametrize(
    "write",
    [
        delete_session,
        delete_messages,
        withdraw,
        hide,
        reword_messages,
        reword_summary,
        remove_summary,
        save_file,
        delete_file,
        remove_the_user,
    ],
)


@writes
def test_what_is_changed_before_it_is_indexed_is_indexed_as_it_became(
    user: User, session: Session, write: Write, start: Start
) -> None:
    RecallPassage.of(user.pk).delete()
    with transaction.atomic():
        write(session)
        indexing = start(index_all)
        wait_until_it_waits()
    indexing.result(timeout=WAIT_SECONDS)
    expect_a_right_index(user)


@writes
def test_what_is_changed_while_it_is_indexed_waits_and_is_indexed_as_it_became(
    user: User, session: Session, write: Write, start: Start
) -> None:
    RecallPassage.of(user.pk).delete()
    writing: list[Future[object]] = []

    def index(cursor: CursorWrapper) -> None:
        backfill.index_messages(cursor, 0)
        backfill.index_sessions(cursor, backfill.FIRST_SESSION)
        backfill.index_files(cursor, 0)
        if not writing:
            writing.append(start(lambda: write(session)))
            wait_until_it_waits()

    in_short_attempts(connection, index)
    writing[0].result(timeout=WAIT_SECONDS)
    expect_a_right_index(user)


def expect_a_right_index(user: User) -> None:
    """The index is what a new one would be; nothing in it is of a row that is gone."""
    found = indexed(user)
    RecallPassage.of(user.pk).delete()
    index_all()
    assert found == indexed(user)


@pytest.mark.parametrize("mode", ["SHARE ROW EXCLUSIVE", "ACCESS EXCLUSIVE"])
def test_the_site_never_fails_for_a_migration_that_locks_its_tables(
    session: Session, mode: str, start: Start
) -> None:
    def migrate() -> None:
        with transaction.atomic():
            lock_tables(connection, TABLES, mode=mode)

    with transaction.atomic():
        session.messages.update(created_at=timezone.now())
        migrating = start(migrate)
        wait_until_it_waits()
        wait_until_it_waits(is_waiting=False)  # it gives up before the database looks for deadlocks
        # Against the order in which the migration locks.
        session.turns.update(ended_at=timezone.now())
        session.save()
        UserFile.of(session.user_id).get().save()
        assert not migrating.done()
    migrating.result(timeout=WAIT_SECONDS)
