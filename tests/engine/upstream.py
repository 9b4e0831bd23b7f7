"""A minimal Messages API on a real socket, scripted answer by answer, with an engine connected to it.

It validates nothing: it simulates network failures.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from pydantic import Field

from coaching.engine.budget import PartLimits, StopSignal
from coaching.engine.events import EngineEvent, NoteDelta, TextDelta
from coaching.engine.json_text import parse_object
from coaching.engine.loop import run_part
from coaching.engine.messages import FinishedRound, ModelRequest, StoredCall, StoredMessage
from coaching.engine.ports import ModelClient, PartWords
from coaching.engine.setup import PartSetup
from coaching.engine.tools import Tool, ToolCall, ToolInput, ToolResult, Toolset
from coaching.engine.transitions import PartResult
from coaching.engine.usage import RoundUsage

MODEL = "claude-sonnet-5-5"
SAVED_FIELDS = {"save_file": frozenset({"content"})}
WORDS = PartWords(
    refused="I can't help with that.",
    cut_in_words="The answer was cut.",
    cut_in_call="The step was cut.",
    too_long="The conversation is too long.",
    nothing_said="Nothing more to say.",
    repeated_itself="It repeated itself.",
    failure=lambda failure: f"It failed: {failure.reason}.",
)
STALL = "stall"
RESET = "reset"
Step = bytes | str | float
"""Bytes to send, seconds to wait, STALL to send nothing more, or RESET to break the connection."""


def event(kind: str, **values: Any) -> bytes:
    """Encode one event as the wire has it."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n".encode()


def start(message_id: str = "msg_1", **usage: int) -> bytes:
    """Encode a message_start."""
    counts = {"input_tokens": 10, "output_tokens": 1, **usage}
    message = {"id": message_id, "type": "message", "role": "assistant", "model": MODEL, "content": []}
    return event("message_start", message={**message, "stop_reason": None, "usage": counts})


def end(stop_reason: str | None, *, output_tokens: int = 5, **delta: Any) -> bytes:
    """Encode message_delta and message_stop."""
    return event(
        "message_delta",
        delta={"stop_reason": stop_reason, "stop_sequence": None, **delta},
        usage={"output_tokens": output_tokens},
    ) + event("message_stop")


def words(index: int, *parts: str, is_closed: bool = True) -> bytes:
    """Encode a text block."""
    return _block(index, {"type": "text", "text": ""}, "text_delta", "text", parts, is_closed=is_closed)


def thinking(index: int, *parts: str, signature: str = "sig") -> bytes:
    """Encode a thinking block with its signature."""
    opened = _block(
        index, {"type": "thinking", "thinking": ""}, "thinking_delta", "thinking", parts, is_closed=False
    )
    signed = {"type": "signature_delta", "signature": signature}
    return (
        opened
        + event("content_block_delta", index=index, delta=signed)
        + event("content_block_stop", index=index)
    )


def call(
    index: int,
    tool_use_id: str,
    name: str,
    values: Any = None,
    *,
    raw: str | None = None,
    is_closed: bool = True,
) -> bytes:
    """Encode a tool_use block; `raw` sends that text as its input JSON."""
    text = json.dumps(values or {}) if raw is None else raw
    block = {"type": "tool_use", "id": tool_use_id, "name": name, "input": {}}
    middle = len(text) // 2
    parts = ("", text[:middle], text[middle:])
    return _block(index, block, "input_json_delta", "partial_json", parts, is_closed=is_closed)


def whole_block(index: int, block: dict[str, Any]) -> bytes:
    """Encode a block that comes without deltas."""
    return _block(index, block, "", "", (), is_closed=True)


def _block(
    index: int, block: dict[str, Any], delta_type: str, key: str, parts: Iterable[str], *, is_closed: bool
) -> bytes:
    encoded = event("content_block_start", index=index, content_block=block)
    for part in parts:
        encoded += event("content_block_delta", index=index, delta={"type": delta_type, key: part})
    return encoded + (event("content_block_stop", index=index) if is_closed else b"")


def saying(text: str, stop_reason: str = "end_turn") -> "Answer":
    """Build a text answer."""
    return Answer(start() + words(0, text) + end(stop_reason))


def calling(*calls: bytes, text: str = "") -> "Answer":
    """Build an answer that calls tools; call indices start at 1."""
    return Answer(start() + words(0, *([text] if text else [])) + b"".join(calls) + end("tool_use"))


class Answer:
    """One scripted answer."""

    def __init__(
        self, *steps: Step, status: int = 200, headers: dict[str, str] | None = None, body: Any = None
    ) -> None:
        self.steps = steps
        self.status = status
        self.headers = headers or {}
        self.body = body


def failing(status: int, kind: str = "api_error", **headers: str) -> Answer:
    """Build an HTTP error answer."""
    body = {"type": "error", "error": {"type": kind, "message": "no"}}
    return Answer(status=status, headers={k.replace("_", "-"): v for k, v in headers.items()}, body=body)


