"""How a part handles upstream errors, stalls, cuts, and the user's Stop.

Over 300 lines, because it has one failure after another, each with what follows from it.
"""

import asyncio
import email.utils
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.budget import PartLimits
from coaching.engine.calls import STOPPED, TOO_LONG
from coaching.engine.errors import FailureReason
from coaching.engine.events import RoundRestarted, TextDelta
from coaching.engine.ports import StreamTimeouts
from coaching.engine.tools import ToolCall, ToolResult
from coaching.engine.transitions import PartResult
from tests.engine.upstream import (
    RESET,
    STALL,
    Answer,
    Bench,
    SaveInput,
    call,
    calling,
    end,
    event,
    failing,
    saying,
    start,
    whole_block,
    words,
)
from tests.patience import is_quick, patience

HALF = start() + words(0, "Half a ", is_closed=False)


def reason_of(result: PartResult) -> FailureReason:
    assert result.outcome == "failed"
    assert result.stop_reason == "error"
    assert result.failure is not None
    assert result.user_message
    return result.failure.reason


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_passing_failure_before_the_first_word_is_retried_unseen(bench: Bench, status: int) -> None:
    bench.upstream.script(failing(status), saying("Here"))
    result = await bench.part()
    assert result.outcome == "completed"
    assert bench.events == [TextDelta("Here")]
    assert len(bench.upstream.requests) == 2


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (400, "rejected"),
        (401, "unauthorized"),
        (402, "unauthorized"),
        (403, "unauthorized"),
        (404, "unknown_model"),
        (413, "rejected"),
        (422, "rejected"),
    ],
)
async def test_a_lasting_failure_is_never_retried(bench: Bench, status: int, reason: str) -> None:
    bench.upstream.script(failing(status, "invalid_request_error"))
    assert reason_of(await bench.part()) == reason
    assert len(bench.upstream.requests) == 1


async def test_four_attempts_are_all_there_are(bench: Bench) -> None:
    bench.upstream.script(failing(529, "overloaded_error", retry_after="0"))
    assert reason_of(await bench.part()) == "overloaded"
    assert len(bench.upstream.requests) == 4
    assert bench.recorder.rounds == []


async def test_retry_after_is_obeyed(bench: Bench) -> None:
    bench.upstream.script(failing(429, retry_after="1"), saying("Here"))
    assert (await bench.part()).outcome == "completed"
    first, second = bench.upstream.times
    assert 1.0 <= second - first < 2.0


@pytest.mark.parametrize(
    "value", ["inf", "-inf", "nan", "1e400", "-5", "1e300", "soon", "Fri, 99 Nov 9999 99:99:99 GMT"]
)
async def test_a_wait_that_nobody_can_mean_is_passed_over(bench: Bench, value: str) -> None:
    bench.upstream.script(failing(429, retry_after=value), saying("Here"))
    assert (await bench.part()).outcome == "completed"
    first, second = bench.upstream.times
    assert second - first < 1.5


async def test_a_wait_until_a_date_is_obeyed(bench: Bench) -> None:
    date = email.utils.format_datetime(datetime.now(UTC) + timedelta(minutes=30), usegmt=True)
    bench.upstream.script(failing(503, retry_after=date))
    failure = (await bench.part()).failure
    assert failure is not None
    assert 1700 < (failure.retry_after_seconds or 0) <= 1800
    assert len(bench.upstream.requests) == 1


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "many",
        [1],
        {"input_tokens": "ten"},
        {"input_tokens": -3},
        {"input_tokens": 1e300},
        {"input_tokens": None, "cache_creation": 7},
        {"cache_creation": {"ephemeral_1h_input_tokens": []}},
    ],
)
async def test_a_bill_that_cannot_be_read_loses_no_answer(bench: Bench, usage: Any) -> None:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    ending = event("message_delta", delta={"stop_reason": "end_turn"}, usage=usage) + event("message_stop")
    bench.upstream.script(Answer(event("message_start", message=message) + words(0, "Here") + ending))
    assert (await bench.part()).outcome == "completed"
    [recorded] = bench.recorder.usages
    assert recorded.tokens.input_tokens == 0


