"""How often the triggers index a message."""

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.models import RecallPassage
from sessions_app import turn_endings
from sessions_app.models import TurnStatus
from sessions_app.turn_endings import Ending
from tests.recall.history import texts
from tests.stored_turns import open_conversation, open_turn, store_round

pytestmark = pytest.mark.django_db


def next_id() -> int:
    """Draw the id of a passage. A passage that is refused, since it is there already, has drawn one, too."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('coaching_recallpassage_id_seq')")
        return int(cursor.fetchone()[0])


def test_a_turn_that_ends_has_each_of_its_messages_indexed_once(user: User) -> None:
    key = open_turn(open_conversation(user))
    store_round(key, text="A wombat")
    before = next_id()
    turn_endings.close_turn(key, Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn"))
    assert next_id() - before - 1 == RecallPassage.of(user.pk).count() == 2
    assert texts(user, "wombat", limit=1) == ["A wombat"]


def test_the_message_of_a_turn_that_ends_without_an_answer_is_indexed(user: User) -> None:
    key = open_turn(open_conversation(user))
    assert texts(user, "morning") == []
    turn_endings.close_turn(key, Ending(status=TurnStatus.FAILED, stop_reason="error"))
    assert texts(user, "morning") == ["Good morning"]
