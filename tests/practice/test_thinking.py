"""Thinking blocks: their form, and that they are accepted only unchanged and complete."""

from typing import Any

import pytest
from anthropic import AsyncAnthropic, BadRequestError

from coaching.practice import Fault, Note, PracticeServer, Reply, Text, Thinking, ToolUse
from tests.practice.conftest import MODEL, SAVE_FILE, assistant, request_body, result, user

BETWEEN = {"thinking": {"type": "between_tools"}, "output_config": {"effort": "medium"}}
TWO_NOTES = Reply.of(
    Note("First this."), ToolUse("save_file", {"a": 1}), Note("Then that."), ToolUse("save_file", {"b": 2})
)


class Turn:
    """An open turn of two rounds with thinking, whose next request a test may modify."""

    def __init__(self, client: AsyncAnthropic) -> None:
        self.client = client
        self.body: dict[str, Any] = request_body(
            "Please save it", tools=[SAVE_FILE], system="Be kind.", **BETWEEN
        )

    async def go_on(self) -> Any:
        """Request the next round; append it and its results."""
        message = await self.client.messages.create(**self.body)
        blocks = [block.model_dump(mode="json", exclude_none=True) for block in message.content]
        self.body["messages"].append(assistant(*blocks))
        results = [result(block["id"]) for block in blocks if block["type"] == "tool_use"]
        if results:
            self.body["messages"].append(user(*results))
        return message

    def blocks(self, message: int) -> list[dict[str, Any]]:
        """Return the blocks of one message of the request."""
        blocks: list[dict[str, Any]] = self.body["messages"][message]["content"]
        return blocks

    async def is_refused(self) -> str:
        """Send the request and return why it is refused."""
        with pytest.raises(BadRequestError) as refusal:
            await self.client.messages.create(**self.body)
        body = refusal.value.body
        assert isinstance(body, dict)
        return str(body["error"]["message"])


@pytest.fixture
async def turn(server: PracticeServer, client: AsyncAnthropic) -> Turn:
    server.script([TWO_NOTES, Reply.of(Note("One more."), ToolUse("save_file", {"c": 3})), "Done."])
    opened = Turn(client)
    await opened.go_on()
    await opened.go_on()
    return opened


async def test_thinking_that_goes_back_unchanged_is_accepted(turn: Turn) -> None:
    message = await turn.go_on()
    assert message.content[0].text == "Done."


async def test_cache_markers_may_move(turn: Turn) -> None:
    turn.body["messages"][0]["content"] = [
        {"type": "text", "text": "Please save it", "cache_control": {"type": "ephemeral"}}
    ]
    assert (await turn.go_on()).stop_reason == "end_turn"


async def test_changed_thinking_is_refused(turn: Turn) -> None:
    turn.blocks(1)[0]["thinking"] = "First that."
    assert "messages.1.content.0: Invalid `signature`" in await turn.is_refused()


async def test_a_changed_system_prompt_is_noticed(turn: Turn) -> None:
    turn.body["system"] = "Be stern."
    assert "bound to a different conversation" in await turn.is_refused()


async def test_changed_tools_are_noticed(turn: Turn) -> None:
    turn.body["tools"] = [{**SAVE_FILE, "description": "Something else."}]
    assert "bound to a different conversation" in await turn.is_refused()


async def test_a_changed_earlier_message_is_noticed(turn: Turn) -> None:
    turn.body["messages"][0]["content"] = "Please save that"
    assert "messages.1.content.0" in await turn.is_refused()


async def test_a_changed_input_of_an_earlier_call_is_noticed(turn: Turn) -> None:
    turn.blocks(1)[1]["input"] = {"a": "[saved: 1 chars]"}
    assert "messages.1.content.2" in await turn.is_refused()


