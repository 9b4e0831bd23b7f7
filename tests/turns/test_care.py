"""Which of several messages asks after danger, and what becomes of the question with its turn."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection, transaction

from coaching.care.reading import read_care
from coaching.models import CareAsk, CareEnd, Profile
from coaching.safety.card import metadata_of
from coaching.tools import CHAT_TOOLS, show_help_lines
from coaching.tools.show_help_lines import ShowHelpLinesInput
from coaching.tools.tiers import CHAT
from coaching.turns.answers import ChatAnswerContext, builder_for
from coaching.turns.request import RequestKind, TurnRequest
from coaching.turns.resume import load_setup, shrink_turn
from coaching.turns.start import StartedTurn, start_turn
from sessions_app import session_services, turn_endings
from sessions_app.limits import RateLimit
from sessions_app.models import (
    Message,
    MessageRole,
    SafetyVerdict,
    Session,
    SessionKind,
    ToolCallRecord,
    ToolCallState,
    Turn,
    TurnStatus,
)
from sessions_app.organising import delete_session
from sessions_app.pending_calls import answer_call, await_user
from sessions_app.turn_endings import Ending
from sessions_app.turn_locks import TurnKey
from sessions_app.turn_records import NewCall
from tests.context.test_care import ASK
from tests.messages import append_message
from tests.stored_turns import store_round

pytestmark = pytest.mark.django_db(transaction=True)

NO_LIMIT = RateLimit(turns=10_000, seconds=60)
NIGHT = datetime(2026, 11, 16, 22, 30, tzinfo=UTC)
MORNING = NIGHT + timedelta(hours=10)


@pytest.fixture
def troubled(user: User) -> User:
    """Somebody who wrote of danger last night."""
    Profile.unscoped.create(user=user, timezone="Europe/Lisbon")
    session = Session.unscoped.create(user=user)
    turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=NIGHT)
    words = "I want to kill myself."
    message = append_message(
        session=session, turn=turn, role=MessageRole.USER, content=words, metadata=metadata_of(words)
    )
    Message.unscoped.filter(pk=message.pk).update(created_at=NIGHT)
    return user


@pytest.fixture(autouse=True)
def morning() -> Iterator[None]:
    """Let it be the next morning."""
    with time_machine.travel(MORNING, tick=True):
        yield


def opened(user: User, kind: str = SessionKind.OPEN_CONVERSATION) -> Session:
    return session_services.open_session(user_id=user.pk, kind=kind)


def start(session: Session, text: str = "Hello", kind: RequestKind = "message") -> StartedTurn:
    request = TurnRequest(kind=kind, user_id=session.user_id, session_id=session.id, text=text)
    return start_turn(request, owner="me", rate_limit=NO_LIMIT)


def asks(started: StartedTurn) -> bool:
    return ASK in started.opened.message.metadata.get("context", "")


def end(started: StartedTurn, status: TurnStatus = TurnStatus.COMPLETED, text: str = "How are you?") -> None:
    turn = started.opened.turn
    key = TurnKey(turn_id=turn.id, fence=turn.fence)
    if text:
        store_round(key, text=text)
    stop_reason = "end_turn" if status == TurnStatus.COMPLETED else ""
    turn_endings.close_turn(key, Ending(status=status, stop_reason=stop_reason))


def test_one_question_a_day_in_whichever_conversation_comes_first(troubled: User) -> None:
    first = start(opened(troubled))
    assert asks(first)
    end(start_without(troubled))
    end(first)
    end(start_without(troubled))
    assert not asks(start(first.opened.turn.session, "And now?"))
    assert [ask.asked_on for ask in CareAsk.of(troubled.pk)] == [MORNING.date()]


def start_without(user: User) -> StartedTurn:
    """Start a turn in another conversation, which doesn't ask."""
    started = start(opened(user))
    assert not asks(started)
    return started


