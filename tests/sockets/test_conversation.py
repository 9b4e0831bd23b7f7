"""A conversation over `sage.json`, frame by frame."""

import asyncio
import json

import pytest
from django.contrib.auth.models import User

from coaching.models import UserFile
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Note, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.models import Message, Session, Turn, TurnStatus
from tests.live_sage import Frame, LiveSage, SocketClient, open_socket, text_of
from tests.patience import measure_slowness
from tests.sockets.questions import rows

pytestmark = pytest.mark.django_db(transaction=True)


def save(domain: str) -> ToolUse:
    content = f"# {domain.title()}\n\nWhat was said about {domain}."
    return ToolUse("save_file", {"file_type": "domain", "file_name": domain, "content": content})


async def started(client: SocketClient) -> Frame:
    frame = await client.next_frame()
    assert "sync" in frame
    return frame


async def test_a_message_is_stored_answered_in_pieces_and_done(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(["Good morning. What matters to you today?"])
    async with open_socket(live_sage, session.id, cookie) as client:
        assert (await started(client))["sync"] == {
            "status": "idle", "turn": None, "text": "", "notes": [], "running": [], "pending": [],
        }  # fmt: skip
        await client.send(type="message", text="Good morning", id="mine")
        frames = await client.until("done")
    turn = (await rows(Turn.unscoped.all()))[0]
    assert frames[0] == {"message": {"id": "mine", "number": 1, "text": "Good morning"}}
    assert sum("text" in frame for frame in frames) >= 1
    assert text_of(frames) == "Good morning. What matters to you today?"
    assert frames[-1] == {"done": {"turn": str(turn.id), "stopReason": "end_turn"}}
    stored = await rows(Message.unscoped.order_by("number").values_list("role", "content"))
    assert stored == [("user", "Good morning"), ("assistant", "Good morning. What matters to you today?")]


async def test_three_saves_in_one_round_are_three_files_and_one_user_message_of_results(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script(
        [
            Reply.of(Text("I'll write that down."), save("career"), save("health"), save("play")),
            "Written: career, health and play.",
        ]
    )
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="Please save all three.")
        frames = await client.until("done")
    running = 0
    counts = []
    for frame in frames:
        if "toolCall" in frame or "toolDone" in frame:
            running += 1 if "toolCall" in frame else -1
            counts.append(running)
    assert counts == [1, 2, 3, 2, 1, 0]
    assert text_of(frames) == "I'll write that down.\n\nWritten: career, health and play."
    paths = await rows(UserFile.unscoped.filter(user=user).order_by("path").values_list("path", flat=True))
    assert paths == ["life-map/career.md", "life-map/health.md", "life-map/play.md"]
    last = practice.requests[1].body["messages"][-1]
    assert last["role"] == "user"
    results = [block for block in last["content"] if block["type"] == "tool_result"]
    assert [json.loads(block["content"])["path"] for block in results] == paths
    calls = [
        block for block in practice.requests[1].body["messages"][-2]["content"] if block["type"] == "tool_use"
    ]
    assert [block["tool_use_id"] for block in results] == [block["id"] for block in calls]


async def test_the_next_turn_sends_back_a_history_that_the_api_accepts(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Note("Let me note this."), save("career")), "Saved.", "Yes, I remember."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="Save it")
        await client.until("done")
        await client.send(type="message", text="Do you remember?")
        frames = await client.until("done")
    assert text_of(frames) == "Yes, I remember."
    assert [request.status for request in practice.requests] == [200, 200, 200]
    history = practice.requests[2].body["messages"]
    assert [message["role"] for message in history] == ["user", "assistant", "user", "assistant", "user"]
    assert "[saved: " in json.dumps(history)


async def test_notes_between_calls_are_notes_and_never_text(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(
        [Reply.of(save("career")), Reply.of(Note("Now the second page."), save("health")), "Both are saved."]
    )
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="Save both")
        frames = await client.until("done")
    assert "".join(frame["note"] for frame in frames if "note" in frame) == "Now the second page."
    assert text_of(frames) == "Both are saved."


async def test_who_comes_in_the_middle_sees_the_same_words_without_gap_or_repetition(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("First half, ", Hold("middle"), "second half.")])
    async with open_socket(live_sage, session.id, cookie) as first:
        await started(first)
        await first.send(type="message", text="Tell me")
        await practice.reached("middle")
    async with open_socket(live_sage, session.id, cookie) as second:
        sync = (await started(second))["sync"]
        async with open_socket(live_sage, session.id, cookie) as third:
            await started(third)
            practice.release("middle")
            await third.until("done")
            await second.until("done")
            assert text_of(second.frames) == text_of(third.frames) == "First half, second half."
    assert sync["status"] == "running"
    assert sync["text"].startswith("First half")


async def test_a_turn_continues_without_readers(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("Half of it", Hold("alone"), " and the rest.")])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="Tell me")
        await practice.reached("alone")
    practice.release("alone")
    await practice.wait_until(lambda requests: requests[0].stop_reason == "end_turn")
    async with open_socket(live_sage, session.id, cookie) as client:
        if (await started(client))["sync"]["status"] == "running":
            await client.until("done")
    answer = (await rows(Message.unscoped.filter(role="assistant").values_list("content", flat=True)))[0]
    assert answer == "Half of it and the rest."


