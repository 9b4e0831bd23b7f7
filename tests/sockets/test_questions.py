"""Pending questions on a real socket."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User

from coaching.models import PulseRating, UserFile
from coaching.practice.script import Reply, Text, Thinking, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Message, Session, ToolCallRecord, ToolCallState, Turn
from tests.live_sage import (
    LiveSage,
    open_socket,
    session_cookie,
    start_web_process,
    text_of,
)
from tests.sockets.questions import PILLS, PULSE, ask, assert_all_accepted, results_in, rows, values_of
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)


SHOWN_PILLS = {
    "showOptions": {
        "toolUseId": "toolu_pills",
        "prompt": "How are you?",
        "options": [{"label": "Fine", "value": "Fine"}, {"label": "Not so good", "value": "low"}],
    }
}


async def test_an_option_is_answered_with_a_tap_and_the_turn_goes_on(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Text("First a question."), PILLS), "I'm sorry to hear that."])
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client)
        assert SHOWN_PILLS in frames
        assert frames[-1]["done"]["stopReason"] == "tool_use"
        await client.send(type="answer", toolUseId="toolu_pills", value="low")
        going_on = await client.until("done")
    assert going_on[0] == {"answered": {"toolUseId": "toolu_pills", "state": "answered", "value": "low"}}
    assert going_on[-1]["done"]["stopReason"] == "end_turn"
    assert text_of(client.frames) == "First a question.\n\nI'm sorry to hear that."
    assert values_of(results_in(practice, 1)[0]) == {"chosen": "Not so good", "value": "low"}
    assert_all_accepted(practice, 2)
    call = (await rows(ToolCallRecord.unscoped.all()))[0]
    assert (call.state, call.value, call.is_error) == (ToolCallState.ANSWERED, "low", False)
    stored = await rows(Message.unscoped.order_by("number").values_list("role", "content"))
    assert stored == [("user", "Hello"), ("assistant", "First a question.\n\nI'm sorry to hear that.")]


async def test_what_is_no_answer_is_refused_with_a_sentence_and_the_question_still_waits(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(PILLS), "Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        for frame, told in (
            ({"toolUseId": "toolu_pills", "value": ""}, "choose one"),
            ({"toolUseId": "toolu_pills"}, "choose one"),
            ({"toolUseId": "toolu_pills", "value": {"ratings": {"career": 3}}}, "choose one"),
            ({"toolUseId": "toolu_pills", "value": "Great"}, "isn't one of the answers"),
            ({"toolUseId": "toolu_other", "value": "Fine"}, "isn’t in this conversation"),
            ({"toolUseId": "a\x00b", "value": "Fine"}, "isn’t in this conversation"),
            ({"toolUseId": "a\ud800b", "value": "Fine"}, "isn’t in this conversation"),
            ({"toolUseId": ["toolu_pills"], "value": "Fine"}, "isn’t in this conversation"),
            ({"value": "Fine"}, "isn’t in this conversation"),
        ):
            await client.send(type="answer", **frame)
            assert told in (await client.until("error"))[-1]["error"]
        async with open_socket(live_sage, session.id, cookie) as again:
            assert (await again.next_frame())["sync"]["pending"] == [SHOWN_PILLS]
        await client.send(type="answer", toolUseId="toolu_pills", value="Fine")
        assert text_of(await client.until("done")) == "Good."
    assert_all_accepted(practice, 2)


async def test_of_two_tabs_the_first_answer_wins_and_the_other_gets_an_error(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(PILLS), "Good."])
    async with (
        open_socket(live_sage, session.id, cookie) as first,
        open_socket(live_sage, session.id, cookie) as second,
    ):
        await second.until("sync")
        await ask(first)
        assert SHOWN_PILLS in await second.until("done")
        await first.send(type="answer", toolUseId="toolu_pills", value="Fine")
        await first.until("done")
        seen = await second.until("done")
        await second.send(type="answer", toolUseId="toolu_pills", value="low")
        late = await second.until("error")
        await second.send(type="dismiss", toolUseId="toolu_pills")
        too_late = await second.until("error")
    assert seen[0] == {"answered": {"toolUseId": "toolu_pills", "state": "answered", "value": "Fine"}}
    assert text_of(seen) == "Good."
    assert late[-1]["error"] == too_late[-1]["error"] == "This question isn’t open any more."
    assert_all_accepted(practice, 2)


async def test_several_questions_are_shown_one_after_another_and_go_back_together(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(PULSE, PILLS), "Thank you for both."])
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client)
        assert sum("showOptions" in frame or "showPulseCheck" in frame for frame in frames) == 1
        await client.send(
            type="answer", toolUseId="toolu_pulse", value={"ratings": {"health": 4}, "note": "better"}
        )
        assert (await client.until("showOptions"))[-1] == SHOWN_PILLS
        async with open_socket(live_sage, session.id, cookie) as again:
            sync = (await again.next_frame())["sync"]
            assert (sync["status"], sync["pending"]) == ("awaiting_user", [SHOWN_PILLS])
        assert len(practice.requests) == 1
        await client.send(type="dismiss", toolUseId="toolu_pills")
        assert text_of(await client.until("done")) == "Thank you for both."
    pulse, pills = results_in(practice, 1)
    assert values_of(pulse)["ratings"]["health"]["new"] == 4
    assert values_of(pulse)["not_rated"] == ["career"]
    assert "dismissed" in pills["content"]
    assert_all_accepted(practice, 2)
    ratings = await rows(PulseRating.unscoped.values_list("domain", "rating", "note", "session_id"))
    assert ratings == [("health", 4, "better", session.id)]


async def test_a_round_with_a_save_and_a_question_saves_first_and_answers_in_one_message(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    save = ToolUse("save_file", {"file_type": "overview", "content": "All of it."}, id="toolu_save")
    practice.script([Reply.of(PILLS, save), "Done."])
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client)
        names = [name for frame in frames for name in frame if name in {"toolDone", "showOptions"}]
        assert names == ["toolDone", "showOptions"]
        assert await rows(UserFile.unscoped.values_list("path", flat=True)) == ["life-map/_overview.md"]
        await client.send(type="answer", toolUseId="toolu_pills", value="Fine")
        await client.until("done")
    assert [block["tool_use_id"] for block in results_in(practice, 1)] == ["toolu_pills", "toolu_save"]
    assert_all_accepted(practice, 2)


async def test_a_message_instead_of_an_answer_supersedes_the_question(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Thinking("Which is it?"), Text("Tell me."), PILLS), "Then let's do that."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        await client.send(type="message", text="Something else, please.")
        frames = await client.until("done")
        await client.send(type="answer", toolUseId="toolu_pills", value="Fine")
        late = await client.until("error")
    assert frames[0] == {"answered": {"toolUseId": "toolu_pills", "state": "superseded", "value": None}}
    assert frames[1]["message"]["text"] == "Something else, please."
    assert text_of(frames) == "Then let's do that."
    assert late[-1]["error"] == "This question isn’t open any more."
    result, text = results_in(practice, 1)
    assert result["tool_use_id"] == "toolu_pills"
    assert "instead of answering" in result["content"]
    assert text["text"] == "Something else, please."
    asked = practice.requests[1].body["messages"][1]["content"]
    assert [block["type"] for block in asked] == ["text", "tool_use"]
    assert_all_accepted(practice, 2)
    statuses = await rows(Turn.unscoped.order_by("started_at").values_list("status", flat=True))
    assert statuses == ["superseded", "completed"]


async def test_a_dismissed_question_ends_the_turn_without_the_model_and_the_next_message_works(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Text("Tell me."), PILLS), "Of course."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        await client.send(type="dismiss", toolUseId="toolu_pills")
        frames = await client.until("done")
        assert frames[0] == {"answered": {"toolUseId": "toolu_pills", "state": "dismissed", "value": None}}
        assert frames[-1]["done"]["stopReason"] == "dismissed"
        assert len(practice.requests) == 1
        async with open_socket(live_sage, session.id, cookie) as again:
            assert (await again.next_frame())["sync"]["status"] == "idle"
        await client.send(type="message", text="Another thing.")
        assert text_of(await client.until("done")) == "Of course."
    result, text = results_in(practice, 1)
    assert "dismissed" in result["content"]
    assert text["text"] == "Another thing."
    assert_all_accepted(practice, 2)


@pytest.mark.slow
async def test_a_question_is_there_again_after_a_reload_and_after_the_web_process_was_killed(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Thinking("Hm."), Text("A question."), PILLS), "Welcome back."])
    with frozen(live_sage):  # of two processes without Redis, each takes the other for dead
        first = start_web_process(practice_port=live_sage.practice_port)
        try:
            async with open_socket(first, session.id, cookie) as client:
                await ask(client)
            async with open_socket(first, session.id, cookie) as client:
                before = (await client.next_frame())["sync"]
        finally:
            first.process.kill()
            first.process.wait()
    async with open_socket(live_sage, session.id, cookie) as client:
        after = (await client.next_frame())["sync"]
        await client.send(type="answer", toolUseId="toolu_pills", value="Fine")
        await client.until("done")
    assert before == after
    assert (after["status"], after["text"], after["pending"]) == (
        "awaiting_user", "A question.", [SHOWN_PILLS],
    )  # fmt: skip
    assert text_of(client.frames) == "A question.\n\nWelcome back."
    first_request, second_request = (request.body for request in practice.requests)
    assert second_request["messages"][:1] == first_request["messages"]
    assert_all_accepted(practice, 2)


@contextmanager
def frozen(sage: LiveSage) -> Iterator[None]:
    """Stop a process for a while, like a suspended machine."""
    sage.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        sage.process.send_signal(signal.SIGCONT)


async def test_nobody_answers_anothers_question(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, other_user: User
) -> None:
    practice.script([Reply.of(PILLS)])
    theirs = await in_database(open_conversation, other_user)
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
    async with open_socket(live_sage, theirs.id, await in_database(session_cookie, other_user)) as client:
        await client.until("sync")
        for frame in ({"type": "answer", "value": "Fine"}, {"type": "dismiss"}):
            await client.send(**frame, toolUseId="toolu_pills")
            assert "isn’t in this conversation" in (await client.until("error"))[-1]["error"]
    assert (await rows(ToolCallRecord.unscoped.all()))[0].state == ToolCallState.PENDING
