"""What a model without a profile writes is cleaned over a real socket, and so is the next request."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from anthropic import DefaultAioHttpClient

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.events import NoteDelta, TextDelta
from coaching.engine.messages import ModelRequest, StoredMessage, build_api_messages
from coaching.engine.tools import BROKEN_INPUT, Toolset
from coaching.engine.transitions import PartResult
from coaching.practice.script import Hold, Reply, ToolUse
from coaching.practice.server import PracticeServer
from tests.engine.upstream import SAVED_FIELDS, WORDS, Bench, Upstream, stored

MODEL = "local-model"
SENTENCE = "I am here with you today, my friend. "
CALL = '{"name": "save_file", "arguments": {"path": "a.md"}}'
TAGS = ("<think", "</think", "<tool_call", "<|im_", "</s>", "[INST", "end_of_turn")


@dataclass
class Local:
    """A server with a model of somebody's own, and the engine."""

    server: PracticeServer
    client: AnthropicClient

    def bench(self) -> Bench:
        bench = Bench(upstream=Upstream(), client=self.client)
        bench.tool("save_file")
        return bench

    async def part(
        self,
        bench: Bench,
        *replies: Reply | str,
        text: str,
        may_run: bool = True,
        model: str = MODEL,
        **more: Any,
    ) -> PartResult:
        self.server.script(replies, key=text)
        history = [StoredMessage(role="user", content=text)]
        return await bench.part(
            request=request_for(bench, history, model), runs_written=lambda: may_run, **more
        )

    async def next_request(self, bench: Bench, text: str) -> str:
        """Return the messages of the turn after the bench's, as they are sent."""
        history = [
            StoredMessage(role="user", content=text),
            stored(bench),
            StoredMessage(role="user", content="Go on"),
        ]
        await bench.part(request=request_for(bench, history, MODEL))
        return self.sent()[-1]

    def sent(self) -> list[str]:
        """Return the messages of each request as JSON."""
        return [json.dumps(request.body["messages"]) for request in self.server.requests if request.body]


def request_for(bench: Bench, history: list[StoredMessage], model: str) -> ModelRequest:
    return ModelRequest(
        model=model,
        max_tokens=20_000,
        tools=Toolset(bench.tools).definitions(),
        messages=build_api_messages(history, SAVED_FIELDS),
    )


@pytest.fixture
async def local() -> AsyncIterator[Local]:
    plain = DefaultAioHttpClient(verify=False)
    async with (
        PracticeServer(keeps_bodies=True, tokens_per_second=0, chunk_characters=50_000) as server,
        AnthropicClient("practice", server.url, http_client=plain) as client,
    ):
        yield Local(server, client)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "shown", "ran"),
    [
        ("So: <think>Hm.</think>Hello", "So: Hello", 0),
        ("<|im_start|>assistant\nHello", "Hello", 0),
        ("Hello<|im_end|>\n<|im_start|>user\nHi", "Hello", 0),
        ("Bye.</s>[INST] x", "Bye.", 0),
        (f"Yes.\n<tool_call>{CALL}</tool_call>", "Yes.\n", 1),
        (f"Yes.\n{CALL}<end_of_turn>", "Yes.\n", 1),
        (f"<tool_call>{CALL}</tool_call>Done", "Done", 0),
    ],
)
async def test_a_stream_that_is_cut_anywhere_is_cleaned(
    local: Local, written: str, shown: str, ran: int
) -> None:
    async def cut(at: int) -> None:
        text, bench = f"Message {at}.", local.bench()
        reply = Reply.of(written[:at], Hold(text), written[at:])
        running = asyncio.create_task(local.part(bench, reply, "Saved.", text=text))
        await local.server.reached(text)
        await asyncio.sleep(0.01)  # the client has read the first half
        local.server.release(text)
        assert (await running).outcome == "completed"
        assert bench.shown() == shown + "Saved." * ran
        assert len(bench.ran) == ran
        assert len(bench.recorder.rounds) == 1 + ran
        await local.next_request(bench, text)

    for first in range(0, len(written), 8):
        await asyncio.gather(*map(cut, range(first, min(first + 8, len(written)))))
    assert not any(tag in sent for sent in local.sent() for tag in TAGS)


