"""A session's log: numbered as the commits were, without gaps and words, and pruned when nobody needs it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from datetime import timedelta
from typing import get_type_hints

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions_app import session_services, turn_endings
from sessions_app.models import EventKind, Message, Round, Session, SessionEvent, SessionStatus, TurnStatus
from sessions_app.selectors import accessible_session
from sessions_app.session_events import (
    FACT_TYPES,
    KEPT,
    MAX_READ,
    ArcEntered,
    StepTold,
    Titled,
    append,
    prune,
    read_since,
)
from sessions_app.titles import rename_session
from sessions_app.turn_endings import Ending, LastRound
from tests.sessions_app.turns import ask_question, begin, say
from tests.stored_turns import open_conversation, open_turn

DONE = Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn")


def kinds_of(session: Session) -> list[str]:
    return list(SessionEvent.within(session).order_by("seq").values_list("kind", flat=True))


def counter_of(session: Session) -> int:
    return Session.unscoped.values_list("event_seq", flat=True).get(id=session.id)


def test_each_kind_has_one_fact_of_ids_and_small_values() -> None:
    assert FACT_TYPES.keys() == set(EventKind.values)
    for fact in FACT_TYPES.values():
        hints = get_type_hints(fact)
        stored = [each.name for each in fields(fact) if not each.metadata]
        assert {str(hints[name]) for name in stored} <= {
            "<class 'int'>", "<class 'str'>", "<class 'bool'>", "collections.abc.Sequence[str]",
        }, fact  # fmt: skip
        assert not {"text", "content", "title", "value", "name", "words"} & set(stored), fact


@pytest.mark.django_db
def test_a_turn_and_its_question_are_in_the_log_in_their_order(user: User) -> None:
    session = begin(user)
    opened = say(session, "Secret words")
    ask_question(opened)
    say(session, "Something else")
    assert kinds_of(session) == ["said", "turn_opened", "call_ended", "said", "turn_opened"]
    assert counter_of(session) == 5
    assert "Secret" not in str(list(SessionEvent.within(session).values_list("payload", flat=True)))


@pytest.mark.django_db
def test_what_is_rolled_back_is_in_no_log(user: User) -> None:
    session = open_conversation(user)
    with transaction.atomic():
        rename_session(user_id=user.pk, session_id=session.id, title="Plans")
        transaction.set_rollback(True)
    assert (kinds_of(session), counter_of(session)) == ([], 0)


@pytest.mark.django_db
def test_the_end_of_a_session_is_told_when_its_turn_has_stopped(user: User) -> None:
    session = open_conversation(user)
    key = open_turn(session)
    session_services.abandon_session(user_id=user.pk, session_id=session.id)
    assert kinds_of(session) == ["said", "turn_opened"]
    turn_endings.close_turn(key, Ending(status=TurnStatus.STOPPED, stop_reason="stopped"))
    assert kinds_of(session)[2:] == ["part_ended", "ended"]
    assert SessionEvent.within(session).latest("seq").payload == {"status": SessionStatus.ABANDONED}


@pytest.mark.django_db(transaction=True)
def test_numbers_follow_the_commits_where_many_append_at_once(user: User) -> None:
    session = open_conversation(user)

    def name_it(number: int) -> None:
        try:
            for repeat in range(5):
                rename_session(user_id=user.pk, session_id=session.id, title=f"Plans {number} {repeat}")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=4) as threads:
        list(threads.map(name_it, range(4)))  # raises what a thread has raised
    rows = list(SessionEvent.within(session).order_by("id").values_list("seq", flat=True))
    assert rows == list(range(1, 21))
    assert counter_of(session) == 20


@pytest.mark.django_db
def test_facts_are_read_after_a_number_and_not_where_some_are_gone(user: User) -> None:
    session = open_conversation(user)
    with transaction.atomic():
        locked = accessible_session(user_id=user.pk, session_id=session.id, is_locked=True)
        append(locked, Titled(), ArcEntered(arc="open_day"))
    session.refresh_from_db()
    assert read_since(session, 1) == [(2, ArcEntered(arc="open_day"))]
    assert read_since(session, 2) == []
    SessionEvent.within(session).filter(seq=1).delete()
    assert read_since(session, 0) is None
    assert read_since(session, 1) == [(2, ArcEntered(arc="open_day"))]


def test_who_reads_a_kind_of_a_newer_version_begins_anew(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction.atomic():
        append(session, ArcEntered(arc="open_day"))
    monkeypatch.delitem(FACT_TYPES, ArcEntered.kind)
    assert read_since(session, 0) is None


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (EventKind.ARC_ENTERED, {"arc": "open_day", "added_later": 1}),
        (EventKind.PART_ENDED, {"turn_id": "", "status": "", "stop_reason": "", "turn": "a newer meaning"}),
        (EventKind.ARC_ENTERED, {}),
    ],
)
def test_who_reads_a_kind_with_other_fields_begins_anew(
    session: Session, kind: EventKind, payload: dict[str, object]
) -> None:
    with transaction.atomic():
        append(session, Titled(), ArcEntered(arc="open_day"), Titled())
    SessionEvent.within(session).filter(seq=2).update(kind=kind, payload=payload)
    assert read_since(session, 0) is None
    assert read_since(session, 2) == [(3, Titled())]


def test_a_field_that_older_versions_did_not_write_has_its_default(session: Session) -> None:
    with transaction.atomic():
        append(session, StepTold(step_id=7, is_changed=True))
    SessionEvent.within(session).update(payload={"step_id": 7})
    assert read_since(session, 0) == [(1, StepTold(step_id=7))]


@pytest.mark.django_db
def test_the_log_of_a_session_goes_when_it_was_idle_for_a_day(user: User, other_user: User) -> None:
    idle, titled, active = begin(user), begin(user, "second"), begin(other_user)
    for session in (idle, titled, active):
        turn_endings.close_turn(open_turn(session), DONE)
    now = timezone.now() + KEPT
    SessionEvent.within(titled).filter(kind="part_ended").update(created_at=now)
    Session.unscoped.filter(id=active.id).update(last_active_at=now)
    assert prune(now + timedelta(minutes=1)) == 3
    assert (kinds_of(idle), counter_of(idle)) == ([], 3)
    assert len(kinds_of(titled)) == len(kinds_of(active)) == 3


@pytest.mark.django_db
def test_the_log_of_a_long_day_is_as_long_as_what_is_read_of_it(user: User) -> None:
    busy, other = open_conversation(user), open_conversation(user)
    with transaction.atomic():
        append(busy, *[Titled()] * (MAX_READ + 3))
        append(other, *[Titled()] * 2)
    assert prune() == 3
    facts = read_since(busy, busy.event_seq - MAX_READ)
    assert facts is not None
    assert [seq for seq, _ in facts] == [*range(4, MAX_READ + 4)]
    assert read_since(busy, 2) is None
    assert len(kinds_of(other)) == 2
    assert prune() == 0


@pytest.mark.django_db
def test_a_short_turn_takes_no_statement_more_for_its_facts(user: User) -> None:
    session = open_conversation(user)
    with CaptureQueriesContext(connection) as statements:
        turn_endings.close_turn(open_turn(session), DONE, last=last_round())
    writing = [row["sql"] for row in statements if SessionEvent._meta.db_table in row["sql"]]
    assert len(writing) == 2
    assert all(Message._meta.db_table in sql for sql in writing)


def last_round() -> LastRound:
    return LastRound(round=Round(number=1, blocks="[]", text="Hello.", stop_reason="end_turn"), usage=None)
