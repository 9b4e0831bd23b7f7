"""How a part handles replies: rounds, order, budgets and stop reasons."""

import asyncio
from dataclasses import replace
from typing import get_args

import anthropic.types
import pytest

from coaching.engine import decisions
from coaching.engine.budget import PartLimits
from coaching.engine.calls import NOT_WITH_A_QUESTION, OVER_BUDGET, PAUSED, UNEXPECTED, WORDS_ONLY
from coaching.engine.errors import StaleRunnerError, ToolError
from coaching.engine.events import (
    NoteDelta,
    RoundBoundary,
    RoundRestarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
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


def test_every_stop_reason_of_the_sdk_has_its_decision() -> None:
    assert set(decisions.DECISIONS) == set(get_args(anthropic.types.StopReason))


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


async def test_three_saves_run_in_parallel_and_answer_in_one_message(bench: Bench) -> None:
    together = asyncio.Barrier(3)

    async def save(context: ToolCall, values: SaveInput) -> ToolResult:
        await together.wait()
        return ToolResult.of(path=values.path)

    bench.tool("save_file", save, conflict_key=lambda values: values.path)
    calls = [call(i, f"t{i}", "save_file", {"path": f"{i}.md", "content": "x"}) for i in (1, 2, 3)]
    bench.upstream.script(calling(*calls, text="Saving"), saying("Saved"))
    result = await bench.part()
    assert result.outcome == "completed"
    running = 0
    counts = []
    for item in bench.events:
        running += isinstance(item, ToolCallStarted) - isinstance(item, ToolCallFinished)
        counts.append(running)
    assert max(counts) == 3
    assert counts[-1] == 0
    assistant, answers = bench.upstream.requests[1]["messages"][-2:]
    assert [block["type"] for block in assistant["content"]] == ["text", "tool_use", "tool_use", "tool_use"]
    assert [block["tool_use_id"] for block in answers["content"]] == ["t1", "t2", "t3"]
    assert bench.recorder.log[0] == "round 1"
    assert bench.recorder.log[-1] == "round 2"
    assert bench.kinds()[-2:] == ["RoundBoundary", "TextDelta"]


async def test_saves_to_one_path_run_in_the_order_written(bench: Bench) -> None:
    began: list[str] = []
    second_began = asyncio.Event()

    async def save(context: ToolCall, values: SaveInput) -> ToolResult:
        began.append(context.tool_use_id)
        if context.tool_use_id == "other":
            second_began.set()
        elif context.tool_use_id == "one":
            await second_began.wait()  # calls that don't conflict aren't delayed
        return ToolResult.of(ok=True)

    bench.tool("save_file", save, conflict_key=lambda values: values.path)
    bench.upstream.script(
        calling(
            call(1, "one", "save_file", {"path": "a"}),
            call(2, "two", "save_file", {"path": "a"}),
            call(3, "other", "save_file", {"path": "b"}),
        ),
        saying("Done"),
    )
    await bench.part()
    assert began == ["one", "other", "two"]


async def test_entering_comes_first_and_completing_last(bench: Bench) -> None:
    bench.tool("enter", kind="lifecycle", phase="first")
    bench.tool("save_file")
    bench.tool("complete", kind="lifecycle", phase="last")
    bench.upstream.script(
        calling(call(1, "c", "complete"), call(2, "s", "save_file"), call(3, "e", "enter")), saying("Done")
    )
    await bench.part()
    assert bench.ran == ["e", "s", "c"]
    answers = bench.upstream.requests[1]["messages"][-1]["content"]
    assert [block["tool_use_id"] for block in answers] == ["c", "s", "e"]


async def test_completing_in_the_same_round_as_a_question_is_an_error_and_the_question_waits(
    bench: Bench,
) -> None:
    bench.tool("ask", kind="interactive")
    bench.tool("save_file")
    bench.tool("complete", kind="lifecycle", phase="last")
    bench.upstream.script(
        calling(
            call(1, "q1", "ask", {"path": "x"}),
            call(2, "c", "complete"),
            call(3, "s", "save_file"),
            call(4, "q2", "ask"),
            text="Well",
        )
    )
    result = await bench.part()
    assert result.outcome == "awaiting_user"
    assert [item.tool_use_id for item in result.pending] == ["q1", "q2"]
    assert bench.ran == ["s"]
    assert bench.recorder.results["c"] == ToolResult.error(NOT_WITH_A_QUESTION)
    assert set(bench.recorder.results) == {"c", "s"}
    assert result.pending[0].input == {"path": "x", "content": ""}
    assert len(bench.upstream.requests) == 1


async def test_a_confirm_tool_runs_at_once_where_nothing_waits(bench: Bench) -> None:
    bench.tool("create_note", kind="confirm")
    bench.upstream.script(calling(call(1, "n", "create_note")), saying("Done"))
    result = await bench.part(waiting_kinds=frozenset())
    assert (result.outcome, bench.ran) == ("completed", ["n"])


async def test_an_interactive_call_with_bad_input_is_an_error_result_and_does_not_wait(bench: Bench) -> None:
    bench.tool("ask", kind="interactive")
    bench.upstream.script(calling(call(1, "q", "ask", {"nonsense": 1})), saying("Oh"))
    result = await bench.part()
    assert result.outcome == "completed"
    assert "nonsense" in bench.recorder.results["q"].content


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (call(1, "t", "no_such_tool"), "no tool of that name"),
        (call(1, "t", "save_file", {"path": 5}), "path:"),
        (call(1, "t", "save_file", {"content": "x" * 1001}), "content:"),
        (call(1, "t", "save_file", raw='{"path": "a'), "not one valid JSON object"),
        (call(1, "t", "save_file", raw="[1]"), "not one valid JSON object"),
        (call(1, "t", "save_file", raw='{"path": NaN}'), "not one valid JSON object"),
        (call(1, "t", "save_file", raw='{"path": "\\ud800"}'), "lone surrogate"),
        (call(1, "t", "save_file", raw="[" * 5000), "not one valid JSON object"),
    ],
)
async def test_what_a_model_gets_wrong_becomes_an_error_result(
    bench: Bench, written: bytes, told: str
) -> None:
    bench.tool("save_file")
    bench.upstream.script(calling(written), saying("Sorry"))
    result = await bench.part()
    assert result.outcome == "completed"
    assert bench.ran == []
    assert told in bench.recorder.results["t"].content
    answer = bench.upstream.requests[1]["messages"][-1]["content"][0]
    assert answer["is_error"] is True
    assert not [item for item in bench.events if isinstance(item, ToolCallStarted)]


