"""The engine with the practice model, which is as strict as the real API, over several turns."""

from typing import Any

import pytest

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.messages import ModelRequest, StoredMessage, build_api_messages
from coaching.engine.tools import ToolCall, ToolInput, ToolResult, Toolset
from coaching.practice.server import PracticeServer
from tests.engine.upstream import MODEL, SAVED_FIELDS, Bench, Upstream, stored


class PracticeSave(ToolInput):
    """Save a file."""

    file_type: str
    content: str
    file_name: str | None = None
    attributes: dict[str, Any] | None = None


async def save(context: ToolCall, values: PracticeSave) -> ToolResult:
    return ToolResult.of(success=True, path=f"{values.file_type}/{context.position}.md", bytes=1, version=1)


@pytest.mark.slow
@pytest.mark.parametrize("model", [MODEL, "claude-haiku-5-5", "claude-haiku-4-5-20251001"])
async def test_a_conversation_with_saved_files_is_accepted_turn_after_turn(model: str) -> None:
    history: list[StoredMessage] = []
    saved = 0
    async with (
        PracticeServer(keeps_bodies=True, tokens_per_second=0) as server,
        AnthropicClient("practice", server.url) as client,
    ):
        for text in ("Hello", "Note something about me", "I worry about my work", "Thanks"):
            bench = Bench(upstream=Upstream(), client=client)
            bench.tool("save_file", save, input_model=PracticeSave)
            history.append(StoredMessage(role="user", content=text))
            request = ModelRequest(
                model=model,
                max_tokens=2000,
                system=[{"type": "text", "text": "You are Sage."}],
                tools=Toolset(bench.tools).definitions(),
                messages=build_api_messages(history, SAVED_FIELDS),
            )
            result = await bench.part(request=request)
            assert (result.outcome, result.stop_reason) == ("completed", "end_turn")
            assert bench.shown()
            saved += len(bench.recorder.results)
            assert not any(item.is_error for item in bench.recorder.results.values())
            history.append(stored(bench))
    assert saved
