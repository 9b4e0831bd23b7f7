"""Another answer to the last message, and the choice among them: readers here and elsewhere hear the same."""

import pytest

from coaching.events import AnswerChosen, HistoryChanged, TitleChanged, TurnDone, TurnEvent
from coaching.live.hub import Subscription
from coaching.live.runner import Runner
from coaching.practice import Fault, PracticeServer
from coaching.practice.script import Hold, Reply, ToolUse
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import Session, Turn, TurnStatus
from tests.live.conftest import ask

pytestmark = pytest.mark.django_db(transaction=True)

SAVE = ToolUse("save_file", {"file_type": "domain", "file_name": "career", "content": "# Career"})
BEGIN = ToolUse("enter_structured_arc", {"arc": "open_day"})


async def heard(reader: Subscription) -> list[TurnEvent]:
    """Return what changed in the history, as a reader heard it."""
    kinds = (HistoryChanged, AnswerChosen, TurnDone, TitleChanged)
    return [event for event in await reader.next_batch() if isinstance(event, kinds)]


async def test_readers_here_and_elsewhere_hear_of_another_answer_and_of_the_choice(
    practice: PracticeServer, runners: tuple[Runner, Runner], session: Session
) -> None:
    practice.script(["One.", "Two.", "Three."])
    readers = [
        await runner.readers.attach(user_id=session.user_id, session_id=session.id) for runner in runners
    ]
    here, elsewhere = runners
    turns = [await ask(here, session, "message", "Which?")]
    await elsewhere.readers.catch_up(session.id)
    turns += [await ask(here, session, "again"), await ask(here, session, "again")]
    for reader in readers:
        await reader.next_batch()
    await elsewhere.readers.catch_up(session.id)
    for choice, text, number in ((turns[0], "One.", 2), (turns[1], "Two.", 3)):
        await here.choose_answer(user_id=session.user_id, session_id=session.id, turn_id=choice)
        await elsewhere.readers.catch_up(session.id)
        chosen = AnswerChosen(turn_id=choice, number=number, text=text)
        for reader in readers:
            changed, told = (await heard(reader))[-2:]
            assert isinstance(changed, HistoryChanged)
            assert (changed.first_number, told) == (2, chosen)
    # Nothing is told twice.
    for runner in runners:
        await runner.readers.catch_up(session.id)
    with pytest.raises(Refused):
        await here.choose_answer(user_id=session.user_id, session_id=session.id, turn_id="x")
    assert here.readers.hubs[session.id].seq == elsewhere.readers.hubs[session.id].seq


async def test_readers_elsewhere_hear_that_another_answer_failed_before_its_first_word(
    practice: PracticeServer, runners: tuple[Runner, Runner], session: Session
) -> None:
    here, elsewhere = runners
    practice.script(["One."])
    reader = await elsewhere.readers.attach(user_id=session.user_id, session_id=session.id)
    await ask(here, session, "message", "Which?")
    await elsewhere.readers.catch_up(session.id)
    await reader.next_batch()
    practice.faults.push(Fault(kind="status", status=400))
    failed = await ask(here, session, "again")
    await elsewhere.readers.catch_up(session.id)
    changed, done = await heard(reader)
    assert isinstance(changed, HistoryChanged)
    assert isinstance(done, TurnDone)
    assert (done.turn_id, done.status) == (failed, TurnStatus.FAILED)


async def test_what_an_answer_did_stays_and_is_named(
    practice: PracticeServer, runners: tuple[Runner, Runner], session: Session
) -> None:
    practice.script([Reply.of(SAVE), Reply.of(BEGIN), "Done.", "Only words."])
    here, _ = runners
    reader = await here.readers.attach(user_id=session.user_id, session_id=session.id)
    await ask(here, session, "message", "Write it down")
    await ask(here, session, "again")
    (changed,) = [event for event in await heard(reader) if isinstance(event, HistoryChanged)]
    assert changed.kept == ("life-map/career.md",)
    assert changed.effects == ("Opening the day",)


async def test_a_lost_answer_can_be_tried_again_and_the_earlier_one_chosen(
    practice: PracticeServer, runners: tuple[Runner, Runner], session: Session
) -> None:
    practice.script(["One.", Reply.of("Two, ", Hold("middle"), "whole."), "Three."])
    here, _ = runners
    first = await ask(here, session, "message", "Which?")
    request = TurnRequest(kind="again", user_id=session.user_id, session_id=session.id)
    second = str((await here.open_turn(request)).opened.turn.id)
    await practice.reached("middle")
    with pytest.raises(Refused, match="still answering"):
        await here.choose_answer(user_id=session.user_id, session_id=session.id, turn_id=first)
    await here.stop(user_id=session.user_id, session_id=session.id)
    assert await here.wait_until_idle(session.id, seconds=30)
    practice.release("middle")
    third = await ask(here, session, "retry")
    rows = {str(turn.id): turn for turn in await in_database(list, Turn.unscoped.filter(session=session))}
    assert [rows[turn].status for turn in (first, second, third)] == [
        TurnStatus.COMPLETED,
        TurnStatus.SUPERSEDED,
        TurnStatus.COMPLETED,
    ]
    assert [rows[turn].is_withdrawn for turn in (first, second, third)] == [True, True, False]
    await here.choose_answer(user_id=session.user_id, session_id=session.id, turn_id=first)
    await ask(here, session, "message", "Thanks")
    sent = [part for message in practice.requests[-1].body["messages"] for part in str(message).split("'")]
    assert [words for words in ("One.", "Two, ", "Three.") if words in sent] == ["One."]
