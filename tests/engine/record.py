"""Writes the recordings in `tests/engine/recordings`: the practice model's output, byte for byte.

uv run python -m tests.engine.record

They are committed, so that a change of the practice model doesn't change the engine's input. Files whose
names begin with `hand-` were edited by hand and aren't written here.
"""

import asyncio
from pathlib import Path

import aiohttp

from coaching.practice.faults.fault import Fault
from coaching.practice.script import Reply, Text, Thinking, ToolUse
from coaching.practice.server import PracticeServer

RECORDINGS = Path(__file__).with_name("recordings")

SAY = Reply.of("Good evening. Söndag — 晚安 🌙.")
CALL = Reply.of(
    Text("I'll write that down."),
    ToolUse("save_note", {"text": 'a "quoted" word', "count": 2}, id="toolu_01one"),
)
REPLIES: dict[str, Reply] = {
    "text": SAY,
    "call": CALL,
    "two-calls": Reply.of(
        ToolUse("save_note", {"text": "é", "count": 1}, id="toolu_01one"), ToolUse("look", id="toolu_01two")
    ),
    "thinking": Reply.of(Thinking("They want a note. I'll save it."), *CALL.blocks),
}
FAULTS: dict[str, tuple[Reply, Fault]] = {
    "max-tokens-in-text": (SAY, Fault(kind="max_tokens_in_text")),
    "max-tokens-in-tool": (CALL, Fault(kind="max_tokens_in_tool")),
    "refusal": (SAY, Fault(kind="refusal")),
    "pause-turn": (SAY, Fault(kind="pause_turn")),
    "context-window-exceeded": (SAY, Fault(kind="context_window_exceeded")),
    "unknown-event": (CALL, Fault(kind="unknown_event", place="in_tool_json")),
    "duplicate-message-start": (CALL, Fault(kind="duplicate_message_start", place="in_tool_json")),
    "changed-message-id": (CALL, Fault(kind="changed_message_id", place="in_tool_json")),
    "broken-json": (CALL, Fault(kind="broken_json", place="in_tool_json")),
    "tool-use-without-block": (CALL, Fault(kind="tool_use_without_block")),
    "error-event": (CALL, Fault(kind="error_event", place="before_message_delta")),
    "cut-in-tool-json": (CALL, Fault(kind="cut", place="in_tool_json")),
    "end-early-before-message-stop": (CALL, Fault(kind="end_early", place="before_message_stop")),
    "empty-body": (SAY, Fault(kind="empty_body")),
}
REQUEST = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 2000,
    "stream": True,
    "thinking": {"type": "adaptive", "display": "summarized"},
    "messages": [{"role": "user", "content": "Hello"}],
    "tools": [
        {"name": name, "description": name, "input_schema": {"type": "object"}}
        for name in ("save_note", "look")
    ],
}


async def _record(reply: Reply, fault: Fault | None) -> bytes:
    """Return the body of one answer, as far as it came."""
    body = bytearray()
    async with (
        PracticeServer(keeps_bodies=True, tokens_per_second=0) as server,
        aiohttp.ClientSession() as client,
    ):
        server.script([reply])
        if fault:
            server.faults.push(fault)
        headers = {"x-api-key": "practice", "anthropic-version": "2023-06-01"}
        async with client.post(f"{server.url}/v1/messages", json=REQUEST, headers=headers) as answer:
            if answer.status != 200:
                raise RuntimeError(await answer.text())
            try:
                async for chunk in answer.content.iter_any():
                    body += chunk
            except aiohttp.ClientPayloadError:
                pass
    return bytes(body)


async def _main() -> None:
    wanted: dict[str, tuple[Reply, Fault | None]] = {name: (reply, None) for name, reply in REPLIES.items()}
    for name, (reply, fault) in (wanted | FAULTS).items():
        (RECORDINGS / f"{name}.sse").write_bytes(await _record(reply, fault))


if __name__ == "__main__":
    asyncio.run(_main())
