"""The wire format: the SDK reads the stream, and its events are like the real API's."""

import asyncio
import re
import threading
from typing import Any

import orjson
import pytest
from anthropic import AsyncAnthropic

from coaching.practice import Hold, Note, PracticeServer, Reply, Text, ToolUse
from tests.patience import patience
from tests.practice.conftest import SAVE_FILE, Http, assistant, request_body, user

WORDS = "Listening is a way of giving. It needs nothing but time, and a little quiet."


def events_of(raw: bytes) -> list[tuple[str, Any]]:
    """Parse a stream strictly: an event line, a data line, a blank line."""
    found = []
    for chunk in raw.decode().split("\n\n")[:-1]:
        match = re.fullmatch(r"event: (\S+)\ndata: (.*)", chunk)
        assert match, chunk
        found.append((match[1], orjson.loads(match[2])))
    return found


async def test_the_sdk_puts_a_streamed_answer_together(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    values = {"file_type": "capture", "content": "Grüße, 世界 “quoted” \n" * 20}
    server.script([Reply.of(WORDS, Note("Saving."), ToolUse("save_file", values), ToolUse("save_file"))])
    body = request_body(tools=[SAVE_FILE], thinking={"type": "between_tools"})
    async with client.messages.stream(**body) as stream:
        message = await stream.get_final_message()
    words, note, full, empty = message.content
    assert words.type == "text"
    assert words.text == WORDS
    assert note.type == "thinking"
    assert note.thinking == "Saving."
    assert note.signature
    assert full.type == "tool_use"
    assert full.input == values
    assert empty.type == "tool_use"
    assert empty.input == {}
    assert empty.id != full.id
    assert message.stop_reason == "tool_use"
    assert message.usage.output_tokens > 100
    assert message.usage.output_tokens_details is not None
    assert message.usage.output_tokens_details.thinking_tokens > 0


async def test_an_answer_is_composed_beside_the_event_loop(client: AsyncAnthropic) -> None:
    threads: list[threading.Thread] = []

    def answer(_body: dict[str, Any]) -> Reply:
        threads.append(threading.current_thread())
        return Reply.of(WORDS)

    async with PracticeServer(tokens_per_second=0, answer=answer) as server:
        own = client.with_options(base_url=server.url)
        await asyncio.gather(*(own.messages.create(**request_body()) for _ in range(3)))
    assert threading.current_thread() not in threads
    assert len(set(threads)) == 1, "an exchange is checked against those before it"


async def test_events_come_in_the_order_and_shape_of_the_real_stream(
    server: PracticeServer, http: Http
) -> None:
    server.script([Reply.of(WORDS, ToolUse("save_file", {"a": 1}))])
    events = events_of(await http.stream(request_body(tools=[SAVE_FILE])))
    assert all(name == payload["type"] for name, payload in events)
    assert [name for name, _ in events[:3]] == ["message_start", "content_block_start", "ping"]
    assert [name for name, _ in events[-2:]] == ["message_delta", "message_stop"]
    start = events[0][1]["message"]
    assert start["content"] == []
    assert start["stop_reason"] is None
    assert start["usage"]["output_tokens"] == 1
    parts = [p["delta"]["partial_json"] for n, p in events if n == "content_block_delta" and p["index"] == 1]
    assert parts[0] == ""
    assert orjson.loads("".join(parts)) == {"a": 1}
    starts = [payload["content_block"] for name, payload in events if name == "content_block_start"]
    assert starts[1]["input"] == {}
    assert starts[1]["caller"] == {"type": "direct"}
    assert events[-2][1]["usage"]["output_tokens"] > 1


async def test_streamed_and_whole_answers_say_the_same(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([WORDS, WORDS])
    whole = await client.messages.create(**request_body())
    async with client.messages.stream(**request_body()) as stream:
        streamed = await stream.get_final_message()
    assert [getattr(block, "text", "") for block in streamed.content] == [
        getattr(block, "text", "") for block in whole.content
    ]
    assert streamed.usage.output_tokens == whole.usage.output_tokens


async def test_an_answer_stops_at_max_tokens(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.script([WORDS])
    message = await client.messages.create(**request_body(max_tokens=6))
    assert message.stop_reason == "max_tokens"
    assert message.content[0].type == "text"
    assert message.content[0].text == WORDS[:20]
    assert message.usage.output_tokens == 6


async def test_a_call_that_max_tokens_cuts_has_broken_json(server: PracticeServer, http: Http) -> None:
    server.script([Reply.of(ToolUse("save_file", {"content": "x" * 400}))])
    events = events_of(await http.stream(request_body(tools=[SAVE_FILE], max_tokens=40)))
    parts = [p["delta"]["partial_json"] for n, p in events if n == "content_block_delta"]
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads("".join(parts))
    assert events[-2][1]["delta"]["stop_reason"] == "max_tokens"


async def test_an_answer_stops_at_a_stop_sequence(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.script([WORDS])
    message = await client.messages.create(**request_body(stop_sequences=["nothing", "time"]))
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "nothing")
    assert message.content[0].type == "text"
    assert message.content[0].text == "Listening is a way of giving. It needs "


async def test_calls_are_left_out_where_the_request_forbids_them(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    two = Reply.of(ToolUse("save_file"), ToolUse("save_file"))
    server.script([two, two])
    none = await client.messages.create(**request_body(tools=[SAVE_FILE], tool_choice={"type": "none"}))
    one = await client.messages.create(
        **request_body(tools=[SAVE_FILE], tool_choice={"type": "auto", "disable_parallel_tool_use": True})
    )
    assert ([b.type for b in none.content], none.stop_reason) == (["text"], "end_turn")
    assert ([b.type for b in one.content], one.stop_reason) == (["tool_use"], "tool_use")


async def test_scripts_with_a_key_stay_with_their_conversation(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script(["for anybody"])
    server.script(["apple one", "apple two"], key="apple")
    server.script(["pear one"], key="pear")
    said = []
    for words in ("a pear", "an apple", "a plum", "an apple"):
        message = await client.messages.create(**request_body(words))
        assert message.content[0].type == "text"
        said.append(message.content[0].text)
    assert said == ["pear one", "apple one", "for anybody", "apple two"]


async def test_a_held_stream_waits_for_its_release(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.script([Reply.of("Before. ", Hold("gate"), "After.")])
    async with client.messages.stream(**request_body()) as stream:
        seen = ""
        reader = stream.text_stream
        while seen != "Before. ":
            seen += await anext(reader)
        await server.reached("gate")
        server.release("gate")
        rest = "".join([piece async for piece in reader])
    assert rest == "After."
    assert len((await stream.get_final_message()).content) == 1


@pytest.mark.slow
async def test_a_paced_stream_takes_its_time(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.script([Reply.of(Text("word " * 40), tokens_per_second=250, first_token_seconds=0.1)])
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with client.messages.stream(**request_body()) as stream:
        times = [loop.time() - begun async for _ in stream.text_stream]
    assert 0.1 <= times[0] < 0.15 * patience()
    assert 0.25 < times[-1] < 0.3 * patience()
    assert len(times) > 10


async def test_the_moment_is_known_at_which_a_client_goes_away(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([Reply.of("Before. ", Hold("never"), "After.")])
    async with client.messages.stream(**request_body()) as stream:
        await anext(stream.text_stream)
        await server.reached("never")
        assert server.requests[0].closed_by_client_at is None
    records = await server.wait_until(lambda seen: seen[0].closed_by_client_at is not None)
    assert records[0].stop_reason == ""


async def test_closing_the_server_breaks_open_streams_off_quickly() -> None:
    server = PracticeServer(keeps_bodies=True, tokens_per_second=1)
    await server.open()
    server.script([Reply.of("word " * 400)])
    async with (
        AsyncAnthropic(base_url=server.url, api_key="k", max_retries=0) as client,
        client.messages.stream(**request_body()) as stream,
    ):
        await anext(stream.text_stream)
        begun = asyncio.get_running_loop().time()
        await server.close()
        assert asyncio.get_running_loop().time() - begun < patience()
    assert server.requests[0].closed_by_client_at is None


async def test_a_pause_may_be_continued_and_nothing_else_prefilled(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([Reply.of("Half of it,", stop_reason="pause_turn"), "and the rest."])
    body = request_body()
    first = await client.messages.create(**body)
    blocks = [block.model_dump(mode="json", exclude_none=True) for block in first.content]
    body["messages"] = [user("Hello there"), assistant(*blocks)]
    second = await client.messages.create(**body)
    assert first.stop_reason == "pause_turn"
    assert second.content[0].type == "text"
    assert second.content[0].text == "and the rest."
