"""Opening sessions and turns: database constraints, and errors for the user."""

import uuid
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from sessions_app import selectors, services, session_services
from sessions_app.errors import Refused
from sessions_app.models import (
    Message,
    SafetyVerdict,
    Session,
    SessionStatus,
    Turn,
    TurnStatus,
)
from sessions_app.organising import delete_session
from tests.sessions_app.turns import ask_question, begin, close, say
from tests.stored_turns import GENEROUS, new_turn


@pytest.mark.django_db
def test_messages_are_numbered_without_gaps(session: Session) -> None:
    for text in ("one", "two", "three"):
        close(say(session, text), text="answer")
    assert list(session.messages.values_list("number", "role")) == [
        (1, "user"),
        (2, "assistant"),
        (3, "user"),
        (4, "assistant"),
        (5, "user"),
        (6, "assistant"),
    ]


@pytest.mark.django_db
def test_a_second_message_is_refused_while_a_turn_is_open(session: Session) -> None:
    say(session)
    with pytest.raises(Refused, match="still answering"):
        say(session, "again")
    assert session.messages.count() == 1


@pytest.mark.django_db
def test_the_database_itself_refuses_a_second_open_turn(session: Session) -> None:
    Turn.unscoped.create(session=session)
    with pytest.raises(IntegrityError, match="turn_one_open_per_session"), transaction.atomic():
        Turn.unscoped.create(session=session, status=TurnStatus.AWAITING_USER)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model_values", "constraint"),
    [
        ({"status": "paused", "ended_at": timezone.now()}, "session_status_known"),
        ({"kind": "therapy"}, "session_kind_known"),
        ({"active_arc": "siesta"}, "session_arc_known"),
        ({"status": "completed"}, "session_ended_at_iff_ended"),
    ],
)
def test_the_database_itself_refuses_unknown_states(
    user: User, model_values: dict[str, object], constraint: str
) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Session.unscoped.create(user=user, **model_values)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "constraint"),
    [({"looked": "maybe"}, "verdict_looked_known"), ({"noticed": "skipped"}, "verdict_noticed_known")],
)
def test_the_database_itself_refuses_a_verdict_with_unknown_values(
    session: Session, values: dict[str, str], constraint: str
) -> None:
    message = say(session).message
    known = {"session": session, "message": message, "about": "self", "topic": "life", "level": "none"}
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        SafetyVerdict.unscoped.create(**{**known, **values})
    SafetyVerdict.unscoped.create(**known, looked="skipped", noticed="concern")


@pytest.mark.django_db
def test_the_same_client_id_twice_is_one_turn_for_ever(session: Session) -> None:
    first = say(session, client_id="abc")
    again = say(session, client_id="abc")
    close(first, text="answer")
    later = say(session, client_id="abc")
    assert first.is_new
    assert not again.is_new
    assert not later.is_new
    assert {first.turn.id, again.turn.id, later.turn.id} == {first.turn.id}
    assert session.turns.count() == 1


@pytest.mark.django_db
def test_a_message_with_other_words_or_documents_under_a_known_client_id_is_refused(session: Session) -> None:
    first = say(session, "one\r\ntwo", client_id="abc", metadata={"documents": [1], "danger": {}})
    assert say(session, "one\ntwo", client_id="abc", metadata={"documents": [1]}).turn == first.turn
    for text, documents in (("one", [1]), ("one\ntwo", [2]), ("one\ntwo", [1, 2]), ("one\ntwo", [])):
        with pytest.raises(Refused, match="already sent, with other words"):
            say(session, text, client_id="abc", metadata={"documents": documents})
    assert session.messages.count() == 1


@pytest.mark.django_db
def test_a_long_message_and_an_edit_under_a_known_client_id_are_refused_with_other_words(
    session: Session, user: User
) -> None:
    close(say(session, "one", client_id="abc", metadata={"documents": [1]}), text="answer")
    ids: dict[str, Any] = {"user_id": user.pk, "session_id": session.id, "client_id": "abc"}
    services.refuse_early(**ids, text="one", rate_limit=GENEROUS)
    with pytest.raises(Refused, match="already sent, with other words"):
        services.refuse_early(**ids, text="two", rate_limit=GENEROUS)
    with pytest.raises(Refused, match="already sent, with other words"):
        services.edit_message(new_turn(session), text="two", client_id="abc")
    with pytest.raises(Refused, match="has already been sent"):
        services.edit_message(new_turn(session), text="one", client_id="abc", metadata={"documents": [1]})
    assert session.messages.filter(turn__is_withdrawn=False).count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "write something"),
        (" \n\t ", "write something"),
        (None, "must be text"),
        (7, "must be text"),
        (["a"], "must be text"),
        ("a\x00b", "can’t be stored"),
        ("a\ud800b", "can’t be stored"),
        ("x" * 20_001, "20,001 characters"),
    ],
)
def test_a_text_that_cannot_be_a_message_is_refused_and_changes_nothing(
    session: Session, text: object, told: str
) -> None:
    with pytest.raises(Refused, match=told):
        say(session, text)
    assert session.turns.count() == 0
    assert session.messages.count() == 0


@pytest.mark.django_db
def test_the_longest_message_fits(session: Session) -> None:
    assert len(say(session, "é" * 20_000).message.content) == 20_000


@pytest.mark.django_db
@pytest.mark.parametrize("client_id", [5, {"a": 1}, "x" * 101, "a\x00"])
def test_a_client_id_that_is_none_is_refused(session: Session, client_id: object) -> None:
    with pytest.raises(Refused, match="message id"):
        say(session, client_id=client_id)


