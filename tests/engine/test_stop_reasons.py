"""What follows each stop reason of a reply."""

from dataclasses import replace
from typing import get_args

import anthropic.types
import pytest

from coaching.engine import decisions
from coaching.engine.calls import PAUSED
from coaching.engine.cleaned_reply import REPETITION
from coaching.engine.messages import ModelRequest
from coaching.engine.setup import ResumedRound
from coaching.engine.tools import ToolResult
from tests.engine.upstream import (
    WORDS,
    Answer,
    Bench,
    MemoryRecorder,
    call,
    calling,
    end,
    saying,
    start,
    words,
)


def test_every_stop_reason_of_the_sdk_has_its_decision() -> None:
    assert set(decisions.DECISIONS) == {*get_args(anthropic.types.StopReason), REPETITION}


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
