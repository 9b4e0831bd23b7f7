"""Lock order: session before turn, so a tool that changes the session can't deadlock."""

import threading
from collections.abc import Callable
from contextlib import suppress

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from psycopg import sql

from sessions_app import leases, selectors, services, session_services, turn_endings, turn_records
from sessions_app.errors import Refused, StaleFence
from sessions_app.leases import claim_turn, end_half_sent_transactions, end_transactions
from sessions_app.models import ModelUsage, Session, SessionKind, SessionStatus, Turn, TurnStatus
from sessions_app.turn_endings import Ending
from sessions_app.turn_locks import TurnKey
from sessions_app.turn_records import CallResult
from tests.stored_turns import new_turn, open_conversation, open_turn, running_call, store_round

DONE = Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn")

Write = Callable[[User, TurnKey], object]


@pytest.fixture
def key(user: User) -> TurnKey:
    """A running turn with a pending tool call."""
    key = open_turn(open_conversation(user))
    store_round(key, calls=[running_call("enter_structured_arc")])
    return key


def close(_: User, key: TurnKey) -> object:
    return turn_endings.close_turn(key, DONE)


def interrupt(_: User, key: TurnKey) -> object:
    ending = Ending(status=TurnStatus.INTERRUPTED, stop_reason="interrupted")
    return turn_endings.close_turn(key, ending)


def send_a_message(user: User, key: TurnKey) -> object:
    return services.open_turn(new_turn(Session.unscoped.get()), text="again", client_id=None)


def end_the_session(user: User, key: TurnKey) -> object:
    session_id = Session.unscoped.get().id
    return session_services.end_session(
        user_id=user.pk, session_id=session_id, status=SessionStatus.ABANDONED
    )


def pause(_: User, key: TurnKey) -> object:
    return turn_endings.pause_turn(key, stop_reason="tool_use")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("write", [close, interrupt, send_a_message, end_the_session, pause])
def test_an_effect_that_changes_its_session_and_another_write_both_get_through(
    user: User, key: TurnKey, write: Write
) -> None:
    begun = threading.Event()
    failures: list[BaseException] = []

    def meanwhile() -> None:
        begun.wait()
        try:
            write(user, key)
        except (Refused, StaleFence):
            pass
        except BaseException as error:  # noqa: BLE001 - it is checked below
            failures.append(error)
        finally:
            connections["default"].close()

    other = threading.Thread(target=meanwhile)
    other.start()

    def effect() -> CallResult:
        begun.set()
        _wait_until_somebody_waits_for_us(other)
        session_id = Turn.unscoped.values_list("session_id", flat=True).get(id=key.turn_id)
        session = selectors.accessible_session(user_id=user.pk, session_id=session_id, is_locked=True)
        session.active_arc = SessionKind.OPEN_DAY
        session.save(update_fields=["active_arc"])
        return CallResult(content="entered", is_error=False)

    turn_records.run_effect(key, "t1", effect)
    other.join()
    assert failures == []
    assert Session.unscoped.get().active_arc == SessionKind.OPEN_DAY


@pytest.mark.django_db(transaction=True)
def test_a_row_that_only_refers_to_a_session_or_turn_waits_for_no_lock_of_theirs(
    user: User, key: TurnKey
) -> None:
    stored = threading.Event()

    def store_usage() -> None:
        try:
            turn_records.store_usage(key, usage=ModelUsage(model="m", input_tokens=1))
            stored.set()
        finally:
            connections["default"].close()

    def effect() -> CallResult:
        other = threading.Thread(target=store_usage)
        other.start()
        other.join(timeout=10)
        return CallResult(content="", is_error=not stored.is_set())

    assert not turn_records.run_effect(key, "t1", effect).is_error


def _wait_until_somebody_waits_for_us(other: threading.Thread) -> None:
    while other.is_alive():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            )
            if cursor.fetchone():
                return


@pytest.mark.django_db(transaction=True)
def test_a_turn_whose_runner_froze_while_it_locked_it_keeps_no_take_over_waiting(
    user: User, key: TurnKey
) -> None:
    with psycopg.connect(**connection.get_connection_params()) as frozen:
        frozen.execute(sql.SQL("SELECT 1 FROM {} FOR UPDATE").format(sql.Identifier(Turn._meta.db_table)))
        assert claim_turn(key, owner="another") is None
    assert claim_turn(key, owner="another") is not None


@pytest.mark.django_db(transaction=True)
def test_a_dead_process_from_which_the_database_expects_more_loses_its_locks(
    user: User, key: TurnKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "STUCK_SECONDS", 0.0)
    name = "elsewhere:1:0a1b2c3d"
    parameters = connection.get_connection_params() | {"application_name": name}
    with (
        suppress(psycopg.OperationalError),  # leaving a broken connection
        psycopg.connect(**parameters) as frozen,
        frozen.pipeline(),
    ):
        frozen.execute("SELECT 1").fetchone()
        assert end_transactions([f"{name}:0001"]) == set()  # it holds no lock yet
        lock = sql.SQL("SELECT 1 FROM {} FOR UPDATE").format(sql.Identifier(Turn._meta.db_table))
        assert frozen.execute(lock).fetchone()
        assert end_transactions(["elsewhere:1:4e5f6a7b:0001"]) == set()
        assert claim_turn(key, owner="another") is None
        assert end_transactions([f"{name}:0001"]) == {name}
        assert claim_turn(key, owner="another") is not None
        with pytest.raises(psycopg.OperationalError):
            frozen.execute("SELECT 1").fetchone()


@pytest.mark.django_db(transaction=True)
def test_a_program_without_a_name_keeps_its_transaction(
    user: User, key: TurnKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "STUCK_SECONDS", 0.0)
    parameters = connection.get_connection_params() | {"application_name": ""}
    with psycopg.connect(**parameters) as other:
        other.execute(sql.SQL("SELECT 1 FROM {} FOR UPDATE").format(sql.Identifier(Turn._meta.db_table)))
        assert end_transactions(["", "nameless"]) == set()
        assert other.execute("SELECT 1").fetchone()


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_froze_in_the_middle_of_its_statements_loses_its_locks(
    user: User, key: TurnKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no lease. One that is merely idle in a transaction is ended by the database itself."""
    names = ("worker:1:0a1b2c3d", "psql", "")
    lock = sql.SQL("SELECT 1 FROM {} FOR UPDATE").format(sql.Identifier(Turn._meta.db_table))
    for name in names:
        parameters = connection.get_connection_params() | {"application_name": name}
        with (
            suppress(psycopg.OperationalError),  # leaving a broken connection
            psycopg.connect(**parameters) as frozen,
            frozen.pipeline(),
        ):
            assert frozen.execute(lock).fetchone()
            assert claim_turn(key, owner="another") is None
            assert end_half_sent_transactions() == set()  # not yet
            monkeypatch.setattr(leases, "HALF_SENT_SECONDS", 0.0)
            assert end_half_sent_transactions() == ({name} if ":" in name else set())
            monkeypatch.undo()
            if ":" in name:
                claimed = claim_turn(key, owner="another")
                assert claimed is not None
                key = claimed