def test_of_two_tabs_at_once_one_asks(troubled: User) -> None:
    sessions = [opened(troubled) for _ in range(2)]
    started: list[StartedTurn] = []
    gate = threading.Barrier(len(sessions))

    def send(session: Session) -> None:
        gate.wait(20)
        started.append(start(session))
        connection.close()

    threads = [threading.Thread(target=send, args=[session]) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(map(asks, started)) == [False, True]


@pytest.mark.parametrize(
    ("status", "text", "is_asked_again"),
    [
        (TurnStatus.FAILED, "", True),
        (TurnStatus.INTERRUPTED, "", True),
        (TurnStatus.STOPPED, "", True),
        (TurnStatus.STOPPED, "How are", False),
        (TurnStatus.COMPLETED, "How are you?", False),
    ],
)
def test_a_turn_that_came_to_nothing_doesnt_count(
    troubled: User, status: TurnStatus, text: str, is_asked_again: bool
) -> None:
    first = start(opened(troubled))
    end(first, status, text)
    assert asks(start(opened(troubled))) is is_asked_again


def test_a_message_that_is_answered_again_asks_again(troubled: User) -> None:
    session = opened(troubled)
    end(start(session), TurnStatus.FAILED, "")
    again = start(session, kind="retry")
    assert asks(again)
    end(again)
    assert asks(start(session, kind="again"))
    assert not asks(start(opened(troubled)))


def test_an_edited_message_asks_as_the_first_one_did(troubled: User) -> None:
    session = opened(troubled)
    end(start(session))
    assert asks(start(session, "Good morning", kind="edit"))


def test_what_couldnt_be_built_at_once_asks_when_it_is(
    troubled: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("coaching.turns.start.build_turn", _broken)
        started = start(opened(troubled))
    assert started.setup is None
    assert not CareAsk.of(troubled.pk).exists()
    turn = started.opened.turn
    setup = load_setup(TurnKey(turn_id=turn.id, fence=turn.fence))
    assert ASK in str(setup.request.messages)
    smaller = shrink_turn(TurnKey(turn_id=turn.id, fence=turn.fence))
    assert smaller is None
    assert CareAsk.of(troubled.pk).count() == 1


def _broken(*_: object, **__: object) -> None:
    raise ValueError("broken")


def test_a_smaller_window_still_asks(troubled: User) -> None:
    session = opened(troubled)
    with time_machine.travel(NIGHT - timedelta(days=1), tick=True):
        for _ in range(3):
            end(start(session, "A long story. " * 50))
    started = start(session)
    assert asks(started)
    turn = started.opened.turn
    smaller = shrink_turn(TurnKey(turn_id=turn.id, fence=turn.fence))
    assert smaller is not None
    assert ASK in str(smaller.messages[-1])


def test_an_arc_that_sage_opens_asks_first_and_counts_if_it_is_read(troubled: User) -> None:
    session = opened(troubled, SessionKind.OPEN_DAY)
    opening = start(session, "", kind="opening")
    assert asks(opening)
    end(opening)
    assert not asks(start(opened(troubled)))
    with time_machine.travel(MORNING + timedelta(days=1), tick=True):
        assert asks(start(opened(troubled))), "nobody answered the opening"


def test_an_opening_that_the_person_interrupts_leaves_the_question_to_their_message(troubled: User) -> None:
    session = opened(troubled, SessionKind.OPEN_DAY)
    assert asks(start(session, "", kind="opening"))
    assert asks(start(session))


def test_said_it_ends_until_that_message_is_edited(troubled: User) -> None:
    session = opened(troubled)
    end(start(session))
    said = start(session, "I'm all right, don't ask again.")
    assert "They have just asked you not to ask about it again." in said.opened.message.metadata["context"]
    end(said)
    later = start(session, "What's for dinner?")
    assert "<care" not in later.opened.message.metadata.get("context", "")
    assert later.setup is not None
    end(later)
    with time_machine.travel(MORNING + timedelta(days=2), tick=True):
        assert not asks(start(opened(troubled)))
    assert [row.how for row in CareEnd.of(troubled.pk)] == ["said"]
    with time_machine.travel(MORNING + timedelta(hours=1), tick=True):
        second = opened(troubled)
        end(start(second, "I'm fine, please stop asking."))
        edited = start(second, "I'm fine.", kind="edit")
        assert not asks(edited), "the first message still says so"


def test_words_that_were_edited_away_arent_told_to_the_model(troubled: User) -> None:
    Session.unscoped.get(user=troubled).delete()
    session = opened(troubled)
    end(start(session, "I want to kill myself."))
    assert "<care>" in _opening_of(opened(troubled))
    edited = start(session, "Good morning.", kind="edit")
    assert edited.setup is not None
    assert "<care" not in str(edited.setup.request.messages)


def test_edited_away_it_stands_again(troubled: User) -> None:
    session = opened(troubled)
    end(start(session, "I'm all right, don't ask again."))
    assert "<care>" not in _opening_of(opened(troubled))
    edited = start(session, "I'm all right.", kind="edit")
    assert asks(edited)
    assert edited.setup is not None
    assert "<care>" in str(edited.setup.request.messages)


def test_the_end_outlives_its_conversation(troubled: User) -> None:
    session = opened(troubled)
    end(start(session, "I'm all right, don't ask again."))
    delete_session(user_id=troubled.pk, session_id=session.id)
    assert not asks(start(opened(troubled)))
    session.delete()
    assert not asks(start(opened(troubled)))


def test_an_answer_to_a_question_can_say_so(troubled: User) -> None:
    session = opened(troubled)
    started = start(session)
    turn = started.opened.turn
    options = [{"label": "I'm all right, don't ask again", "value": "stop"}, {"label": "It's still there"}]
    call = NewCall(
        tool_use_id="t1", name="show_options", position=0, input={"options": options}, is_interactive=True
    )
    key = TurnKey(turn_id=turn.id, fence=turn.fence)
    store_round(key, text="How are you?", calls=[call])
    await_user(key, stop_reason="tool_use")
    answer_call(
        user_id=troubled.pk,
        session_id=session.id,
        tool_use_id="t1",
        owner="me",
        rate_limit=NO_LIMIT,
        build_answer=builder_for(user_id=troubled.pk, value="stop"),
    )
    answered = start(opened(troubled))
    assert answered.setup is not None
    assert "<care" not in str(answered.setup.request.messages)


def _opening_of(session: Session) -> str:
    """Return the messages of the request that begins a session."""
    started = start(session)
    assert started.setup is not None
    end(started)
    return str(started.setup.request.messages)


@pytest.mark.parametrize(
    ("documents", "tool", "leaves_care"),
    [([], "", True), ([1], "", False), ([], "search_knowledge_bank", False), ([], "load_skill", True)],
)
def test_what_sage_raises_counts_unless_the_turn_has_read_others_texts(
    user: User, documents: list[int], tool: str, leaves_care: bool
) -> None:
    Profile.unscoped.create(user=user, timezone="Europe/Lisbon")
    started = start(opened(user), "What does it say?")
    turn, message = started.opened.turn, started.opened.message
    Message.unscoped.filter(pk=message.pk).update(metadata={"documents": documents} if documents else {})
    calls = [tool, "show_help_lines"] if tool else ["show_help_lines"]
    for position, name in enumerate(calls):
        ToolCallRecord.unscoped.create(
            turn=turn, round_number=1, position=position, tool_use_id=f"t{position}", name=name,
            state=ToolCallState.FINISHED, result="Words.", finished_at=MORNING,
        )  # fmt: skip
    context = ChatAnswerContext(
        user_id=user.pk, session_id=turn.session_id, tool_use_id=f"t{len(calls) - 1}", now=MORNING
    )
    given = ShowHelpLinesInput(reason="immediate", about="other")
    with transaction.atomic():
        show_help_lines._show(context, turn.session_id, given)  # type: ignore[arg-type]
    verdict = SafetyVerdict.unscoped.get()
    assert (verdict.level, verdict.about, verdict.noticed) == ("immediate", "other", "immediate")
    care = read_care(user_id=user.pk, now=MORNING, zone=ZoneInfo("Europe/Lisbon"))
    assert (care.other is not None, care.own) == (leaves_care, None)


def test_the_card_of_help_lines_never_waits_for_a_yes() -> None:
    tool = CHAT_TOOLS.get("show_help_lines")
    assert tool is not None
    assert tool.kind == "instant"
    assert tool.kind not in CHAT.waiting_kinds