async def test_reordered_keys_of_an_input_are_noticed(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.script([Reply.of(ToolUse("save_file", {"b": 1, "a": 2}), Note("Hm."), ToolUse("save_file"))])
    turn = Turn(client)
    await turn.go_on()
    turn.blocks(1)[0]["input"] = {"a": 2, "b": 1}
    assert "messages.1.content.1" in await turn.is_refused()


async def test_another_model_is_noticed(turn: Turn) -> None:
    turn.body["model"] = "claude-opus-5-5"
    assert f"bound to a different model: {MODEL}" in await turn.is_refused()


async def test_another_effort_is_noticed(turn: Turn) -> None:
    turn.body["output_config"] = {"effort": "low"}
    assert "`output_config.effort` can't change" in await turn.is_refused()


async def test_a_missing_block_between_others_is_noticed(turn: Turn) -> None:
    del turn.blocks(1)[2]
    assert "bound to a different conversation" in await turn.is_refused()


async def test_a_missing_last_block_is_noticed(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.script([TWO_NOTES])
    turn = Turn(client)
    await turn.go_on()
    del turn.blocks(1)[2]
    assert "messages.1: `thinking` or `redacted_thinking` blocks" in await turn.is_refused()


async def test_a_missing_first_block_is_noticed(turn: Turn) -> None:
    del turn.blocks(1)[0]
    assert "bound to a different conversation" in await turn.is_refused()


async def test_the_newest_rounds_thinking_may_not_go_alone(turn: Turn) -> None:
    del turn.blocks(3)[0]
    assert "messages.3: `thinking` or `redacted_thinking` blocks" in await turn.is_refused()


@pytest.fixture
async def paused_turn(server: PracticeServer, client: AsyncAnthropic) -> Turn:
    """A turn whose second answer paused: thinking stands before the pause and after it."""
    saving = Reply.of(Note("Then that."), Text("I save it, and more."), ToolUse("save_file", {"b": 2}))
    server.script([Reply.of(ToolUse("save_file", {"a": 1})), saving, "Done."])
    server.faults.push(Fault(kind="pause_turn", skip=1))
    opened = Turn(client)
    await opened.go_on()
    await opened.go_on()
    await opened.go_on()
    *_, before, after, results = opened.body["messages"]
    opened.body["messages"][-3:] = [assistant(*before["content"], *after["content"]), results]
    return opened


async def test_thinking_before_and_after_a_pause_goes_back_in_one_message(paused_turn: Turn) -> None:
    kinds = [block["type"] for block in paused_turn.blocks(3)]
    assert kinds == ["thinking", "text", "thinking", "tool_use"]
    message = await paused_turn.go_on()
    assert message.content[0].text == "Done."


@pytest.mark.parametrize("place", [0, 2])
async def test_missing_thinking_on_either_side_of_a_pause_is_noticed(paused_turn: Turn, place: int) -> None:
    del paused_turn.blocks(3)[place]
    assert await paused_turn.is_refused()


async def test_all_thinking_of_an_open_turn_may_be_left_out_and_the_turn_goes_on(
    turn: Turn, server: PracticeServer
) -> None:
    for message in turn.body["messages"]:
        if message["role"] == "assistant":
            message["content"] = [block for block in message["content"] if block["type"] != "thinking"]
    turn.body["system"] = "Be stern."
    server.scripts.clear()
    server.script([Reply.of(Note("Again."), ToolUse("save_file")), "Done."])
    assert (await turn.go_on()).stop_reason == "tool_use"
    assert (await turn.go_on()).stop_reason == "end_turn"


async def test_a_finished_turns_thinking_may_be_kept_or_left_out(turn: Turn, server: PracticeServer) -> None:
    await turn.go_on()
    turn.body["messages"].append(user("And now?"))
    server.script([Reply.of(Note("Now."), ToolUse("save_file")), "Really done."])
    await turn.go_on()
    for message in turn.body["messages"][:6]:
        if message["role"] == "assistant":
            message["content"] = [block for block in message["content"] if block["type"] != "thinking"]
    assert (await turn.go_on()).content[0].text == "Really done."


async def test_mismatches_can_be_dropped_with_the_beta(turn: Turn) -> None:
    turn.body["system"] = "Be stern."
    turn.body["thinking"] = {
        "type": "between_tools",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    turn.body["extra_headers"] = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
    assert (await turn.go_on()).stop_reason == "end_turn"


async def test_a_signature_holds_in_another_server(turn: Turn) -> None:
    async with (
        PracticeServer(keeps_bodies=True, tokens_per_second=0) as other,
        AsyncAnthropic(base_url=other.url, api_key="k", max_retries=0) as client,
    ):
        other.script(["Still here."])
        turn.client = client
        assert (await turn.go_on()).content[0].text == "Still here."


async def test_an_old_model_takes_its_thinking_back_in_any_conversation(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([Reply.of(Thinking("Let me see."), ToolUse("save_file")), "Done."])
    turn = Turn(client)
    del turn.body["output_config"]
    turn.body |= {
        "model": "claude-haiku-4-5",
        "max_tokens": 4000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    await turn.go_on()
    turn.body["system"] = "Be stern."
    assert (await turn.go_on()).stop_reason == "end_turn"


SHAPES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("hidden", {}, [("thinking", ""), ("text", "Hello."), ("thinking", ""), ("tool_use", "")]),
    (
        "summarised",
        {"thinking": {"type": "adaptive", "display": "summarized"}},
        [("thinking", "Hm."), ("text", "Hello."), ("thinking", "Saving."), ("tool_use", "")],
    ),
    (
        "between tools",
        {"thinking": {"type": "between_tools"}},
        [("text", "Hello."), ("thinking", "Saving."), ("tool_use", "")],
    ),
    (
        "off",
        {"model": "claude-haiku-5-5", "thinking": {"type": "disabled"}},
        [("text", "Hello."), ("text", "Saving."), ("tool_use", "")],
    ),
]


@pytest.mark.parametrize(("changes", "expected"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
async def test_thinking_and_notes_show_as_the_request_asks(
    server: PracticeServer, client: AsyncAnthropic, changes: Any, expected: list[tuple[str, str]]
) -> None:
    server.script([Reply.of(Thinking("Hm."), Text("Hello."), Note("Saving."), ToolUse("save_file"))])
    message = await client.messages.create(**request_body(tools=[SAVE_FILE], **changes))
    shown = [(b.type, getattr(b, "thinking", getattr(b, "text", ""))) for b in message.content]
    assert shown == expected
    assert all(block.signature for block in message.content if block.type == "thinking")


async def test_text_between_two_calls_comes_back_as_thinking(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script(
        [Reply.of("Before.", ToolUse("save_file")), Reply.of("Between.", ToolUse("save_file")), "After."]
    )
    turn = Turn(client)
    kinds = [[block.type for block in (await turn.go_on()).content] for _ in range(3)]
    assert kinds == [["text", "tool_use"], ["thinking", "tool_use"], ["text"]]
