"""A tool abandoned at the deadline may still commit: no reader keeps the state from before."""

import asyncio
import threading

import pytest
from django.contrib.auth.models import User

from coaching.engine.tools import ToolResult
from coaching.turns.request import TurnRequest
from coaching.turns.setup import TurnSetup
from coaching.turns.start import start_turn
from coaching.turns.tool_session import ToolSession
from sessions_app import arcs, selectors
from sessions_app.database import in_database
from sessions_app.limits import RateLimit
from sessions_app.models import SessionEvent, SessionKind, ToolCallRecord, ToolCallState
from tests.stored_turns import open_conversation, running_call, store_round

pytestmark = pytest.mark.django_db(transaction=True)


def setup_of_running_call(user: User) -> TurnSetup:
    """Open a turn with a running call `t1`."""
    session = open_conversation(user)
    started = start_turn(
        TurnRequest(
            kind="message", user_id=user.pk, session_id=session.id, text="Good morning", client_id=None
        ),
        owner="me",
        rate_limit=RateLimit(turns=20, seconds=60),
    )
    assert started.setup is not None
    store_round(started.setup.key, calls=[running_call("enter_structured_arc")])
    return started.setup


async def test_an_effect_that_commits_after_its_deadline_is_reported_and_applies_to_later_calls(
    user: User,
) -> None:
    tool_session = ToolSession(await in_database(setup_of_running_call, user))
    goes_on = threading.Event()

    def effect() -> ToolResult:
        goes_on.wait(10)
        session = selectors.accessible_session(
            user_id=user.pk, session_id=tool_session.setup.session_id, is_locked=True
        )
        arcs.enter_arc(session, arc=SessionKind.OPEN_DAY, entered_by="t1", now=session.started_at)
        return ToolResult.of(success=True)

    asyncio.get_running_loop().call_later(0.4, goes_on.set)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await tool_session.commit("t1", effect)
    last = await in_database(SessionEvent.unscoped.order_by("-seq").first)
    assert last is not None
    assert (last.kind, last.payload) == ("arc_entered", {"arc": "open_day"})
    assert tool_session.state.effective_kind == SessionKind.OPEN_DAY
    assert tool_session.committed["t1"] == ToolResult.of(success=True)
    record = await in_database(ToolCallRecord.unscoped.get, tool_use_id="t1")
    assert record.state == ToolCallState.FINISHED