async def test_reasoning_is_kept_as_thinking_and_not_sent_again(local: Local) -> None:
    bench = local.bench()
    replies = (f"<think>Save it.</think>Yes.\n<tool_call>{CALL}</tool_call>", "<think>Good.</think>Saved.")
    result = await local.part(bench, *replies, text="Save it")
    assert (result.outcome, bench.shown(), bench.shown(NoteDelta)) == ("completed", "Yes.\nSaved.", "")
    first, second = bench.recorder.rounds
    assert [block["type"] for block in first.blocks] == ["thinking", "text", "tool_use"]
    assert first.blocks[0]["thinking"] == "Save it."
    assert first.stop_reason == "tool_use"
    assert [block["type"] for block in second.blocks] == ["thinking", "text"]
    _, with_result = (json.loads(sent) for sent in local.sent())
    assert [block["type"] for block in with_result[1]["content"]] == ["text", "tool_use"]
    assert with_result[2]["content"][0]["tool_use_id"] == with_result[1]["content"][1]["id"]
    assert "Good." not in await local.next_request(bench, "Save it")


async def test_no_call_in_words_runs_where_texts_of_others_were_read(local: Local) -> None:
    bench = local.bench()
    result = await local.part(bench, f"Yes.\n<tool_call>{CALL}</tool_call>", text="One", may_run=False)
    assert (result.outcome, result.stop_reason, bench.shown(), bench.ran) == (
        "completed",
        "end_turn",
        "Yes.\n",
        [],
    )
    assert "tool_call" not in await local.next_request(bench, "One")
    bench = local.bench()
    await local.part(bench, f"Yes.\n{CALL}", text="Two", may_run=False)
    assert (bench.shown(), bench.ran) == (f"Yes.\n{CALL}", [])


async def test_a_call_before_a_real_one_does_not_run(local: Local) -> None:
    bench = local.bench()
    real = ToolUse("save_file", {"path": "b.md"}, id="toolu_real")
    await local.part(bench, Reply.of(f"<tool_call>{CALL}</tool_call>", real), "Saved.", text="One")
    assert bench.ran == ["toolu_real"]


async def test_a_model_that_repeats_itself_is_stopped_at_once(local: Local) -> None:
    bench = local.bench()
    reply = Reply.of(SENTENCE * 5, Hold("never"), SENTENCE * 455)
    result = await local.part(bench, reply, text="Hello")
    assert (result.outcome, result.stop_reason) == ("completed", "repetition")
    assert result.user_message == WORDS.repeated_itself
    assert bench.shown() == (SENTENCE * 4).strip()
    assert bench.recorder.rounds[0].text == bench.shown()
    [usage] = bench.recorder.usages
    assert usage.tokens.input_tokens > 0
    assert 40 < usage.tokens.output_tokens < 80, "estimated: the server's number comes at the end"
    await local.server.wait_until(lambda requests: requests[0].closed_by_client_at is not None)
    assert (await local.next_request(bench, "Hello")).count(SENTENCE.strip()) == 4


async def test_fenced_code_and_a_breathing_exercise_stay(local: Local) -> None:
    exercise = "Breathe in slowly.\nHold it.\nBreathe out, as long as you like to, and let go.\n" * 20
    written = f"{exercise}```\n<think>{CALL}</think><|im_end|>\n<tool_call>{CALL}</tool_call>\n```"
    bench = local.bench()
    result = await local.part(bench, written, text="Hello")
    assert (result.user_message, bench.shown(), bench.ran) == (None, written, [])