async def test_a_wait_beyond_the_deadline_is_not_begun_and_is_kept_with_the_failure(bench: Bench) -> None:
    bench.upstream.script(failing(429, retry_after="90"))
    began = time.monotonic()
    result = await bench.part()
    assert reason_of(result) == "rate_limited"
    assert result.failure is not None
    assert result.failure.retry_after_seconds == 90
    assert is_quick(time.monotonic() - began, 2)
    assert len(bench.upstream.requests) == 1


@pytest.mark.parametrize(
    ("kind", "reason", "requests"),
    [
        ("overloaded_error", "overloaded", 2),
        ("api_error", "unavailable", 2),
        ("rate_limit_error", "rate_limited", 2),
        ("something_new", "unavailable", 2),
        ("invalid_request_error", "rejected", 1),
        ("authentication_error", "unauthorized", 1),
    ],
)
async def test_an_error_event_in_a_stream_is_classified_by_its_type(
    bench: Bench, kind: str, reason: str, requests: int
) -> None:
    error = event("error", error={"type": kind, "message": "no"})
    bench.upstream.script(Answer(HALF + error))
    assert reason_of(await bench.part()) == reason
    assert len(bench.upstream.requests) == requests  # once more after visible text, if at all
    assert bench.recorder.rounds[0].text == "Half a "
    assert bench.recorder.rounds[0].is_partial


BROKEN: dict[str, tuple[Any, ...]] = {
    "ends early": (HALF,),
    "is reset": (HALF, RESET),
    "has broken JSON": (HALF + b"event: content_block_delta\ndata: {oops\n\n",),
    "has an event that is no object": (HALF + b"data: [1]\n\n",),
    "has a delta for no block": (HALF + event("content_block_delta", index=7, delta={"type": "text_delta"}),),
    "has a delta without text": (
        HALF + event("content_block_delta", index=0, delta={"type": "text_delta", "text": None}),
    ),
    "has a block without a type": (HALF + event("content_block_start", index=1, content_block={}),),
    "has a block that is no object": (HALF + event("content_block_start", index=1, content_block=None),),
    "has a block in no order": (HALF + event("content_block_start", index="1", content_block={"type": "x"}),),
    "has a call without an id": (HALF + whole_block(1, {"type": "tool_use", "name": "save_file"}),),
    "has a call without a name": (HALF + whole_block(1, {"type": "tool_use", "id": "t", "input": {}}),),
    "has a call with an endless id": (HALF + call(1, "t" * 101, "save_file"),),
    "has a call with an id that can't be kept": (HALF + call(1, "t\x00", "save_file"),),
    "has an input that is no text": (
        HALF
        + call(1, "t", "save_file", is_closed=False)
        + event("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": 5}),
    ),
    "stops for a reason that is no word": (
        HALF + event("message_delta", delta={"stop_reason": {"a": 1}}) + event("message_stop"),
    ),
    "gives details that are no object": (HALF + end("refusal", stop_details="no"),),
    "has bytes that are no text": (HALF + b"data: \xff\xfe\n\n",),
    "stops without a reason": (HALF + end(None),),
    "says tool_use without a call": (HALF + end("tool_use"),),
    "calls the same id twice": (
        HALF + call(1, "t", "save_file") + call(2, "t", "save_file") + end("tool_use"),
    ),
    "calls without closing the block": (HALF + call(1, "t", "save_file", is_closed=False) + end("tool_use"),),
}


@pytest.mark.parametrize("steps", BROKEN.values(), ids=BROKEN.keys())
async def test_a_stream_that_breaks_after_visible_text_is_asked_for_once_more(
    bench: Bench, steps: tuple[Any, ...]
) -> None:
    bench.tool("save_file")
    bench.upstream.script(Answer(*steps), saying("A whole answer"))
    assert (await bench.part()).outcome == "completed"
    assert bench.kinds() == ["TextDelta", "RoundRestarted", "TextDelta"]
    assert [item.text for item in bench.recorder.rounds] == ["A whole answer"]
    assert bench.ran == []


