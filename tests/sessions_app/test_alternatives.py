"""Several answers to one message: turns that share it, of which exactly one is in the history."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from coaching.models import RecallPassage
from sessions_app import retries, selectors, services, session_services
from sessions_app.alternatives import answered_turn, can_be_chosen, choose_answer
from sessions_app.errors import Refused
from sessions_app.models import Session, SessionKind, Turn, TurnStatus
from sessions_app.titles import store_title
from sessions_app.turn_locks import TurnKey
from tests.sessions_app.turns import ask_again, ask_question, call, close, say
from tests.stored_turns import new_turn, open_conversation, store_round

pytestmark = pytest.mark.django_db(transaction=True)


def choose(session: Session, turn: Turn | object) -> None:
    turn_id = str(turn.id) if isinstance(turn, Turn) else turn
    choose_answer(user_id=session.user_id, session_id=session.id, turn_id=turn_id)


def history(session: Session) -> list[str]:
    return [message.content for message in selectors.history(session)]


@pytest.fixture
def answers(session: Session) -> list[Turn]:
    """Three answers to one message, the last of them chosen."""
    close(say(session, "Sandwiches"), text="Marmalade.")
    opened = [say(session, "Which marzipan?")]
    close(opened[0], text="Answer one, of badgers.")
    for text in ("Answer two, of otters.", "Answer three, of herons."):
        opened.append(ask_again(session))
        close(opened[-1], text=text)
    return [each.turn for each in opened]


def test_the_message_is_answered_again_and_the_present_answer_is_kept(
    session: Session, answers: list[Turn]
) -> None:
    assert history(session) == ["Sandwiches", "Marmalade.", "Which marzipan?", "Answer three, of herons."]
    rows = [Turn.unscoped.get(id=turn.id) for turn in answers]
    assert [row.status for row in rows] == [TurnStatus.COMPLETED] * 3
    assert [row.is_withdrawn for row in rows] == [True, True, False]
    assert [row.message_number for row in rows] == [3, 3, 3]
    assert selectors.read_alternatives(session, rows[2:]) == {3: [turn.id for turn in answers]}


def test_a_choice_changes_the_history_and_what_recall_finds_and_the_next_message_follows_it(
    session: Session, user: User, answers: list[Turn]
) -> None:
    def passages() -> set[int]:
        return set(RecallPassage.of(user.pk).values_list("number", flat=True))

    for turn, number, words in [(answers[0], 4, "one, of badgers."), (answers[1], 5, "two, of otters.")]:
        choose(session, turn)
        choose(session, turn)  # twice is once
        assert history(session)[2:] == ["Which marzipan?", f"Answer {words}"]
        assert passages() == {1, 2, 3, number}
    close(say(session, "Thanks"), text="Welcome.")
    assert history(session)[2:] == ["Which marzipan?", "Answer two, of otters.", "Thanks", "Welcome."]
    for turn in answers:
        with pytest.raises(Refused, match="doesn’t have that answer"):
            choose(session, turn)
        found = answered_turn(user_id=user.pk, session_id=session.id, turn_id=turn.id)
        assert found is not None
        assert not can_be_chosen(found)


def test_the_database_holds_that_exactly_one_of_them_is_in_the_history(
    session: Session, answers: list[Turn]
) -> None:
    turns = session.turns.filter(id=answers[0].id)
    with pytest.raises(IntegrityError, match="turn_one_chosen_per_message"):
        turns.update(is_withdrawn=False)
    with pytest.raises(IntegrityError, match="its message"):
        choose_without_the_message(session, answers)
    assert history(session)[-1] == "Answer three, of herons."


@transaction.atomic
def choose_without_the_message(session: Session, answers: list[Turn]) -> None:
    session.turns.filter(id=answers[2].id).update(is_withdrawn=True)
    session.turns.filter(id=answers[0].id).update(is_withdrawn=False)


def test_the_title_that_was_made_from_an_answer_is_made_again(
    session: Session, user: User, answers: list[Turn]
) -> None:
    assert store_title(user_id=user.pk, session_id=session.id, title="Herons", numbers=[3, 6])
    choose(session, answers[0])
    session.refresh_from_db()
    assert (session.title, session.title_source, session.title_covers) == ("Herons", "", 0)
    assert store_title(user_id=user.pk, session_id=session.id, title="Badgers", numbers=[3, 4])
    ask_again(session)
    session.refresh_from_db()
    assert (session.title_source, session.title_covers) == ("", 0)


def test_a_brief_that_covers_an_answer_is_withdrawn_with_it(session: Session, answers: list[Turn]) -> None:
    for version, until in ((1, 2), (2, 6)):
        session.briefs.create(version=version, text="- Herons.", covers_from=1, covers_until=until)
    Session.unscoped.filter(id=session.id).update(brief_covers=6)
    choose(session, answers[0])
    session.refresh_from_db()
    assert session.brief_covers == 2
    assert [brief.is_withdrawn for brief in session.briefs.order_by("version")] == [False, True]


def test_another_answer_is_refused_where_something_runs_or_waits_or_is_not_whole(
    session: Session, user: User
) -> None:
    with pytest.raises(Refused, match="no answer to ask for again"):
        ask_again(session)
    opened = say(session, "hello")
    for _ in range(2):
        with pytest.raises(Refused, match="still answering"):
            ask_again(session)
        ask_question(opened) if opened.turn.status == TurnStatus.RUNNING else None
        opened.turn.refresh_from_db()
    close(say(session, "more"), text="half", status=TurnStatus.STOPPED)
    with pytest.raises(Refused, match="no answer to ask for again"):
        ask_again(session)
    session_services.abandon_session(user_id=user.pk, session_id=session.id)
    with pytest.raises(Refused, match="has ended"):
        ask_again(session)


def test_what_sage_says_first_is_said_once(user: User) -> None:
    session = session_services.open_session(user_id=user.pk, kind=SessionKind.OPEN_DAY)
    close(
        services.open_with_sage(new_turn(session)),
        text="Good morning.",
    )
    with pytest.raises(Refused, match="no answer to ask for again"):
        ask_again(session)


def test_an_answer_that_failed_can_be_tried_again_or_left_for_an_earlier_one(
    session: Session, user: User, answers: list[Turn]
) -> None:
    failed = ask_again(session)
    close(failed, status=TurnStatus.FAILED, reason="error")
    assert selectors.read_alternatives(session, [failed.turn])[3] == [
        *(turn.id for turn in answers),
        failed.turn.id,
    ]
    choose(session, answers[1])
    assert history(session)[-1] == "Answer two, of otters."
    with pytest.raises(Refused, match="doesn’t have that answer"):
        choose(session, failed.turn)
    stopped = ask_again(session)
    close(stopped, status=TurnStatus.STOPPED, text="Half an")
    retried = retries.retry_turn(new_turn(session))
    close(retried, text="Answer four.")
    assert history(session)[2:] == ["Which marzipan?", "Answer four."]
    turns = selectors.read_alternatives(session, [Turn.unscoped.get(id=retried.turn.id)])[3]
    assert turns == [*(turn.id for turn in answers), retried.turn.id]


def test_an_edit_takes_all_answers_away_and_what_they_wrote_stays(session: Session, user: User) -> None:
    first = say(session, "hello")
    store_round(TurnKey(turn_id=first.turn.id, fence=1), text="Saving.", calls=(call("toolu_1"),))
    close(first)
    close(ask_again(session), text="Hi.")
    services.edit_message(new_turn(session), text="hey", client_id=None)
    assert history(session) == ["hey"]
    assert first.turn.calls.count() == 1
    for turn in session.turns.exclude(status=TurnStatus.RUNNING):
        with pytest.raises(Refused):
            choose(session, turn)


@pytest.mark.parametrize("turn_id", [None, 1, "x", "", str(uuid.UUID(int=1)), {"a": 1}])
def test_what_is_no_answer_is_refused(session: Session, answers: list[Turn], turn_id: object) -> None:
    with pytest.raises(Refused, match="doesn’t have that answer"):
        choose(session, turn_id)
    assert history(session)[-1] == "Answer three, of herons."


def test_nobody_chooses_for_another(session: Session, answers: list[Turn], other_user: User) -> None:
    with pytest.raises(Session.DoesNotExist):
        choose_answer(user_id=other_user.pk, session_id=session.id, turn_id=str(answers[0].id))
    own = open_conversation(other_user)
    close(say(own), text="Hi.")
    with pytest.raises(Refused, match="doesn’t have that answer"):
        choose(own, answers[0])


def test_an_answer_without_a_message_cant_be_asked_for_again(session: Session) -> None:
    """Imported conversations can begin or end with such ones."""
    opened = say(session, "Which marzipan?")
    close(opened, text="Answer one, of badgers.")
    opened.message.delete()
    with pytest.raises(Refused, match="There’s no answer to ask for again"):
        ask_again(session)