async def test_each_failure_is_its_own_and_says_nothing_of_our_insides(bench: Bench) -> None:
    async def refuse(context: ToolCall, values: SaveInput) -> ToolResult:
        raise ToolError("The name is taken. Use another.")

    async def crash(context: ToolCall, values: SaveInput) -> ToolResult:
        raise RuntimeError("secret insides")

    bench.tool("refuse", refuse)
    bench.tool("crash", crash)
    bench.tool("save_file")
    bench.upstream.script(
        calling(call(1, "r", "refuse"), call(2, "c", "crash"), call(3, "s", "save_file")), saying("Ok")
    )
    assert (await bench.part()).outcome == "completed"
    results = bench.recorder.results
    assert results["r"] == ToolResult.error("The name is taken. Use another.")
    assert results["c"] == ToolResult.error(UNEXPECTED)
    assert not results["s"].is_error


async def test_the_fifth_round_is_asked_without_tools_and_ends_in_words(bench: Bench) -> None:
    bench.tool("save_file")
    rounds = [calling(call(1, f"t{i}", "save_file")) for i in range(4)]
    bench.upstream.script(*rounds, saying("That was it"))
    result = await bench.part()
    assert (result.outcome, result.stop_reason) == ("completed", "end_turn")
    choices = [sent.get("tool_choice") for sent in bench.upstream.requests]
    assert choices == [None] * 4 + [{"type": "none"}]
    assert all(sent["tools"] for sent in bench.upstream.requests)