@pytest.mark.parametrize("steps", BROKEN.values(), ids=BROKEN.keys())
async def test_a_stream_that_breaks_twice_leaves_what_it_showed(bench: Bench, steps: tuple[Any, ...]) -> None:
    bench.tool("save_file")
    bench.upstream.script(Answer(*steps))
    assert reason_of(await bench.part()) == "broken_stream"
    assert len(bench.upstream.requests) == 2
    [recorded] = bench.recorder.rounds
    assert (recorded.is_partial, recorded.text, recorded.calls) == (True, "Half a ", ())
    assert recorded.blocks == ({"type": "text", "text": "Half a "},)
    last_restart = max(at for at, item in enumerate(bench.events) if isinstance(item, RoundRestarted))
    seen = [item.text for item in bench.events[last_restart:] if isinstance(item, TextDelta)]
    assert "".join(seen) == recorded.text
    assert bench.ran == []


@pytest.mark.parametrize("steps", [(), (b"",), (b"<html>down</html>",), (RESET,)])
async def test_an_answer_that_is_no_stream_is_retried_then_reported(
    bench: Bench, steps: tuple[Any, ...]
) -> None:
    bench.upstream.script(Answer(*steps), Answer(*steps), saying("Here"))
    assert (await bench.part()).outcome == "completed"


async def test_a_stream_cut_inside_a_call_runs_nothing_and_is_asked_for_again(bench: Bench) -> None:
    bench.tool("save_file")
    cut = start() + call(0, "t", "save_file", raw='{"path": "a.md"}')
    bench.upstream.script(Answer(cut), saying("Here"))
    assert (await bench.part()).outcome == "completed"
    assert bench.ran == []


async def test_a_failure_in_a_later_round_keeps_the_earlier_ones(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(
        calling(call(1, "t", "save_file"), text="Saving"), failing(400, "invalid_request_error")
    )
    assert reason_of(await bench.part()) == "rejected"
    assert [item.text for item in bench.recorder.rounds] == ["Saving"]
    assert set(bench.recorder.results) == {"t"}


async def test_unknown_events_and_deltas_are_passed_over(bench: Bench) -> None:
    odd = (
        event("ping")
        + event("weather", sky="blue")
        + event("content_block_delta", index=0, delta={"type": "smell_delta", "smell": "rose"})
        + b": a comment\n\n"
        + b"event: nothing\n\n"
    )
    body = start() + words(0, "Hel", is_closed=False) + odd
    more = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "lo"})
    bench.upstream.script(Answer(body + more + event("content_block_stop", index=0) + end("end_turn")))
    assert (await bench.part()).outcome == "completed"
    assert bench.shown() == "Hello"


async def test_carriage_returns_split_reads_and_split_characters_change_nothing(bench: Bench) -> None:
    body = (start() + words(0, "Grüße 🌿", " und\nmehr") + end("end_turn")).replace(b"\n", b"\r\n")
    bench.upstream.script(Answer(*[body[at : at + 1] for at in range(len(body))]))
    assert (await bench.part()).outcome == "completed"
    assert bench.shown() == "Grüße 🌿 und\nmehr"


async def test_nul_and_lone_surrogates_in_text_never_leave_the_engine(bench: Bench) -> None:
    body = start() + words(0, "a\x00b\ud800c") + end("end_turn")
    bench.upstream.script(Answer(body))
    assert (await bench.part()).outcome == "completed"
    assert bench.shown() == bench.recorder.rounds[0].text == "a\ufffdb\ufffdc"


async def test_a_refused_connection_is_reported_as_unavailable() -> None:
    async with AnthropicClient(base_url="http://127.0.0.1:1") as client:
        bench = Bench(upstream=None, client=client)  # type: ignore[arg-type]
        assert reason_of(await bench.part(limits=PartLimits(seconds=1.0))) == "unavailable"


@pytest.mark.slow
async def test_a_stalled_round_ends_with_the_deadline_and_keeps_its_words(bench: Bench) -> None:
    bench.upstream.script(Answer(HALF, STALL))
    began = time.monotonic()
    result = await bench.part(limits=PartLimits(seconds=0.6))
    assert reason_of(result) == "out_of_time"
    assert 0.5 < time.monotonic() - began < 0.6 + patience()
    assert bench.recorder.rounds[0].is_partial
    assert bench.recorder.usages[0].tokens.input_tokens == 10
    await asyncio.wait_for(bench.upstream.left.wait(), 10)


async def test_silence_longer_than_the_idle_time_is_a_broken_stream(bench: Bench) -> None:
    bench.upstream.script(Answer(HALF, STALL), saying("Here"))
    result = await bench.part(timeouts=StreamTimeouts(read_idle_seconds=0.2))
    assert result.outcome == "completed"
    assert bench.recorder.rounds[0].text == "Here"


