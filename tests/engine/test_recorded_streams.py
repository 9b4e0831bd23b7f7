"""Recorded streams are read completely; cut at any byte, no incomplete call runs.

`recordings` are our own (`tests.engine.record`). Recordings of the real API may be added from elsewhere.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.budget import PartLimits
from coaching.engine.events import RoundRestarted, TextDelta
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import StreamTimeouts
from coaching.engine.stream import SSEReplyStream
from coaching.engine.tools import ToolCall, ToolInput, ToolResult, Toolset
from coaching.engine.transitions import PartResult
from tests.engine.record import RECORDINGS
from tests.engine.upstream import MODEL, RESET, WORDS, Answer, Bench, Upstream, saying
from tests.thoroughness import sample

NOTE = ("save_note", ["count", "text"])
# The stop reason of each complete recording of ours, and the name and keys of each complete call.
OURS: dict[str, tuple[str, list[tuple[str, list[str]]]]] = {
    "text": ("end_turn", []),
    "call": ("tool_use", [NOTE]),
    "two-calls": ("tool_use", [NOTE, ("look", [])]),
    "thinking": ("tool_use", [NOTE]),
    "unknown-event": ("tool_use", [NOTE]),
    "max-tokens-in-tool": ("max_tokens", []),
    "refusal": ("refusal", []),
    "hand-call-in-message-start": ("tool_use", [NOTE]),
    "hand-crlf-and-comments": ("tool_use", [NOTE, ("look", [])]),
    "hand-input-at-once": ("tool_use", [NOTE]),
}
OTHERS = Path(__file__).parents[3] / "shared" / "anthropic-streams"
STREAMS = [*(RECORDINGS / f"{name}.sse" for name in OURS), *sorted(OTHERS.glob("*.sse"))]

# The same for the others, by a part of the file's name; determined by hand.
STOP_REASONS_AND_CALLS: dict[str, tuple[str, list[tuple[str, list[str]]]]] = {
    "fable-fallback": ("refusal", []),
    "incomplete_partial_json": ("max_tokens", []),
    "fixtures__tool_use_response": ("tool_use", [("get_weather", ["location"])]),
    "redacted_thinking": ("end_turn", []),
    "v1_v2_parity": ("tool_use", [("_Person", ["age", "name"])]),
    "thinking_display_regression": ("tool_use", [("fixed_version", [])]),
    "opus_46_schema": ("end_turn", []),
    "thinking_prompt": ("end_turn", []),
    "message_stream_manager_legacy": ("end_turn", []),
    "anthropic_tools_streaming_legacy": (
        "tool_use",
        [("get_weather", ["location", "unit"]), ("get_time", ["timezone"])],
    ),
    "events_with_no_content": (
        "tool_use",
        [("get_weather", ["location", "unit"]), ("get_time", ["timezone"])],
    ),
    "prompt_caching_async_stream": ("end_turn", []),
    "json-other-tool": ("tool_use", [("weather", ["location"])]),
    "json-tool": ("tool_use", [("json", ["elements"])]),
    "spliced-message-start": ("tool_use", [("test-tool", ["value"])]),
}


class AnyInput(ToolInput):
    """Takes whatever a recording calls with."""

    model_config = {"extra": "allow"}


@dataclass
class Expected:
    """What a stream contains, parsed without our code."""

    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None
    output_tokens: int = 0
    calls: dict[str, tuple[str, Any]] = field(default_factory=dict)
    end: int = 0  # bytes up to the end of message_stop


@cache
def recording(path: Path) -> bytes:
    """Read a recording once."""
    return path.read_bytes()


@cache
def expected_of(path: Path) -> Expected:
    """Parse a recording line by line, independently of the engine."""
    raw = recording(path)
    found = Expected(end=raw.rindex(b'"message_stop"') + raw[raw.rindex(b'"message_stop"') :].index(b"}") + 1)
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    for line in raw.decode().splitlines():
        if not line.startswith("data:"):
            continue
        item = json.loads(line[5:])
        if item["type"] == "message_start":
            blocks, inputs = dict(enumerate(item["message"]["content"])), {}
            found = Expected(end=found.end)
        elif item["type"] == "content_block_start":
            blocks[item["index"]] = item["content_block"]
        elif item["type"] == "content_block_delta":
            delta = item["delta"]
            found.text += delta.get("text", "")
            found.thinking += delta.get("thinking", "")
            inputs[item["index"]] = inputs.get(item["index"], "") + delta.get("partial_json", "")
        elif item["type"] == "message_delta":
            found.stop_reason = item["delta"]["stop_reason"]
            found.output_tokens = item["usage"]["output_tokens"]
    if found.stop_reason == "tool_use":
        for index, block in blocks.items():
            if block["type"] == "tool_use":
                found.calls[block["id"]] = (
                    block["name"],
                    json.loads(inputs.get(index) or json.dumps(block["input"])),
                )
    return found


def offer_every_tool(bench: Bench, inputs: dict[str, Any]) -> None:
    """Offer all tools that the recordings call; each records its input."""

    async def run(context: ToolCall, values: AnyInput) -> ToolResult:
        assert context.tool_use_id not in inputs
        inputs[context.tool_use_id] = (context.name, values.model_dump())
        return ToolResult.of(ok=True)

    tables = (*OURS.values(), *STOP_REASONS_AND_CALLS.values())
    names = {name for _, calls in tables for name, _ in calls} | {"make_file"}
    for name in sorted(names):
        bench.tool(name, run, input_model=AnyInput)


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
async def test_a_recorded_stream_gives_its_text_calls_and_stop_reason(bench: Bench, path: Path) -> None:
    expected = expected_of(path)
    rows = [row for key, row in STOP_REASONS_AND_CALLS.items() if key in path.stem]
    [(stop_reason, calls)] = [OURS[path.stem]] if path.parent == RECORDINGS else rows
    assert expected.stop_reason == stop_reason
    assert [(name, sorted(values)) for name, values in expected.calls.values()] == calls
    inputs: dict[str, Any] = {}
    offer_every_tool(bench, inputs)
    bench.upstream.script(Answer(recording(path)), saying("Thank you"))
    result = await bench.part()
    assert result.outcome == "completed"
    assert inputs == expected.calls
    first = bench.recorder.rounds[0]
    assert bench.recorder.usages[0].tokens.output_tokens == expected.output_tokens
    if stop_reason == "refusal":
        assert first.text == WORDS.refused
        assert expected.text in bench.shown()
    elif stop_reason == "max_tokens":  # it was cut inside a call: asked for again
        assert first.text == "Thank you"
        assert expected.text in bench.shown()
        assert bench.upstream.requests[1]["max_tokens"] == 2 * bench.upstream.requests[0]["max_tokens"]
    else:
        assert first.text == expected.text
        assert first.stop_reason == stop_reason
        thought = "".join(block.get("thinking", "") for block in first.blocks)
        assert thought == expected.thinking
    assert_answerable(bench)


def assert_answerable(bench: Bench) -> None:
    """Assert that every recorded call has a result, and nothing else has."""
    calls = [call.tool_use_id for finished in bench.recorder.rounds for call in finished.calls]
    assert sorted(calls) == sorted(bench.recorder.results)


@dataclass
class CutClient:
    """Feeds a cut reply to the reader of the SDK's response body, then a plain answer."""

    bodies: list[bytes]
    requests: int = 0

    @asynccontextmanager
    async def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts | None = None
    ) -> AsyncIterator[SSEReplyStream]:
        """Serve the next body."""
        body = self.bodies[min(self.requests, len(self.bodies) - 1)]
        self.requests += 1

        async def chunks() -> AsyncIterator[bytes]:
            yield body

        yield SSEReplyStream(chunks(), {}, 0.0)


