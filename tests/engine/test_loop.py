"""How a part handles replies: rounds, what each request carries, and lost or stale runners."""

from dataclasses import replace

import pytest

from coaching.engine.budget import PartLimits
from coaching.engine.errors import StaleRunnerError
from coaching.engine.events import (
    NoteDelta,
    RoundBoundary,
    RoundRestarted,
    TextDelta,
)
from coaching.engine.messages import ModelRequest
from coaching.engine.setup import ResumedRound
from coaching.engine.tools import ToolCall, ToolResult
from tests.engine.upstream import (
    WORDS,
    Answer,
    Bench,
    MemoryRecorder,
    SaveInput,
    call,
    calling,
    end,
    saying,
    start,
    thinking,
    whole_block,
    words,
)


async def test_an_answer_in_words_is_shown_recorded_and_completed(bench: Bench) -> None:
    bench.upstream.script(
        Answer(start(cache_read_input_tokens=7) + words(0, "Good ", "morning") + end("end_turn"))
    )
    result = await bench.part()
    assert (result.outcome, result.stop_reason, result.user_message) == ("completed", "end_turn", None)
    assert bench.shown() == "Good morning"
    [recorded] = bench.recorder.rounds
    assert recorded.blocks == ({"type": "text", "text": "Good morning"},)
    assert (recorded.number, recorded.text, recorded.is_partial) == (1, "Good morning", False)
    [usage] = bench.recorder.usages
    tokens = usage.tokens
    assert (tokens.input_tokens, tokens.output_tokens, tokens.cache_read_tokens) == (10, 5, 7)
    assert usage.first_token_ms is not None


async def test_the_request_carries_what_the_profile_wants_and_the_key(bench: Bench) -> None:
    bench.upstream.script(saying("Hi"))
    await bench.part()
    [sent] = bench.upstream.requests
    assert sent["thinking"] == {"type": "between_tools"}
    assert sent["output_config"] == {"effort": "medium"}
    assert sent["stream"] is True
    assert bench.upstream.headers[0]["authorization"] == "Bearer key"


async def test_an_unknown_model_gets_no_thinking_parameter(bench: Bench) -> None:
    bench.upstream.script(saying("Hi"))
    messages = [{"role": "user", "content": "Hello"}]
    await bench.part(request=ModelRequest(model="qwen-next", max_tokens=100, messages=messages))
    [sent] = bench.upstream.requests
    assert "thinking" not in sent
    assert "output_config" not in sent


async def test_blocks_go_back_verbatim_with_thinking_and_unknown_ones(bench: Bench) -> None:
    bench.tool("save_file")
    strange = whole_block(1, {"type": "hologram", "data": {"b": 1, "a": [1.5, None]}})
    answer = Answer(
        start()
        + thinking(0, "Looking ", "at it", signature="s1")
        + strange
        + whole_block(2, {"type": "redacted_thinking", "data": "xyz"})
        + thinking(3, signature="s2")
        + call(4, "t", "save_file", {"path": "ä.md"})
        + end("tool_use")
    )
    bench.upstream.script(answer, saying("Done"))
    await bench.part()
    expected = [
        {"type": "thinking", "thinking": "Looking at it", "signature": "s1"},
        {"type": "hologram", "data": {"b": 1, "a": [1.5, None]}},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "thinking", "thinking": "", "signature": "s2"},
        {"type": "tool_use", "id": "t", "name": "save_file", "input": {"path": "ä.md"}},
    ]
    assert bench.upstream.requests[1]["messages"][-2] == {"role": "assistant", "content": expected}
    assert list(bench.recorder.rounds[0].blocks) == expected
    assert '"path":"ä.md"' in bench.recorder.rounds[0].blocks_json
    assert bench.shown(NoteDelta) == "Looking at it"
    assert bench.recorder.rounds[0].notes == "Looking at it"