async def test_a_server_that_calls_in_spite_of_that_gets_errors_and_no_further_round(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(*[calling(call(1, f"t{i}", "save_file"), text="…") for i in range(9)])
    result = await bench.part()
    assert result.outcome == "completed"
    assert len(bench.upstream.requests) == 5
    assert bench.ran == ["t0", "t1", "t2", "t3"]
    assert bench.recorder.results["t4"] == ToolResult.error(WORDS_ONLY)


async def test_the_sixteenth_call_is_refused(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(calling(*[call(i, f"t{i}", "save_file") for i in range(1, 17)]), saying("Enough"))
    await bench.part()
    assert len(bench.ran) == 15
    assert bench.recorder.results["t16"] == ToolResult.error(OVER_BUDGET)
    assert bench.upstream.requests[1]["tool_choice"] == {"type": "none"}


async def test_two_rounds_of_failures_end_the_part_with_a_message(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(*[calling(call(1, f"t{i}", "nope")) for i in range(3)])
    result = await bench.part()
    assert result.outcome == "failed"
    assert result.failure is not None
    assert result.failure.reason == "tools_failing"
    assert result.user_message
    assert set(bench.recorder.results) == {"t0", "t1"}


async def test_a_success_between_failures_is_no_reason_to_give_up(bench: Bench) -> None:
    bench.tool("save_file")
    names = ["nope", "save_file", "nope"]
    bench.upstream.script(*[calling(call(1, f"t{i}", name)) for i, name in enumerate(names)], saying("So"))
    assert (await bench.part()).outcome == "completed"


async def test_a_truncated_answer_is_kept_and_the_user_informed(bench: Bench) -> None:
    bench.upstream.script(saying("A long story", "max_tokens"))
    result = await bench.part()
    assert (result.outcome, result.stop_reason) == ("completed", "max_tokens")
    assert result.user_message == WORDS.cut_in_words
    assert bench.recorder.rounds[0].text == "A long story"
    assert len(bench.upstream.requests) == 1


@pytest.mark.parametrize("is_closed", [True, False])
async def test_a_call_that_was_cut_never_runs_and_is_asked_for_once_more(
    bench: Bench, is_closed: bool
) -> None:
    bench.tool("save_file")
    cut = call(1, "t", "save_file", raw='{"path": "a.md", "content": "half"}', is_closed=is_closed)
    bench.upstream.script(Answer(start() + words(0, "Saving") + cut + end("max_tokens")), saying("Done"))
    result = await bench.part()
    assert result.outcome == "completed"
    assert bench.ran == []
    assert [sent["max_tokens"] for sent in bench.upstream.requests] == [1000, 2000]
    assert bench.kinds() == ["TextDelta", "RoundRestarted", "TextDelta"]
    assert [(item.number, item.text) for item in bench.recorder.rounds] == [(1, "Done")]
    assert bench.upstream.requests[1]["messages"] == bench.upstream.requests[0]["messages"]


async def test_a_call_cut_twice_is_given_up_with_its_words_kept(bench: Bench) -> None:
    bench.tool("save_file")
    cut = Answer(start() + words(0, "Saving") + call(1, "t", "save_file", raw='{"pa') + end("max_tokens"))
    bench.upstream.script(cut, cut)
    result = await bench.part()
    assert (result.outcome, result.user_message) == ("completed", WORDS.cut_in_call)
    assert bench.ran == []
    [recorded] = bench.recorder.rounds
    assert recorded.calls == ()
    assert recorded.blocks == ({"type": "text", "text": "Saving"},)


async def test_refused_calls_of_a_paused_reply_may_be_repeated(bench: Bench) -> None:
    bench.tool("save_file")
    paused = Answer(start() + words(0, "…") + call(1, "t1", "save_file") + end("pause_turn"))
    bench.upstream.script(paused, calling(call(1, "t2", "save_file")), saying("Saved"))
    assert (await bench.part()).outcome == "completed"
    assert bench.recorder.results["t1"] == ToolResult.error(PAUSED)
    assert bench.ran == ["t2"]
    assert "tool_choice" not in bench.upstream.requests[1]


async def test_a_paused_round_of_a_lost_runner_runs_no_call_either(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(
        Answer(start() + words(0, "…") + call(1, "t1", "save_file") + end("pause_turn")), saying("Saved")
    )
    await bench.part()
    continued = replace(bench, recorder=MemoryRecorder(), events=[], ran=[], tools=[])
    continued.tool("save_file")
    continued.upstream.script(saying("Saved"))
    await continued.part(rounds_before=1, resumed=ResumedRound(finished=bench.recorder.rounds[0], results={}))
    assert continued.ran == []
    assert continued.recorder.results["t1"] == ToolResult.error(PAUSED)


async def test_a_pause_goes_on_with_what_was_said_sent_back(bench: Bench) -> None:
    bench.upstream.script(saying("Let me see", "pause_turn"), saying("Here"))
    result = await bench.part()
    assert result.stop_reason == "end_turn"
    assert bench.upstream.requests[1]["messages"][-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Let me see"}],
    }
    assert bench.kinds() == ["TextDelta", "RoundBoundary", "TextDelta"]


async def test_a_refusal_becomes_one_kind_sentence_and_never_an_empty_bubble(bench: Bench) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": None}
    bench.upstream.script(Answer(start() + words(0, "First you") + end("refusal", stop_details=details)))
    result = await bench.part()
    assert (result.outcome, result.stop_reason) == ("completed", "refusal")
    assert bench.kinds() == ["TextDelta", "RoundRestarted", "TextDelta"]
    [recorded] = bench.recorder.rounds
    assert recorded.text == WORDS.refused
    assert recorded.blocks == ({"type": "text", "text": WORDS.refused},)


async def test_a_full_window_is_shrunk_once(bench: Bench) -> None:
    async def shrink(request: ModelRequest) -> ModelRequest:
        return ModelRequest(
            model=request.model, max_tokens=50, messages=[{"role": "user", "content": "Short"}]
        )

    full = Answer(start() + end("model_context_window_exceeded"))
    bench.upstream.script(full, saying("Fits"))
    result = await bench.part(shrink=shrink)
    assert result.stop_reason == "end_turn"
    assert bench.upstream.requests[1]["messages"] == [{"role": "user", "content": "Short"}]
    bench.upstream.script(full)
    result = await bench.part(shrink=shrink)
    assert (result.outcome, len(bench.upstream.requests)) == ("failed", 4)
    assert result.user_message == WORDS.too_long


async def test_a_call_with_any_other_stop_reason_never_runs(bench: Bench) -> None:
    bench.tool("save_file")
    for reason in ("end_turn", "stop_sequence", "a_new_reason"):
        bench.upstream.script(Answer(start() + words(0, "Hm") + call(1, "t", "save_file") + end(reason)))
        result = await bench.part()
        assert (result.outcome, result.stop_reason) == ("completed", reason)
        assert bench.recorder.rounds[-1].blocks == ({"type": "text", "text": "Hm"},)
    assert bench.ran == []


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
