"""Pending questions and their arcs, on a real socket."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import pytest
from django.contrib.auth.models import User

from coaching.models import PulseRating, UserFile
from coaching.practice.script import Reply, Text, Thinking, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import services
from sessions_app.database import in_database
from sessions_app.models import CallState, Message, Session, SessionKind, SessionStatus, ToolCallRecord, Turn
from tests.live_sage import (
    Frame,
    LiveSage,
    SocketClient,
    open_socket,
    session_cookie,
    start_web_process,
    text_of,
)

pytestmark = pytest.mark.django_db(transaction=True)

PILLS = ToolUse(
    "show_options",
    {"prompt": "How are you?", "options": [{"label": "Fine"}, {"label": "Not so good", "value": "low"}]},
    id="toolu_pills",
)
SHOWN_PILLS = {
    "showOptions": {
        "toolUseId": "toolu_pills",
        "prompt": "How are you?",
        "options": [{"label": "Fine", "value": "Fine"}, {"label": "Not so good", "value": "low"}],
    }
}
PULSE = ToolUse("show_pulse_check", {"domains": ["career", "health"]}, id="toolu_pulse")
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


async def rows(queryset: object) -> list[Any]:
    return await in_database(list, queryset)  # type: ignore[arg-type]


async def ask(client: SocketClient, text: str = "Hello") -> list[Frame]:
    """Send a message and return the frames until the turn ends or waits."""
    await client.until("sync")
    await client.send(type="message", text=text)
    return await client.until("done")


def results_in(practice: PracticeServer, request: int) -> list[dict[str, Any]]:
    """Return the blocks of a request's last message."""
    last = practice.requests[request].body["messages"][-1]
    assert last["role"] == "user"
    blocks: list[dict[str, Any]] = last["content"]
    return blocks


def values_of(block: dict[str, Any]) -> dict[str, Any]:
    assert block["type"] == "tool_result"
    values: dict[str, Any] = json.loads(block["content"])
    return values


def assert_all_accepted(practice: PracticeServer, count: int) -> None:
    assert [request.status for request in practice.requests] == [200] * count


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
    assert (call.state, call.value, call.is_error) == (CallState.ANSWERED, "low", False)
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
            ({"toolUseId": "toolu_other", "value": "Fine"}, "no such question"),
            ({"toolUseId": "a\x00b", "value": "Fine"}, "no such question"),
            ({"toolUseId": "a\ud800b", "value": "Fine"}, "no such question"),
            ({"toolUseId": ["toolu_pills"], "value": "Fine"}, "no such question"),
            ({"value": "Fine"}, "no such question"),
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
    assert late[-1]["error"] == too_late[-1]["error"] == "This question isn't open any more (answered)."
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
    assert late[-1]["error"] == "This question isn't open any more (superseded)."
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
    theirs = await in_database(
        services.open_session, user_id=other_user.pk, kind=SessionKind.OPEN_CONVERSATION
    )
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
    async with open_socket(live_sage, theirs.id, await in_database(session_cookie, other_user)) as client:
        await client.until("sync")
        for frame in ({"type": "answer", "value": "Fine"}, {"type": "dismiss"}):
            await client.send(**frame, toolUseId="toolu_pills")
            assert "no such question" in (await client.until("error"))[-1]["error"]
    assert (await rows(ToolCallRecord.unscoped.all()))[0].state == CallState.PENDING


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
            "That was the day's plan.",
        ]
    )
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client)
        await client.send(type="message", text="One more thing")
        await client.until("done")
    changes = [frame for frame in frames if "modeChange" in frame or "arcCompleted" in frame]
    assert changes == [{"modeChange": "open_day"}, {"arcCompleted": "open_day"}]
    saved, entered = (values_of(block) for block in results_in(practice, 1))
    assert (saved["success"], entered["success"]) == (True, True)
    assert "## Goal" in entered["skill"]
    completed = values_of(results_in(practice, 2)[0])
    assert (completed["success"], completed["completed"], completed["still_missing"]) == (True, "arc", [])
    refused = results_in(practice, 4)[0]
    assert refused["is_error"] is True
    assert "can't be written in open_conversation" in refused["content"]
    assert_all_accepted(practice, 5)
    # Entering and leaving changed nothing that was sent before.
    firsts = {json.dumps(request.body["messages"][0]["content"][-1]["text"]) for request in practice.requests}
    assert firsts == {'"Hello"'}


async def test_two_completions_in_one_round_are_one_and_only_the_next_round_ends_it_anyway(
    live_sage: LiveSage, practice: PracticeServer, user: User, cookie: str
) -> None:
    own = await in_database(services.open_session, user_id=user.pk, kind=SessionKind.CLOSE_DAY)
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
    own = await in_database(services.open_session, user_id=user.pk, kind=SessionKind.OPEN_DAY)
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
    assert late[-1]["error"] == "This question isn't open any more (expired)."
    assert not await rows(Turn.unscoped.filter(ended_at=None))


@pytest.fixture
async def browser(live_sage: LiveSage, session: Session, cookie: str) -> Any:
    """A browser without JavaScript: `post(fields)` sends the session's form and returns status and page."""
    url = f"{live_sage.origin}/chat/{session.id}/"
    async with aiohttp.ClientSession(headers={"Cookie": cookie}) as http:

        async def post(**fields: str) -> tuple[int, str]:
            async with http.get(url) as page:
                token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', await page.text())
                csrf = page.cookies["csrftoken"].value if "csrftoken" in page.cookies else ""
            assert token
            headers = {"Cookie": f"{cookie}; csrftoken={csrf or token[1]}", "Referer": url}
            form = {"csrfmiddlewaretoken": token[1], **fields}
            async with http.post(url + "message/", data=form, headers=headers) as answer:
                return answer.status, await answer.text()

        yield post


async def test_without_javascript_a_form_answers_rates_and_dismisses(
    live_sage: LiveSage, practice: PracticeServer, session: Session, browser: Any
) -> None:
    practice.script([Reply.of(PILLS), Reply.of(PULSE), Reply.of("Now you know."), Reply.of(PILLS)])
    await browser(text="Hello")
    status, page = await browser(tool_use_id="toolu_pills", value="")
    assert (status, "Please choose one of the answers" in page) == (422, True)
    status, _ = await browser(tool_use_id="toolu_pills", value="low")
    assert status == 200
    for fields, told in (
        ({"note": "nothing rated"}, "rate at least one"),
        ({"rating_career": "", "rating_health": ""}, "rate at least one"),
        ({"rating_career": "6"}, "from 1 to 5"),
        ({"rating_career": "many"}, "from 1 to 5"),
        ({"rating_career": "3.5"}, "from 1 to 5"),
        ({"rating_play": "3"}, "asked about"),
    ):
        status, page = await browser(tool_use_id="toolu_pulse", **fields)
        assert (status, told in page) == (422, True)
    status, page = await browser(
        tool_use_id="toolu_pulse", rating_career="2", rating_health="5", note="a note"
    )
    assert (status, "Now you know." in page) == (200, True)
    ratings = await rows(PulseRating.unscoped.order_by("domain").values_list("domain", "rating", "note"))
    assert ratings == [("career", 2, "a note"), ("health", 5, "a note")]
    await browser(text="Once more")
    status, _ = await browser(tool_use_id="toolu_pills", do="dismiss")
    assert status == 200
    states = await rows(ToolCallRecord.unscoped.order_by("id").values_list("state", flat=True))
    assert states == [CallState.ANSWERED, CallState.ANSWERED, CallState.DISMISSED]
    assert_all_accepted(practice, 4)
