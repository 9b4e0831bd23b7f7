"""The end of a history is read without the rest of it, whatever was withdrawn or is missing before it."""

import pytest

from sessions_app import opened_turns, selectors, services
from sessions_app.models import Message, SafetyVerdict, Session
from sessions_app.verdicts import NewVerdict, store_verdict
from tests.sessions_app.turns import ask_again, close, say
from tests.stored_turns import new_turn

pytestmark = pytest.mark.django_db(transaction=True)

LIMITS = (1, 2, 3, 4, 7, 30)


@pytest.fixture
def history(session: Session) -> list[int]:
    """The numbers of a history with withdrawn answers in the middle and at the end, and an edited message."""
    for number in range(6):
        close(say(session, f"Message {number}"), text=f"Answer {number}")
        if number in (2, 5):
            close(ask_again(session), text="Another answer")
        if number == 3:
            close(_edit(session, "Rather this"), text="Its answer")
    session.refresh_from_db()
    return [message.number for message in selectors.history(session)]


def _edit(session: Session, text: str) -> opened_turns.OpenedTurn:
    return services.edit_message(new_turn(session), text=text, client_id=None)


def _assert_ends_are_read(session: Session, numbers: list[int]) -> None:
    for limit in LIMITS:
        found, left_out = selectors.history_tail(session, limit=limit)
        assert [message.number for message in found] == numbers[-limit:]
        assert left_out == len(numbers) - len(found)


def test_the_end_of_a_history_is_read_with_how_much_is_before_it(
    session: Session, history: list[int]
) -> None:
    assert history == [1, 2, 3, 4, 5, 7, 10, 11, 12, 13, 14, 16]
    _assert_ends_are_read(session, history)


def test_a_message_that_is_not_stored_yet_is_the_last(session: Session, history: list[int]) -> None:
    newest = Message(session=session, number=session.last_message_number + 1)
    for limit in LIMITS[1:]:
        found, left_out = selectors.history_tail(session, limit=limit, newest=newest)
        assert [message.number for message in found] == [*history, newest.number][-limit:]
        assert left_out == len(history) + 1 - len(found)


def test_before_an_earlier_message_later_ones_do_not_count(session: Session, history: list[int]) -> None:
    newest = session.messages.get(number=12)
    found, left_out = selectors.history_tail(session, limit=4, newest=newest)
    assert [message.number for message in found] == [7, 10, 11, 12]
    assert left_out == 5


def test_numbers_that_an_undone_import_left_free_change_nothing(session: Session, history: list[int]) -> None:
    Message.within(session).filter(turn__is_withdrawn=True, number__in=(6, 8)).delete()
    session.imported_until = 9
    _assert_ends_are_read(session, history)


def test_a_message_comes_with_its_verdict_where_that_saw_danger(session: Session, history: list[int]) -> None:
    for number, level in ((12 + 1, "concern"), (11, "none")):
        store_verdict(
            session.messages.get(number=number).pk, NewVerdict(level=level, about="self", topic="life")
        )
    found, _ = selectors.history_tail(session, limit=30)
    known = {message.number: message.known_verdict for message in found}
    verdict = known.pop(13)
    assert verdict == SafetyVerdict.unscoped.get(message__number=13)
    assert (verdict.level, verdict.about, verdict.topic) == ("concern", "self", "life")
    assert set(known.values()) == {None}