async def test_a_server_that_never_answers_is_given_up(bench: Bench) -> None:
    bench.upstream.script(Answer(STALL))
    result = await bench.part(limits=PartLimits(seconds=10), timeouts=StreamTimeouts(read_idle_seconds=0.1))
    assert reason_of(result) == "broken_stream"
    assert len(bench.upstream.requests) >= 2


async def test_a_total_timeout_ends_a_stream_for_whoever_asks_alone(bench: Bench) -> None:
    bench.upstream.script(Answer(HALF, STALL))
    result = await bench.part(timeouts=StreamTimeouts(total_seconds=0.2))
    assert reason_of(result) == "out_of_time"


async def test_a_tool_that_hangs_ends_with_the_deadline(bench: Bench) -> None:
    async def hang(context: ToolCall, values: SaveInput) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    bench.tool("hang", hang)
    bench.upstream.script(calling(call(1, "t", "hang")), saying("Late"))
    assert reason_of(await bench.part(limits=PartLimits(seconds=0.5))) == "out_of_time"
    assert bench.recorder.results["t"] == ToolResult.error(TOO_LONG)
    assert len(bench.upstream.requests) == 1


@pytest.mark.slow
async def test_stop_closes_the_upstream_at_once_and_keeps_what_came(bench: Bench) -> None:
    bench.upstream.script(Answer(HALF, STALL))
    limit = 0.25 * patience()
    part = asyncio.create_task(bench.part())
    await bench.upstream.sent.wait()
    await bench.shown_something.wait()
    began = time.monotonic()
    bench.stop.request()
    await asyncio.wait_for(bench.upstream.left.wait(), limit)
    result = await part
    assert time.monotonic() - began < limit
    assert (result.outcome, result.stop_reason, result.failure) == ("stopped", "stopped", None)
    [recorded] = bench.recorder.rounds
    assert (recorded.is_partial, recorded.text) == (True, "Half a ")


async def test_stop_before_the_first_byte_and_before_the_part(bench: Bench) -> None:
    bench.upstream.script(Answer(STALL))
    part = asyncio.create_task(bench.part())
    await bench.upstream.sent.wait()
    bench.stop.request()
    assert (await part).outcome == "stopped"
    assert bench.recorder.rounds == []
    assert (await bench.part()).outcome == "stopped"
    assert len(bench.upstream.requests) == 1


async def test_stop_lets_running_calls_finish_and_begins_no_other(bench: Bench) -> None:
    bench.tool("complete", kind="lifecycle", phase="last")
    bench.tool("ask", kind="interactive")

    async def stopped_meanwhile(context: ToolCall, values: SaveInput) -> ToolResult:
        bench.stop.request()
        await asyncio.sleep(0)
        return ToolResult.of(saved=True)

    bench.tool("save_file", stopped_meanwhile, conflict_key=lambda values: values.path)
    calls = [call(1, "s1", "save_file"), call(2, "s2", "save_file")]
    bench.upstream.script(calling(*calls, call(3, "c", "complete")), saying("Never"))
    assert (await bench.part()).outcome == "stopped"
    results = bench.recorder.results
    assert json.loads(results["s1"].content) == {"saved": True}
    assert results["s2"] == results["c"] == ToolResult.error(STOPPED)
    assert len(bench.upstream.requests) == 1


async def test_stop_while_waiting_for_a_retry_is_at_once(bench: Bench) -> None:
    bench.upstream.script(failing(503, retry_after="30"))
    part = asyncio.create_task(bench.part())
    await bench.upstream.asked.wait()
    bench.stop.request()
    assert (await asyncio.wait_for(part, 10)).outcome == "stopped"


async def test_a_cancelled_part_closes_its_upstream(bench: Bench) -> None:
    bench.upstream.script(Answer(HALF, STALL))
    part = asyncio.create_task(bench.part())
    await bench.upstream.sent.wait()
    part.cancel()
    with pytest.raises(asyncio.CancelledError):
        await part
    await asyncio.wait_for(bench.upstream.left.wait(), 10)


async def test_the_rounds_of_a_part_share_one_connection(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(*[calling(call(1, f"t{i}", "save_file")) for i in range(3)], saying("Done"))
    await bench.part()
    assert len(bench.upstream.peers) == 1
