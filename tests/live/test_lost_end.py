"""A turn that couldn't be closed without a database: its readers get the actual end once it is known."""

import pytest
from django.contrib.auth.models import User

from coaching.engine.events import RoundBoundary, TextDelta
from coaching.events import RoundClosed, Sync, TurnDone, TurnEvent
from coaching.live.hub import Subscription
from coaching.live.readers import Readers, publish_lost_end
from sessions_app import turn_endings
from sessions_app.database import in_database
from sessions_app.models import Session, TurnStatus
from sessions_app.turn_endings import Ending
from sessions_app.turn_locks import TurnKey
from tests.stored_turns import open_conversation, open_turn, store_round

pytestmark = pytest.mark.django_db(transaction=True)


def conversation_with_a_turn(user: User) -> tuple[Session, TurnKey]:
    session = open_conversation(user)
    return session, open_turn(session)


async def lose(readers: Readers, user: User, session: Session, key: TurnKey) -> Subscription:
    """Show a word, then lose the database before anything is stored."""
    subscription = await readers.attach(user_id=user.pk, session_id=session.id)
    await subscription.next_batch()
    hub = readers.hub(session.id)
    hub.last_number = 1
    hub.begin(str(key.turn_id))
    hub.publish(TextDelta("Hel"))
    publish_lost_end(hub, str(key.turn_id))
    lost = (await subscription.next_batch())[-1]
    assert isinstance(lost, TurnDone)
    assert lost.status == TurnStatus.INTERRUPTED
    return subscription


async def told(readers: Readers, subscription: Subscription, session: Session) -> list[TurnEvent]:
    await readers.catch_up(session.id)
    return await subscription.next_batch()


async def test_readers_hear_that_nothing_of_it_was_kept(user: User) -> None:
    session, key = await in_database(conversation_with_a_turn, user)
    readers = Readers()
    subscription = await lose(readers, user, session, key)
    interrupted = Ending(status=TurnStatus.INTERRUPTED, stop_reason="interrupted")
    await in_database(turn_endings.close_turn, key, interrupted)

    sync, done = await told(readers, subscription, session)
    assert isinstance(sync, Sync)
    assert sync.text == ""
    assert isinstance(done, TurnDone)
    assert done.status == TurnStatus.INTERRUPTED


async def test_readers_hear_the_whole_answer_that_another_process_gave(user: User) -> None:
    session, key = await in_database(conversation_with_a_turn, user)
    readers = Readers()
    subscription = await lose(readers, user, session, key)
    await in_database(store_round, key, number=1, text="Hello.")
    whole = Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn")
    await in_database(turn_endings.close_turn, key, whole)

    text, done = await told(readers, subscription, session)
    assert text == TextDelta("lo.")
    assert isinstance(done, TurnDone)
    assert (done.status, done.text) == (TurnStatus.COMPLETED, "Hello.")


async def test_a_round_that_another_process_added_is_shown_with_all_before_it(user: User) -> None:
    """Its text alone would bring a blank line of its own, after the boundary that the reader has."""
    session, key = await in_database(conversation_with_a_turn, user)
    readers = Readers()
    subscription = await readers.attach(user_id=user.pk, session_id=session.id)
    await subscription.next_batch()
    hub = readers.hub(session.id)
    hub.last_number = 1
    hub.begin(str(key.turn_id))
    hub.publish(TextDelta("Hello."))
    hub.publish(RoundClosed(turn_id=str(key.turn_id), number=1, text="Hello.", notes=""))
    hub.publish(RoundBoundary())
    await subscription.next_batch()
    publish_lost_end(hub, str(key.turn_id))
    await subscription.next_batch()
    await in_database(store_round, key, number=1, text="Hello.")
    await in_database(store_round, key, number=2, text="And more.")
    await in_database(
        turn_endings.close_turn, key, Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn")
    )

    sync, done = await told(readers, subscription, session)
    assert isinstance(sync, Sync)
    assert sync.text == "Hello.\n\nAnd more."
    assert isinstance(done, TurnDone)