class Upstream:
    """The server: gives its answers in order, repeating the last one, and keeps the requests."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.peers: set[object] = set()
        self.url = ""
        self.asked = asyncio.Event()  # a request came
        self.sent = asyncio.Event()  # a stall was reached
        self.left = asyncio.Event()  # a client disconnected from a stall

    def script(self, *answers: Answer) -> None:
        """Set the answers to come."""
        self.answers = list(answers)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.requests.append(await request.json())
        self.asked.set()
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.times.append(asyncio.get_running_loop().time())
        if request.transport is not None:
            self.peers.add(request.transport.get_extra_info("peername"))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.body is not None:
            return web.json_response(answer.body, status=answer.status, headers=answer.headers)
        headers = {"content-type": "text/event-stream", **answer.headers}
        response = web.StreamResponse(status=answer.status, headers=headers)
        await response.prepare(request)
        for step in answer.steps:
            await self._send(step, request, response)
        return response

    async def _send(self, step: Step, request: web.Request, response: web.StreamResponse) -> None:
        if isinstance(step, bytes):
            await response.write(step)
        elif isinstance(step, float):
            await asyncio.sleep(step)
        elif step == STALL:
            self.sent.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.left.set()
        elif request.transport is not None:
            request.transport.abort()


@asynccontextmanager
async def serving() -> AsyncIterator[Upstream]:
    """Serve an upstream on a free port."""
    upstream = Upstream()
    app = web.Application()
    app.router.add_post("/v1/messages", upstream.handle)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    upstream.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield upstream
    finally:
        await runner.cleanup()


class MemoryRecorder:
    """A recorder that keeps everything in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.rounds: list[FinishedRound] = []
        self.results: dict[str, ToolResult] = {}
        self.usages: list[RoundUsage] = []
        self.failure: Exception | None = None

    async def record_round(self, finished: FinishedRound, usage: RoundUsage | None, /) -> None:
        """Keep a round."""
        if self.failure:
            raise self.failure
        self.log.append(f"round {finished.number}")
        self.rounds.append(finished)
        if usage is not None:
            self.usages.append(usage)

    async def record_result(self, tool_call: ToolCall, result: ToolResult, /) -> None:
        """Keep a result."""
        assert tool_call.tool_use_id not in self.results
        self.log.append(f"result {tool_call.tool_use_id}")
        self.results[tool_call.tool_use_id] = result

    async def record_usage(self, usage: RoundUsage, /) -> None:
        """Keep a usage."""
        self.usages.append(usage)


class SaveInput(ToolInput):
    """Input of these tests' tools."""

    path: str = "a.md"
    content: str = Field(default="", max_length=1000)


@dataclass
class Bench:
    """An engine connected to an upstream, with everything that it produced."""

    upstream: Upstream
    client: ModelClient
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    events: list[EngineEvent] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    stop: StopSignal = field(default_factory=StopSignal)
    tools: list[Tool[Any, Any]] = field(default_factory=list)
    shown_something: asyncio.Event = field(default_factory=asyncio.Event)

    def emit(self, item: EngineEvent) -> None:
        """Keep an event."""
        self.events.append(item)
        self.shown_something.set()

    def tool(self, name: str, run: Callable[..., Any] | None = None, **options: Any) -> None:
        """Offer a tool. Without `run` it records its path and succeeds."""

        async def note(context: ToolCall, values: SaveInput) -> ToolResult:
            self.ran.append(context.tool_use_id)
            return ToolResult.of(success=True, path=values.path)

        self.tools.append(
            Tool(
                name=name,
                description=f"The tool {name}.",
                input_model=options.pop("input_model", SaveInput),
                kind=options.pop("kind", "instant"),
                run=run or note,
                saved_fields=SAVED_FIELDS.get(name, frozenset()),
                **options,
            )
        )

    async def part(self, *, limits: PartLimits | None = None, **options: Any) -> PartResult:
        """Run one part."""
        toolset: Toolset[ToolCall] = options.pop("toolset", None) or Toolset(self.tools)
        request = options.pop("request", None) or ModelRequest(
            model=MODEL,
            max_tokens=1000,
            messages=[{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
            tools=toolset.definitions(),
        )
        setup = PartSetup(
            request=request,
            client=self.client,
            toolset=toolset,
            words=WORDS,
            context_for=lambda tool_call: tool_call,
            recorder=self.recorder,
            emit=self.emit,
            limits=limits or PartLimits(first_wait_seconds=0.02),
            stop=self.stop,
            **options,
        )
        return await run_part(setup)

    def shown(self, kind: type[TextDelta | NoteDelta] = TextDelta) -> str:
        """Return all text of a kind that was emitted."""
        return "".join(item.text for item in self.events if isinstance(item, kind))

    def kinds(self) -> Sequence[str]:
        """Return the events' class names, with repetitions collapsed."""
        names = [type(item).__name__ for item in self.events]
        return [name for at, name in enumerate(names) if at == 0 or names[at - 1] != name]


def stored(bench: Bench) -> StoredMessage:
    """Return what came of a part as history keeps it."""
    content = ""
    ends = []
    for finished in bench.recorder.rounds:
        content += finished.text
        ends.append(len(content))
    calls = tuple(
        StoredCall(
            tool_use_id=call.tool_use_id,
            name=call.name,
            input=parse_object(call.input_json),
            result=bench.recorder.results[call.tool_use_id].content,
            is_error=bench.recorder.results[call.tool_use_id].is_error,
            round_number=call.round_number,
        )
        for finished in bench.recorder.rounds
        for call in finished.calls
    )
    return StoredMessage(role="assistant", content=content, calls=calls, round_ends=tuple(ends))
