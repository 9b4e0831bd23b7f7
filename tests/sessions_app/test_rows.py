"""Statements that are written out: several at once, and what one that fails leaves behind."""

from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from psycopg import Cursor
from psycopg.pq import TransactionStatus

from sessions_app import services
from sessions_app.models import Message, MessageRole, Session, SessionKind, Turn
from sessions_app.rows import Columns, Question, ask, ask_together, write_together

ONE, BROKEN = Question("SELECT %(n)s::int", {"n": 1}), Question("SELECT nothing", {})


@pytest.mark.django_db
def test_questions_that_are_asked_together_are_answered_in_their_order() -> None:
    questions = [Question("SELECT %(n)s::int", {"n": number}) for number in range(5)]
    assert ask_together(questions) == [[(number,)] for number in range(5)]


@pytest.mark.django_db(transaction=True)
def test_where_one_of_them_fails_the_connection_can_be_asked_again() -> None:
    for _ in range(4):  # also once the statements are prepared
        with pytest.raises(DatabaseError):
            ask_together([ONE, BROKEN, ONE])
        assert ask_together([ONE, ONE]) == [[(1,)], [(1,)]]


@pytest.mark.django_db(transaction=True)
def test_what_would_have_been_prepared_behind_a_failure_is_answered_afterwards() -> None:
    unprepared = Question("SELECT 'behind a failure'", {})
    for _ in range(settings.PREPARE_THRESHOLD):
        ask(unprepared)
    with pytest.raises(DatabaseError):
        ask_together([BROKEN, unprepared])
    assert ask(unprepared) == [("behind a failure",)]


@pytest.mark.django_db(transaction=True)
def test_who_freezes_over_the_answers_holds_no_locks_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    states = []
    fetch = Cursor.fetchall

    def watched(cursor: Cursor[Any]) -> list[Any]:
        states.append(cursor.connection.info.transaction_status)
        return fetch(cursor)

    monkeypatch.setattr(Cursor, "fetchall", watched)
    with transaction.atomic():
        ask_together([ONE, ONE])
    # Idle, and not still at work: the database ends what is idle for too long.
    assert states == [TransactionStatus.INTRANS] * 2


@pytest.mark.django_db(transaction=True)
def test_a_failure_inside_a_transaction_takes_all_of_it_back(user: User) -> None:
    @transaction.atomic
    def rename() -> None:
        User.objects.filter(pk=user.pk).update(first_name="Ada")
        ask_together([ONE, BROKEN])

    with pytest.raises(DatabaseError):
        rename()
    assert ask(Question("SELECT first_name FROM auth_user WHERE id = %(id)s", {"id": user.pk})) == [("",)]


@pytest.mark.django_db
def test_objects_are_made_and_stored_as_the_orm_would(user: User) -> None:
    session = services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)
    session.title, session.metadata = "“Ünïcode” %s", {"b": 1e2, "a": ["\\u0000 isn't there", None]}
    turn = Turn(session=session, prefix="100 % {}")
    message = Message(session=session, turn=turn, number=1, role=MessageRole.USER, content="%(no)s 100 %")
    write_together(changed={session: ["title", "metadata"]}, added=[turn, message])
    assert not turn._state.adding
    columns = Columns(Session, "session")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns.sql} FROM sessions_app_session AS session")
        (row,) = cursor.fetchall()
    stored = Session.unscoped.get()
    for name in ("id", "user_id", "title", "metadata", "started_at", "kind", "ended_at"):
        assert getattr(columns.object_of(row), name) == getattr(stored, name) == getattr(session, name)
    assert (Message.unscoped.get().content, Message.unscoped.get()) == ("%(no)s 100 %", message)
    assert Turn.unscoped.get().prefix == turn.prefix