def check_cut(bench: Bench, expected: Expected, result: PartResult, ran: dict[str, Any], size: int) -> None:
    """Assert what must hold for a stream that ended after `size` bytes."""
    assert_answerable(bench)
    if size >= expected.end:
        assert result.outcome == "completed"
        assert ran == expected.calls
        return
    assert (result.outcome, ran) == ("failed", {})
    assert result.user_message
    kept = "".join(item.text for item in bench.recorder.rounds)
    assert expected.text.startswith(kept)
    assert all(item.is_partial and not item.calls for item in bench.recorder.rounds)
    restarts = [at for at, item in enumerate(bench.events) if isinstance(item, RoundRestarted)]
    live = bench.events[restarts[-1] + 1 :] if restarts else bench.events
    assert "".join(item.text for item in live if isinstance(item, TextDelta)) == kept


@pytest.mark.slow
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
async def test_cut_at_every_byte_nothing_runs_that_was_cut(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    raw = recording(path)
    thanks = b"".join(step for step in saying("Thank you").steps if isinstance(step, bytes))
    # Too short for any wait before a retry: one attempt, one outcome.
    limits = PartLimits(seconds=0.2)
    caplog.set_level(logging.ERROR, logger="coaching.engine")
    ran: dict[str, Any] = {}
    offering = Bench(upstream=Upstream(), client=CutClient([]))
    offer_every_tool(offering, ran)
    toolset = Toolset(offering.tools)
    request = ModelRequest(model=MODEL, max_tokens=1000, messages=[{"role": "user", "content": "Hello"}])
    for size in sample(range(len(raw) + 1), of_each=29):
        ran.clear()
        client = CutClient([raw[:size], thanks])
        bench = Bench(upstream=offering.upstream, client=client)
        result = await bench.part(limits=limits, request=request, toolset=toolset)
        check_cut(bench, expected_of(path), result, ran, size)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["closed", RESET])
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
async def test_cut_on_a_real_socket_nothing_runs_that_was_cut(
    upstream: Upstream, path: Path, ending: str
) -> None:
    raw = recording(path)
    expected = expected_of(path)
    async with AnthropicClient(base_url=upstream.url) as client:
        for size in [*sample(range(1, expected.end, 397), of_each=5), expected.end - 1]:
            steps = (raw[:size], RESET) if ending == RESET else (raw[:size],)
            upstream.script(Answer(*steps), saying("Thank you"))
            bench = Bench(upstream=upstream, client=client)
            ran: dict[str, Any] = {}
            offer_every_tool(bench, ran)
            upstream.asked.clear()
            async with asyncio.timeout(30):
                result = await bench.part(limits=PartLimits(seconds=0.24))
                # On a busy machine it may time out first; a late answer doesn't take another's place.
                await upstream.asked.wait()
            check_cut(bench, expected, result, ran, size)
