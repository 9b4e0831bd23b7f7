"""Arcs that are entered and completed by calls, on a real socket."""

import json

import pytest
from django.contrib.auth.models import User

from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, SessionStatus, Turn
from tests.live_sage import (
    LiveSage,
    open_socket,
)
from tests.sockets.questions import PILLS, ask, assert_all_accepted, results_in, rows, values_of

pytestmark = pytest.mark.django_db(transaction=True)


PLAN = ToolUse(
    "save_file",
    {
        "file_type": "day-plan",
        "content": "A calm day.",
        "attributes": {"intention": "Unhurried", "priorities": ["Write"]},
    },
    id="toolu_plan",
)


COMPLETE = {"type": "arc"}


async def test_a_completion_in_the_same_round_as_a_question_is_refused_and_the_question_asked(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    end = ToolUse("complete_session", {"type": "session"}, id="toolu_end")
    practice.script([Reply.of(end, PILLS), "Then not yet."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        await client.send(type="answer", toolUseId="toolu_pills", value="Fine")
        await client.until("done")
    refused, answered = results_in(practice, 1)
    assert (refused["tool_use_id"], refused["is_error"]) == ("toolu_end", True)
    assert "together with a question" in refused["content"]
    assert values_of(answered)["chosen"] == "Fine"
    assert (await rows(Session.unscoped.all()))[0].status == SessionStatus.ACTIVE


async def test_an_arc_is_entered_and_written_in_within_one_round_and_completes(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    enter = ToolUse("enter_structured_arc", {"arc": "open_day"}, id="toolu_enter")
    practice.script(
        [
            Reply.of(PLAN, enter),  # entering comes first, whatever was written first
            Reply.of(ToolUse("complete_session", COMPLETE)),
            "Have a good day.",
            Reply.of(ToolUse("save_file", {"file_type": "day-plan", "content": "More."})),
        ]
    )
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client)
        await client.send(type="message", text="One more thing")
        afterwards = await client.until("done")
    changes = [frame for frame in frames if "modeChange" in frame or "arcCompleted" in frame]
    assert changes == [{"modeChange": "open_day"}, {"arcCompleted": "open_day"}]
    saved, entered = (values_of(block) for block in results_in(practice, 1))
    assert (saved["success"], entered["success"]) == (True, True)
    assert "## Goal" in entered["skill"]
    completed = values_of(results_in(practice, 2)[0])
    assert (completed["success"], completed["completed"], completed["still_missing"]) == (True, "arc", [])
    # Outside of the arc a plan is only added to, and this isn't what they said.
    assert [next(iter(frame)) for frame in afterwards if "confirm" in frame] == ["confirm"]
    assert_all_accepted(practice, 4)
    # Entering and leaving changed nothing that was sent before.
    firsts = {json.dumps(request.body["messages"][0]["content"][-1]["text"]) for request in practice.requests}
    assert firsts == {'"Hello"'}


async def test_a_plan_beside_an_arc_that_can_not_begin_waits_for_a_yes(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(PLAN, ToolUse("enter_structured_arc", {"arc": "nowhere"}))])
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client)
    assert any("confirm" in frame for frame in frames)
    assert not any("modeChange" in frame for frame in frames)


async def test_two_completions_in_one_round_are_one_and_only_the_next_round_ends_it_anyway(
    live_sage: LiveSage, practice: PracticeServer, user: User, cookie: str
) -> None:
    own = await in_database(session_services.open_session, user_id=user.pk, kind=SessionKind.CLOSE_DAY)
    practice.script(
        [
            Reply.of(ToolUse("complete_session", COMPLETE), ToolUse("complete_session", {"type": "session"})),
            Reply.of(ToolUse("complete_session", {"type": "session"})),
            "Good night.",
            "In a new one.",
        ]
    )
    async with open_socket(live_sage, own.id, cookie) as client:
        frames = await ask(client)
        await client.send(type="message", text="Are you there?")
        successor = (await client.until("continued"))[-1]["continued"]["session"]
    async with open_socket(live_sage, successor, cookie) as client:
        if (await client.next_frame())["sync"]["status"] == "running":
            await client.until("done")
    missing = ["daily-log with energy, mood_signal, domains_touched"]
    assert [values_of(block)["missing"] for block in results_in(practice, 1)] == [missing, missing]
    assert values_of(results_in(practice, 2)[0])["still_missing"] == missing
    assert sum("sessionCompleted" in frame for frame in frames) == 1
    assert (await rows(Session.unscoped.filter(id=own.id)))[0].status == SessionStatus.COMPLETED


async def test_a_session_of_an_arcs_kind_is_shown_its_skill_first_and_always_the_same(
    live_sage: LiveSage, practice: PracticeServer, user: User, cookie: str
) -> None:
    own = await in_database(session_services.open_session, user_id=user.pk, kind=SessionKind.OPEN_DAY)
    practice.script([Reply.of("How is it to be you?"), Reply.of(PLAN), "Saved.", "Gladly."])
    async with open_socket(live_sage, own.id, cookie) as client:
        await ask(client)
        for text in ("A plan, please", "Thanks"):
            await client.send(type="message", text=text)
            await client.until("done")
    opening = [request.body["messages"][0]["content"] for request in practice.requests]
    assert opening[0][0]["text"].startswith('<skill name="open-day">\n## Goal')
    assert opening[0][0]["text"].endswith("</skill>")
    assert opening[0][-1]["text"] == "Hello"
    texts = [[block["text"] for block in content] for content in opening]
    assert all(text == texts[0] for text in texts)
    assert_all_accepted(practice, 4)


async def test_a_question_in_a_session_that_a_tool_has_just_ended_expires(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(ToolUse("complete_session", {"type": "session"})), Reply.of(PILLS)])
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client)
        await client.send(type="answer", toolUseId="toolu_pills", value="Fine")
        late = await client.until("error")
    assert {"answered": {"toolUseId": "toolu_pills", "state": "expired", "value": None}} in frames
    assert frames[-1]["done"]["stopReason"] == "expired"
    assert late[-1]["error"] == "This question isn’t open any more."
    assert not await rows(Turn.unscoped.filter(ended_at=None))
