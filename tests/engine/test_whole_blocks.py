"""Blocks that arrive whole or in unknown deltas: no call is lost, and no incomplete one runs."""

from typing import Any

import pytest

from coaching.engine.reply import ReplyBuilder
from tests.engine.upstream import MODEL, Answer, Bench, call, end, event, saying, start, whole_block, words

SAVE = {
    "type": "tool_use",
    "id": "toolu_whole",
    "name": "save_file",
    "input": {"path": "whole.md", "content": "All of it."},
    "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"},
}


def begun_with(*content: Any, stop_reason: str | None = None, **values: Any) -> bytes:
    """Encode a message_start that already contains blocks, and optionally a stop reason."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, **values}
    usage = {"input_tokens": 10, "output_tokens": 30}
    return event(
        "message_start",
        message={**message, "content": list(content), "stop_reason": stop_reason, "usage": usage},
    )


@pytest.mark.parametrize("said_at_the_end", [None, "tool_use"])
async def test_a_call_that_came_whole_in_message_start_runs_once(
    bench: Bench, said_at_the_end: str | None
) -> None:
    bench.tool("save_file")
    bench.upstream.script(
        Answer(begun_with(SAVE, stop_reason="tool_use") + end(said_at_the_end)), saying("Saved")
    )
    result = await bench.part()
    assert result.outcome == "completed"
    assert bench.ran == ["toolu_whole"]
    assert len(bench.upstream.requests) == 2
    sent_back, results = bench.upstream.requests[1]["messages"][-2:]
    assert sent_back["content"] == [SAVE]
    assert [block["tool_use_id"] for block in results["content"]] == ["toolu_whole"]


async def test_the_stop_reason_of_message_start_counts_without_a_message_delta(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(
        Answer(begun_with(SAVE, stop_reason="tool_use") + event("message_stop")), saying("Saved")
    )
    assert (await bench.part()).outcome == "completed"
    assert bench.ran == ["toolu_whole"]


async def test_a_later_stop_reason_takes_the_place_of_the_first(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(Answer(begun_with(SAVE, stop_reason="tool_use") + end("end_turn")))
    assert (await bench.part()).stop_reason == "end_turn"
    assert bench.ran == []


async def test_words_that_came_whole_are_shown_before_those_that_stream(bench: Bench) -> None:
    bench.upstream.script(
        Answer(begun_with({"type": "text", "text": "Good "}) + words(1, "morning") + end("end_turn"))
    )
    await bench.part()
    assert bench.shown() == "Good morning"
    assert bench.recorder.rounds[0].text == "Good morning"


async def test_whole_and_streamed_calls_run_together(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(
        Answer(begun_with(SAVE) + call(1, "toolu_streamed", "save_file", {"path": "b.md"}) + end("tool_use")),
        saying("Saved"),
    )
    await bench.part()
    assert sorted(bench.ran) == ["toolu_streamed", "toolu_whole"]


async def test_no_cut_stream_runs_a_call_of_its_message_start(bench: Bench) -> None:
    bench.tool("save_file")
    whole = begun_with(SAVE, stop_reason="tool_use") + end("tool_use")
    for size in [*range(1, len(whole) - 3, 41), whole.index(b"message_stop")]:
        bench.ran.clear()
        bench.recorder.results.clear()
        bench.upstream.script(Answer(whole[:size]), saying("Thank you"))
        await bench.part()
        assert bench.ran == [], size


async def test_a_restarted_message_forgets_the_blocks_of_its_first_start(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(
        Answer(
            begun_with({"type": "text", "text": "Half"}, SAVE, stop_reason="tool_use")
            + start()
            + words(0, "Whole")
            + end("end_turn")
        )
    )
    await bench.part()
    assert bench.ran == []
    assert bench.recorder.rounds[0].text == "Whole"


async def test_a_message_that_restarts_amid_its_blocks_is_asked_for_again(bench: Bench) -> None:
    """What came before the second start is void: what follows it lacks a block, and that may be thinking."""
    bench.tool("save_file")
    bench.upstream.script(
        Answer(
            start()
            + words(0, "Half")
            + start()
            + call(1, "toolu_1", "save_file", {"path": "a.md"})
            + end("tool_use")
        ),
        saying("Whole"),
    )
    await bench.part()
    assert bench.ran == []
    assert [kept.text for kept in bench.recorder.rounds] == ["Whole"]


@pytest.mark.parametrize(
    "begun",
    [
        begun_with("words"),
        begun_with({"type": "tool_use", "name": "save_file", "input": {}}),
        begun_with({"text": "no type"}),
        event("message_start", message={"id": "m", "content": {"type": "text"}, "usage": {}}),
        begun_with(SAVE) + words(0, "At the call's index"),
    ],
    ids=["no object", "call without id", "no type", "no list", "index taken"],
)
async def test_a_contradictory_start_is_asked_for_again(bench: Bench, begun: bytes) -> None:
    bench.tool("save_file")
    bench.upstream.script(Answer(begun + end("tool_use")), saying("Hello"))
    result = await bench.part()
    assert result.outcome == "completed"
    assert (bench.ran, bench.recorder.rounds[-1].text) == ([], "Hello")


async def test_an_input_that_is_no_object_goes_back_as_an_empty_one(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(
        Answer(begun_with({**SAVE, "input": "whole.md"}, stop_reason="tool_use") + end("tool_use")),
        saying("Sorry"),
    )
    await bench.part()
    assert (bench.ran, bench.recorder.results["toolu_whole"].is_error) == ([], True)
    assert bench.upstream.requests[1]["messages"][-2]["content"] == [{**SAVE, "input": {}}]


async def test_a_compaction_block_is_kept_as_its_deltas_made_it(bench: Bench) -> None:
    bench.tool("save_file")
    compacted = {"type": "compaction_delta", "content": "So far: a plan.", "encrypted_content": "xyz="}
    bench.upstream.script(
        Answer(
            start()
            + event("content_block_start", index=0, content_block={"type": "compaction", "content": None})
            + event("content_block_delta", index=0, delta=compacted)
            + event("content_block_stop", index=0)
            + call(1, "toolu_1", "save_file")
            + end("tool_use")
        ),
        saying("Saved"),
    )
    await bench.part()
    first, _ = bench.upstream.requests[1]["messages"][-2]["content"]
    assert first == {"type": "compaction", "content": "So far: a plan.", "encrypted_content": "xyz="}


async def test_an_unknown_block_with_unknown_deltas_does_not_go_back_in_part(bench: Bench) -> None:
    bench.tool("save_file")
    whole = {"type": "hologram", "data": [1.5, None]}
    bench.upstream.script(
        Answer(
            start()
            + event("content_block_start", index=0, content_block={"type": "scent", "notes": ""})
            + event("content_block_delta", index=0, delta={"type": "scent_delta", "notes": "rose"})
            + event("content_block_stop", index=0)
            + whole_block(1, whole)
            + call(2, "toolu_1", "save_file")
            + end("tool_use")
        ),
        saying("Saved"),
    )
    await bench.part()
    kept = bench.upstream.requests[1]["messages"][-2]["content"]
    assert [block["type"] for block in kept] == ["hologram", "tool_use"]
    assert kept[0] == whole


def test_a_reply_is_not_whole_before_message_stop() -> None:
    builder = ReplyBuilder()
    message = {"id": "m", "content": [SAVE], "stop_reason": "tool_use", "usage": {}}
    builder.feed({"type": "message_start", "message": message}, [])
    assert not builder.reply().is_whole
    builder.feed({"type": "message_stop"}, [])
    reply = builder.reply()
    assert (reply.is_whole, reply.stop_reason) == (True, "tool_use")
    assert [(item.tool_use_id, item.is_closed) for item in reply.calls] == [("toolu_whole", True)]