@pytest.mark.slow
async def test_stop_closes_the_upstream_at_once_and_keeps_what_came(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("One, two, three", Hold("counting"), ", four.")])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        patience = 2 * await measure_slowness(live_sage.origin)
        await client.send(type="message", text="Count")
        await practice.reached("counting")
        asked_at = asyncio.get_running_loop().time()
        await client.send(type="stop")
        frames = await client.until("done")
        done_at = asyncio.get_running_loop().time()
    seen = await practice.wait_until(lambda requests: requests[0].closed_by_client_at is not None)
    assert frames[-1]["done"]["stopReason"] == "stopped"
    assert seen[0].closed_by_client_at is not None
    assert seen[0].closed_by_client_at - asked_at < 0.25 * patience
    assert done_at - asked_at < patience
    turn = (await rows(Turn.unscoped.all()))[0]
    assert turn.status == TurnStatus.STOPPED
    content = (await rows(Message.unscoped.filter(role="assistant").values_list("content", flat=True)))[0]
    assert content == text_of(client.frames)
    assert str(content).startswith("One, two")


async def test_a_round_that_breaks_after_visible_text_is_replaced_and_not_repeated(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.faults.push(Fault(kind="cut", place="in_text", after_bytes=1500))
    practice.script([Reply.of("A long sentence that comes in many pieces. " * 20)])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="Tell me")
        frames = await client.until("done")
    assert any("sync" in frame for frame in frames)
    assert text_of(frames) == "A long sentence that comes in many pieces. " * 20
    assert frames[-1]["done"]["stopReason"] == "end_turn"


async def test_a_failure_gets_a_message_and_a_retry_answers_the_same_message(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.faults.push(Fault(kind="status", status=400, message="nonsense"))
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="Hello")
        frames = await client.until("done")
        errors = [frame["error"] for frame in frames if "error" in frame]
        assert len(errors) == 1
        assert "nonsense" not in errors[0]
        practice.script(["Hello again."])
        await client.send(type="retry")
        again = await client.until("done")
        assert text_of(again) == "Hello again."
        await client.send(type="retry")
        assert "nothing to try again" in (await client.until("error"))[-1]["error"]
    stored = await rows(Message.unscoped.order_by("number").values_list("number", "role", "content"))
    assert stored == [(1, "user", "Hello"), (2, "assistant", "Hello again.")]


async def test_an_answer_cut_for_length_goes_on_with_one_tap(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("It begins", stop_reason="max_tokens"), " and ends."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="A long story")
        frames = await client.until("done")
        assert frames[-1]["done"]["stopReason"] == "max_tokens"
        assert sum("error" in frame for frame in frames) == 1
        await client.send(type="continue")
        going_on = await client.until("done")
    assert not any("message" in frame for frame in going_on)
    assert text_of(going_on) == " and ends."


async def test_an_edited_message_takes_the_place_of_the_last_and_says_what_stays_written(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("Saving.", save("career")), "Saved.", "About health, then."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="edit", text="Nothing yet")
        assert "no message to edit" in (await client.until("error"))[-1]["error"]
        await client.send(type="message", text="About my career")
        await client.until("done")
        await client.send(type="edit", text="About my health", id="edited")
        frames = await client.until("done")
    assert frames[:2] == [
        {"withdrawn": {"from": 1}},
        {"message": {"id": "edited", "number": 3, "text": "About my health"}},
    ]
    assert text_of(frames) == "About health, then."
    assert practice.requests[2].body["messages"][0]["content"][-1]["text"] == "About my health"
    assert len(practice.requests[2].body["messages"]) == 1
    assert len(await rows(UserFile.unscoped.all())) == 1


async def test_the_same_id_twice_is_one_turn(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(["Once."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        for _ in range(2):
            await client.send(type="message", text="Hello", id="same")
        frames = await client.until("done")
        await client.send(type="message", text="Hello", id="same")
        await client.send(type="nonsense")
        rest = await client.until("error")
    assert sum("message" in frame for frame in [*frames, *rest]) == 1
    # A client that resends missed the acknowledgement, and gets the current state.
    assert [frame["sync"]["status"] for frame in rest if "sync" in frame][-1] == "idle"
    assert len(practice.requests) == 1


async def test_a_second_message_meanwhile_is_refused_with_a_sentence(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("Let me think", Hold("thinking"), ".")])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="One")
        await practice.reached("thinking")
        await client.send(type="message", text="Two")
        assert "still answering" in (await client.until("error"))[-1]["error"]
        practice.release("thinking")
        assert (await client.until("done"))[-1]["done"]["stopReason"] == "end_turn"
    assert len(await rows(Message.unscoped.filter(role="user"))) == 1


async def test_a_tool_use_id_that_the_model_reuses_is_distinguished(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    def again(domain: str) -> Reply:
        return Reply.of(ToolUse("save_file", save(domain).input, id="toolu_same"))

    practice.script([again("career"), again("health"), "Both.", again("play"), "All three.", "Gladly."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        for text in ("Save two", "And one", "Thank you"):
            await client.send(type="message", text=text)
            frames = await client.until("done")
            assert frames[-1]["done"]["stopReason"] == "end_turn"
    assert [request.status for request in practice.requests] == [200] * 6
    assert len(await rows(UserFile.unscoped.all())) == 3
    ids = [frame["toolCall"]["id"] for frame in client.frames if "toolCall" in frame]
    assert ids == ["toolu_same", "toolu_same_2", "toolu_same"]


async def test_the_model_gets_a_failed_tools_error_and_the_turn_continues(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    bad = ToolUse("save_file", {"file_type": "domain", "file_name": "../../etc/passwd", "content": "x"})
    practice.script([Reply.of(bad), "That name doesn't work, so nothing was saved."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await started(client)
        await client.send(type="message", text="Save")
        frames = await client.until("done")
    result = practice.requests[1].body["messages"][-1]["content"][0]
    assert result["is_error"] is True
    assert "career" in result["content"]
    assert text_of(frames) == "That name doesn't work, so nothing was saved."
    assert await rows(UserFile.unscoped.all()) == []
