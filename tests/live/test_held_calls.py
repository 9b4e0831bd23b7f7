"""A call that waits because of texts of others, in other processes: what they show, and what they run."""

import json

import pytest
from django.contrib.auth.models import User

from coaching.events import CallAnswered
from coaching.live.following import read_news
from coaching.live.hub import IDLE
from coaching.tools.tainted import Ruling
from coaching.turns.answers import builder_for
from coaching.turns.resume import load_setup
from sessions_app import pending_calls
from sessions_app.history import TAINT_KEY
from sessions_app.limits import RateLimit
from sessions_app.models import Round, Session, ToolCallRecord, ToolCallState, Turn
from sessions_app.pending_calls import EndedCall
from sessions_app.turn_records import NewCall
from tests.stored_turns import open_conversation, open_turn, store_round

pytestmark = pytest.mark.django_db(transaction=True)

RULING = Ruling(sources=("lease.pdf",), is_held=True, replaces=3)


def wait(session: Session) -> None:
    """Leave a turn that waits for a yes."""
    key = open_turn(session)
    Turn.unscoped.filter(id=key.turn_id).update(metadata={TAINT_KEY: ["lease.pdf"]})
    held = NewCall(
        tool_use_id="t1",
        name="save_file",
        position=0,
        input={"file_type": "overview", "content": "All."},
        is_interactive=True,
        metadata=RULING.as_metadata(),
    )
    store_round(key, calls=[held], stop_reason="tool_use")
    block = {"type": "tool_use", "id": "t1", "name": "save_file", "input": held.input}
    Round.unscoped.update(blocks=json.dumps([block]))
    pending_calls.await_user(key, stop_reason="tool_use", details={"t1": {"page": "life-map/_overview.md"}})


def answer(session: Session, *, is_yes: bool) -> EndedCall:
    return pending_calls.answer_call(
        user_id=session.user_id,
        session_id=session.id,
        tool_use_id="t1",
        owner="another",
        rate_limit=RateLimit(turns=1000, seconds=60),
        build_answer=builder_for(user_id=session.user_id, value={"accept": is_yes}),
    )


def test_another_process_shows_the_card_with_its_source_and_hears_the_yes(user: User) -> None:
    session = open_conversation(user)
    wait(session)
    before = read_news(session.id, None, IDLE)
    (pending,) = before.sync.pending
    assert (pending.sources, pending.details) == (("lease.pdf",), {"page": "life-map/_overview.md"})
    answer(session, is_yes=True)
    news = read_news(session.id, before.position.seq, before.sync)
    (answered,) = (event for event in news.events if isinstance(event, CallAnswered))
    assert (answered.state, answered.value) == (ToolCallState.ANSWERED, {"accept": True})
    assert news.sync.status == "running"


def test_another_process_runs_what_was_allowed_as_it_was_ruled(user: User) -> None:
    session = open_conversation(user)
    wait(session)
    ended = answer(session, is_yes=True)
    assert ended.resumed is not None
    call = ToolCallRecord.unscoped.get()
    assert (call.state, call.is_allowed, call.finished_at) == (ToolCallState.RUNNING, True, None)
    Turn.unscoped.filter(id=ended.resumed.turn_id).update(
        prefix='{"system": [], "tools": [], "messages": []}'
    )
    setup = load_setup(ended.resumed)
    assert setup.sources == ("lease.pdf",)
    assert setup.rulings == {"t1": RULING}
    assert setup.allowed == {"t1"}
    assert setup.resumed is not None
    assert setup.resumed.results == {}, "it has no result yet, so it runs"


def test_after_a_no_nothing_runs(user: User) -> None:
    session = open_conversation(user)
    wait(session)
    answer(session, is_yes=False)
    call = ToolCallRecord.unscoped.get()
    assert (call.state, call.is_allowed) == (ToolCallState.ANSWERED, False)
    assert "said no" in call.result