@pytest.mark.django_db
def test_another_persons_session_looks_missing(session: Session, other_user: User) -> None:
    theirs = new_turn(session, user_id=other_user.pk)
    for new in (theirs, replace(theirs, session_id=uuid.uuid4())):
        with pytest.raises(Session.DoesNotExist):
            services.open_turn(new, text="hi", client_id=None)


@pytest.mark.django_db
def test_a_status_moves_once_and_never_silently(session: Session, user: User) -> None:
    session_services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.ABANDONED)
    for status in SessionStatus:
        with pytest.raises(Refused):
            session_services.end_session(user_id=user.pk, session_id=session.id, status=status)
    session.refresh_from_db()
    assert session.status == SessionStatus.ABANDONED


@pytest.mark.django_db
@pytest.mark.parametrize("ended", [status for status in SessionStatus if status != SessionStatus.ACTIVE])
def test_the_database_refuses_any_second_move_of_a_status(session: Session, ended: SessionStatus) -> None:
    session.status, session.ended_at = ended, timezone.now()
    session.save()
    for status in set(SessionStatus) - {ended}:
        moved = Session.unscoped.get(id=session.id)
        moved.status = status
        moved.ended_at = None if status == SessionStatus.ACTIVE else timezone.now()
        with (
            pytest.raises(IntegrityError, match=f"status can't move from {ended} to {status}"),
            transaction.atomic(),
        ):
            moved.save()
        with pytest.raises(IntegrityError), transaction.atomic():
            Session.unscoped.filter(id=session.id).update(status=status, ended_at=moved.ended_at)
    moved = Session.unscoped.get(id=session.id)
    moved.title = "What else changes may be saved"
    moved.save()
    assert moved.status == ended


@pytest.mark.django_db
def test_writing_to_an_ended_session_opens_one_that_continues_it(session: Session, user: User) -> None:
    session_services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.COMPLETED)
    first = say(session)
    close(first, text="answer")
    second = say(session, "more")
    assert first.session_id != session.id
    assert first.session_id == second.session_id
    assert Session.unscoped.get(id=first.session_id).continues_id == session.id
    assert session.messages.count() == 0


@pytest.mark.django_db
def test_writing_to_an_ended_session_whose_successor_was_deleted_opens_another_one(
    session: Session, user: User
) -> None:
    session_services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.COMPLETED)
    first = say(session)
    close(first, text="answer")
    delete_session(user_id=user.pk, session_id=first.session_id)
    second = say(session, "more")
    close(second, text="answer")
    assert second.session_id not in (session.id, first.session_id)
    assert Session.of(user.pk).get(id=second.session_id).continues_id == session.id
    assert say(session, "and more").session_id == second.session_id


@pytest.mark.django_db
def test_the_title_is_the_first_words(session: Session) -> None:
    say(session, "  I want\nto talk about " + "my work and " * 20)
    session.refresh_from_db()
    assert session.title.startswith("I want to talk about my work")
    assert len(session.title) <= 81


@pytest.mark.django_db
def test_a_message_supersedes_a_pending_call_in_one_step(session: Session) -> None:
    first = say(session)
    ask_question(first)
    second = say(session, "something else")
    assert [call.tool_use_id for call in second.superseded] == ["q"]
    first.turn.refresh_from_db()
    assert (first.turn.status, first.turn.prefix) == (TurnStatus.SUPERSEDED, "")
    assert [(message.role, message.content) for message in selectors.history(session)] == [
        ("user", "hello"),
        ("assistant", "Which?"),
        ("user", "something else"),
    ]


@pytest.mark.django_db
def test_the_same_client_id_is_one_turn_also_after_the_session_ended(session: Session, user: User) -> None:
    session_services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.COMPLETED)
    first = say(session, client_id="abc")
    assert not say(session, client_id="abc").is_new
    close(first, text="answer")
    session_services.end_session(user_id=user.pk, session_id=first.session_id, status=SessionStatus.COMPLETED)
    again = say(session, client_id="abc")
    assert (again.is_new, again.turn.id) == (False, first.turn.id)
    assert Message.unscoped.filter(role="user").count() == 1


@pytest.mark.django_db
def test_nothing_is_refused_early_that_would_go_on_in_another_session(session: Session, user: User) -> None:
    say(session)
    early = partial(
        services.refuse_early,
        user_id=user.pk,
        session_id=session.id,
        text="more",
        client_id=None,
        rate_limit=GENEROUS,
    )
    with pytest.raises(Refused, match="still answering"):
        early()
    session_services.abandon_session(user_id=user.pk, session_id=session.id)  # its turn hasn't stopped yet
    early()
    assert say(session, "more").session_id != session.id


def test_a_form_kept_and_sent_again_later_begins_another_session(user: User) -> None:
    first = begin(user)
    say(first, client_id="form")
    assert begin(user, text="hello").id == first.id  # the same message, sent again
    other = begin(user, "of another form")
    say(other)
    assert begin(user, "of another form").id != other.id
    session_services.end_session(user_id=user.pk, session_id=first.id, status=SessionStatus.ABANDONED)
    assert begin(user, text="hello").id != first.id


def test_a_form_with_other_words_begins_another_session_once(user: User) -> None:
    first = begin(user, text="one")
    assert begin(user, text="two").id == first.id, "nothing was said in it yet"
    say(first, "one\ntwo", client_id="form")
    other = begin(user, text="two")
    assert other.id != first.id
    say(other, "two", client_id="form")
    assert begin(user, text="two").id == other.id
    assert begin(user, text="one\r\ntwo").id == first.id
    third = begin(user)
    assert begin(user).id == third.id
    Session.unscoped.filter(id=other.id).update(deleted_at=timezone.now())
    assert begin(user, text="two").id not in (first.id, other.id, third.id)