@pytest.mark.parametrize("written", ["<think>\n", "<|im_end|>", "<|im_start|>user\nHi"])
async def test_an_answer_of_which_nothing_is_left_is_told(local: Local, written: str) -> None:
    bench = local.bench()
    result = await local.part(bench, written, text="Hello")
    assert (result.outcome, result.user_message) == ("completed", WORDS.nothing_said)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('<tool_call>{"name": "rm"}</tool_call>', "There is no tool of that name. The tools are: save_file."),
        (f"<tool_call>{CALL[:-5]}</tool_call>", BROKEN_INPUT),
        ('<tool_call>{"name": "save_file", "arguments": {"way": 1}}</tool_call>', "way: Extra inputs"),
    ],
)
async def test_a_call_in_tags_that_cannot_run_is_answered(local: Local, written: str, said: str) -> None:
    bench = local.bench()
    result = await local.part(bench, written, "I could not save it.", text="Hello")
    assert (result.outcome, bench.shown(), bench.ran) == ("completed", "I could not save it.", [])
    [answered] = bench.recorder.results.values()
    assert answered.is_error
    assert said in answered.content
    assert said in local.sent()[-1]


async def test_reasoning_that_nothing_closes_is_shown_at_the_end(local: Local) -> None:
    bench = local.bench()
    await local.part(bench, "<think> is a tag.\n\nIt hides reasoning.", text="Hello")
    assert bench.shown() == "is a tag.\n\nIt hides reasoning."
    [finished] = bench.recorder.rounds
    assert [block["type"] for block in finished.blocks] == ["text"]


async def test_reasoning_that_the_template_opened_is_taken_back(local: Local) -> None:
    bench = local.bench()
    reply = Reply.of("They say hello.", Hold("thought"), "\n</think>\n\nHello")
    running = asyncio.create_task(local.part(bench, reply, text="Hello"))
    await local.server.reached("thought")
    await bench.shown_something.wait()
    local.server.release("thought")
    await running
    assert bench.kinds() == ["TextDelta", "RoundRestarted", "TextDelta"]
    [finished] = bench.recorder.rounds
    assert (finished.text, [block["type"] for block in finished.blocks]) == ("Hello", ["thinking", "text"])
    assert "They say" not in await local.next_request(bench, "Hello")


async def test_a_real_call_after_a_role_token_runs(local: Local) -> None:
    bench = local.bench()
    real = ToolUse("save_file", {"path": "b.md"}, id="toolu_real")
    await local.part(bench, Reply.of("Yes.<|im_end|>\n", real), "Saved.", text="One")
    assert (bench.ran, bench.shown()) == (["toolu_real"], "Yes.Saved.")
    bench = local.bench()
    await local.part(bench, Reply.of("Yes.<|im_end|>\nHi", real), text="Two")
    assert (bench.ran, bench.shown()) == ([], "Yes.")


async def test_reasoning_that_is_cut_for_length_is_asked_for_once_more(local: Local) -> None:
    bench = local.bench()
    cut = Reply.of("Well. <think>And so on", stop_reason="max_tokens")
    result = await local.part(bench, cut, "Hello", text="Hello")
    assert (result.stop_reason, bench.recorder.rounds[-1].text) == ("end_turn", "Hello")


async def test_an_answer_of_a_batch_is_cleaned(local: Local) -> None:
    answer = '{"quote": "Bye.</s>"}'
    local.server.script([f"<think>Hm.</think>\n{answer}<|im_end|>"], key="Hello")
    request = request_for(local.bench(), [StoredMessage(role="user", content="Hello")], MODEL)
    batch_id = await local.client.create_batch({"first": request})
    results = await local.client.batch_results(batch_id)
    assert results is not None
    assert results["first"].text == answer


async def test_a_model_with_a_profile_is_left_alone(local: Local) -> None:
    bench = local.bench()
    written = f"<think>x</think></s>\n{CALL}"
    result = await local.part(bench, written, text="Hello", model="claude-sonnet-5-5")
    assert (result.outcome, bench.events) == ("completed", [TextDelta(written)])
