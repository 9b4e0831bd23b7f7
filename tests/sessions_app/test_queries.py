"""Prepared statements: several in one round trip, and what one that fails leaves behind."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction
from django.db.utils import load_backend
from psycopg import Cursor
from psycopg.pq import TransactionStatus

from sessions_app.models import Message, MessageRole, Session, Turn
from sessions_app.queries import Columns, Query, parameter, prepared, run_queries, run_query, write_together
from tests.stored_turns import open_conversation

ONE, BROKEN = Query("SELECT %(n)s::int", {"n": 1}), Query("SELECT nothing", {})


@pytest.mark.django_db
def test_queries_in_one_round_trip_give_their_rows_in_order() -> None:
    queries = [Query("SELECT %(n)s::int", {"n": number}) for number in range(5)]
    assert run_queries(queries) == [[(number,)] for number in range(5)]


@pytest.mark.django_db(transaction=True)
def test_after_a_failed_query_the_next_round_trip_works() -> None:
    for _ in range(4):  # also once the statements are prepared
        with pytest.raises(DatabaseError):
            run_queries([ONE, BROKEN, ONE])
        assert run_queries([ONE, ONE]) == [[(1,)], [(1,)]]


@pytest.mark.django_db(transaction=True)
def test_a_query_that_was_skipped_after_a_failure_runs_the_next_time() -> None:
    unprepared = Query("SELECT 'behind a failure'", {})
    for _ in range(settings.PREPARE_THRESHOLD):
        run_query(unprepared)
    with pytest.raises(DatabaseError):
        run_queries([BROKEN, unprepared])
    assert run_query(unprepared) == [("behind a failure",)]


@pytest.mark.django_db(transaction=True)
def test_a_process_that_freezes_over_the_results_is_idle_in_its_transaction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states = []
    fetch = Cursor.fetchall

    def watched(cursor: Cursor[Any]) -> list[Any]:
        states.append(cursor.connection.info.transaction_status)
        return fetch(cursor)

    monkeypatch.setattr(Cursor, "fetchall", watched)
    with transaction.atomic():
        run_queries([ONE, ONE])
    # Idle, not active: the database ends idle transactions.
    assert states == [TransactionStatus.INTRANS] * 2


@pytest.fixture
def distant_database(transactional_db: None, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Connect this thread to the database through a relay with late answers; give the direct way, too."""
    described = deepcopy(connections.settings[DEFAULT_DB_ALIAS])
    described["OPTIONS"].pop("pool", None)
    described |= {"NAME": connection.settings_dict["NAME"], "HOST": str(tmp_path)}
    near = connections[DEFAULT_DB_ALIAS]
    parameters = near.get_connection_params()
    name = f".s.PGSQL.{parameters.get('port', 5432)}"
    with relay(tmp_path / name, Path(parameters["host"]) / name, delay=0.02):
        connections[DEFAULT_DB_ALIAS] = load_backend(described["ENGINE"]).DatabaseWrapper(
            described, DEFAULT_DB_ALIAS
        )
        yield parameters
        connections[DEFAULT_DB_ALIAS].close()
        connections[DEFAULT_DB_ALIAS] = near


@contextmanager
def relay(near: Path, far: Path, *, delay: float) -> Iterator[None]:
    """Pass the bytes of one connection on between two local sockets, late on their way back."""

    def pass_on(source: socket.socket, target: socket.socket, delay: float) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                time.sleep(delay)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as server:
        listening.bind(str(near))
        listening.listen()

        def serve() -> None:
            client, _ = listening.accept()
            listening.close()
            server.connect(str(far))
            back = threading.Thread(target=pass_on, args=(server, client, delay))
            back.start()
            pass_on(client, server, 0)
            back.join()
            client.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        thread.join()


def test_a_transaction_that_stays_idle_after_several_queries_gives_up_its_locks(
    distant_database: dict[str, Any],
) -> None:
    lock = Query("SELECT pg_advisory_xact_lock(%(key)s::int)", {"key": 4711})

    taken = []

    @transaction.atomic
    def freeze(other: psycopg.Connection[tuple[object, ...]]) -> None:
        run_query(Query("SELECT set_config('idle_in_transaction_session_timeout', '200ms', true)", {}))
        run_queries([lock, ONE])
        other.execute("SELECT pg_advisory_xact_lock(4711)")
        taken.append(4711)

    with psycopg.connect(**distant_database) as other:
        other.execute("SET lock_timeout = '10s'")
        with pytest.raises(DatabaseError):
            freeze(other)
    assert taken


@pytest.mark.django_db(transaction=True)
def test_a_failure_inside_a_transaction_takes_all_of_it_back(user: User) -> None:
    @transaction.atomic
    def rename() -> None:
        User.objects.filter(pk=user.pk).update(first_name="Ada")
        run_queries([ONE, BROKEN])

    with pytest.raises(DatabaseError):
        rename()
    assert run_query(Query("SELECT first_name FROM auth_user WHERE id = %(id)s", {"id": user.pk})) == [("",)]


@pytest.mark.django_db
def test_a_prepared_queryset_takes_its_values_when_it_runs(user: User) -> None:
    names = prepared(
        lambda: User.objects.filter(pk=parameter("user"), username__startswith="a%d").values_list("username")
    )
    User.objects.filter(pk=user.pk).update(username="a%da")
    assert run_query(names(user=user.pk)) == [("a%da",)]
    assert run_query(names(user=user.pk + 1)) == []


@pytest.mark.django_db
def test_objects_are_made_and_stored_as_the_orm_would(user: User) -> None:
    session = open_conversation(user)
    session.title, session.metadata = "“Ünïcode” %s", {"b": 1e2, "a": ["\\u0000 isn't there", None]}
    turn = Turn(session=session, prefix="100 % {}")
    message = Message(session=session, turn=turn, number=1, role=MessageRole.USER, content="%(no)s 100 %")
    write_together(changed={session: ["title", "metadata"]}, added=[turn, message])
    assert not turn._state.adding
    columns = Columns(Session)
    every_session = prepared(lambda: Session.unscoped.values_list(*columns.lookups))
    (row,) = run_query(every_session())
    stored = Session.unscoped.get()
    for name in ("id", "user_id", "title", "metadata", "started_at", "kind", "ended_at"):
        assert getattr(columns.object_of(row), name) == getattr(stored, name) == getattr(session, name)
    made = columns.object_of(row)
    made.title = "Changed"
    made.save()
    assert Session.unscoped.get().title == "Changed"
    assert (Message.unscoped.get().content, Message.unscoped.get()) == ("%(no)s 100 %", message)
    assert Turn.unscoped.get().prefix == turn.prefix


@pytest.mark.django_db
def test_a_field_that_was_left_out_is_read_when_it_is_asked_for(user: User) -> None:
    session = open_conversation(user)
    columns = Columns(Session, without=("opening",))
    (row,) = run_query(prepared(lambda: Session.unscoped.values_list(*columns.lookups))())
    Session.unscoped.update(opening="read later")
    made = columns.object_of(row)
    assert made == session
    assert made.get_deferred_fields() == {"opening"}
    assert made.opening == "read later"