async def test_saved_text_goes_back_shortened_only_where_thinking_is_not_bound(bench: Bench) -> None:
    bench.tool("save_file")
    messages = [{"role": "user", "content": "Hello"}]
    for model, content in (("claude-haiku-4-5-20251001", "[saved: 3 chars]"), ("claude-sonnet-5-5", "abc")):
        bench.upstream.requests.clear()
        bench.recorder.results.clear()
        bench.upstream.script(calling(call(1, "t", "save_file", {"content": "abc"})), saying("Done"))
        await bench.part(request=ModelRequest(model=model, max_tokens=9, messages=messages))
        sent = bench.upstream.requests[1]["messages"][-2]["content"][-1]["input"]
        assert sent == {"content": content}
        assert bench.recorder.rounds[0].blocks[-1]["input"] == {"content": "abc"}


async def test_later_parts_number_their_rounds_on_and_begin_with_a_boundary(bench: Bench) -> None:
    bench.upstream.script(saying("More"))
    await bench.part(rounds_before=2)
    assert bench.recorder.rounds[0].number == 3
    assert bench.events == [RoundBoundary(), TextDelta("More")]


async def test_an_empty_answer_is_said_to_be_one(bench: Bench) -> None:
    bench.upstream.script(Answer(start() + end("end_turn")))
    result = await bench.part()
    assert (result.outcome, result.user_message) == ("completed", WORDS.nothing_said)


async def test_a_stale_runner_leaves_at_once(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(calling(call(1, "t", "save_file")), saying("Done"))
    bench.recorder.failure = StaleRunnerError()
    with pytest.raises(StaleRunnerError):
        await bench.part()
    assert bench.ran == []


async def test_a_stale_runner_found_by_a_tool_leaves_too(bench: Bench) -> None:
    async def stale(context: ToolCall, values: SaveInput) -> ToolResult:
        raise StaleRunnerError

    bench.tool("stale", stale)
    bench.tool("save_file")
    bench.upstream.script(calling(call(1, "t", "stale"), call(2, "s", "save_file")), saying("Done"))
    with pytest.raises(StaleRunnerError):
        await bench.part()
    assert len(bench.upstream.requests) == 1


async def test_a_message_begun_anew_in_its_stream_replaces_what_was_shown(bench: Bench) -> None:
    bench.upstream.script(
        Answer(start("msg_1") + words(0, "Old"), start("msg_2") + words(0, "New") + end("end_turn"))
    )
    await bench.part()
    assert bench.recorder.rounds[0].text == "New"
    assert bench.recorder.rounds[0].message_id == "msg_2"
    restarts = [item for item in bench.events if isinstance(item, RoundRestarted)]
    shown_after = bench.events[bench.events.index(restarts[0]) + 1 :] if restarts else bench.events
    assert "".join(item.text for item in shown_after if isinstance(item, TextDelta)) == "New"


async def test_no_part_has_more_requests_than_it_may(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(*[calling(call(1, f"t{i}", "save_file")) for i in range(9)])
    await bench.part(limits=PartLimits(max_rounds=99, max_upstream_requests=3))
    assert len(bench.upstream.requests) == 3
    assert bench.upstream.requests[2]["tool_choice"] == {"type": "none"}


async def test_a_lost_runners_round_runs_only_the_calls_without_a_result_and_goes_on(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(
        calling(call(1, "t1", "save_file"), call(2, "t2", "save_file"), text="Saving"), saying("Saved")
    )
    await bench.part()
    lost = bench.recorder.rounds[0]
    continued = replace(bench, recorder=MemoryRecorder(), events=[], ran=[], tools=[])
    continued.tool("save_file")
    continued.upstream.requests.clear()
    continued.upstream.script(saying("Saved"))
    known = {"t1": bench.recorder.results["t1"]}
    result = await continued.part(rounds_before=1, resumed=ResumedRound(finished=lost, results=known))
    assert (result.outcome, continued.ran) == ("completed", ["t2"])
    assert list(continued.recorder.results) == ["t2"]
    [sent] = continued.upstream.requests
    assert sent["messages"][-2]["content"] == list(lost.blocks)
    assert [block["tool_use_id"] for block in sent["messages"][-1]["content"]] == ["t1", "t2"]
    assert [item.number for item in continued.recorder.rounds] == [2]
    assert continued.events[-2:] == [RoundBoundary(), TextDelta("Saved")]
