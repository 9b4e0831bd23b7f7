"""Prepared statements: several in one round trip, and what one that fails leaves behind."""

from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from psycopg import Cursor
from psycopg.pq import TransactionStatus

from sessions_app import services
from sessions_app.models import Message, MessageRole, Session, SessionKind, Turn
from sessions_app.queries import Columns, Query, parameter, prepared, run_queries, run_query, write_together

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
    session = services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)
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
    assert (Message.unscoped.get().content, Message.unscoped.get()) == ("%(no)s 100 %", message)
    assert Turn.unscoped.get().prefix == turn.prefix
