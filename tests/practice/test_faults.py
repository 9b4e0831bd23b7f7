"""Every fault on a real socket, as a client sees it."""

import asyncio
from typing import Any

import anthropic
import httpx2
import orjson
import pytest
from anthropic import AsyncAnthropic

from coaching.practice import Fault, PracticeServer, Reply, ToolUse
from tests.practice.conftest import SAVE_FILE, Http, assistant, request_body, user
from tests.practice.test_stream import events_of

WORDS = "One sentence that is long enough to be cut. And another one that would follow it."
SAVING = Reply.of(WORDS, ToolUse("save_file", {"file_type": "capture", "content": "many words " * 10}))


async def collect(client: AsyncAnthropic) -> list[Any]:
    """Return all raw events of one streamed answer."""
    stream = await client.messages.create(**request_body(tools=[SAVE_FILE]), stream=True)
    return [event async for event in stream]


async def collect_until_it_breaks(client: AsyncAnthropic) -> tuple[list[Any], Exception | None]:
    """Return the raw events that arrived, and the exception that ended them."""
    events: list[Any] = []
    try:
        stream = await client.messages.create(**request_body(tools=[SAVE_FILE]), stream=True)
        while True:  # what came before the break is needed, too
            events.append(await anext(stream))
    except StopAsyncIteration:
        return events, None
    except (httpx2.TransportError, orjson.JSONDecodeError, anthropic.APIError, ValueError) as error:
        return events, error


STATUSES: list[tuple[int, str, type[anthropic.APIStatusError]]] = [
    (400, "invalid_request_error", anthropic.BadRequestError),
    (401, "authentication_error", anthropic.AuthenticationError),
    (403, "permission_error", anthropic.PermissionDeniedError),
    (404, "not_found_error", anthropic.NotFoundError),
    (408, "timeout_error", anthropic.APIStatusError),
    (409, "conflict_error", anthropic.ConflictError),
    (413, "request_too_large", anthropic.APIStatusError),
    (422, "invalid_request_error", anthropic.UnprocessableEntityError),
    (429, "rate_limit_error", anthropic.RateLimitError),
    (500, "api_error", anthropic.InternalServerError),
    (529, "overloaded_error", anthropic.InternalServerError),
]


@pytest.mark.parametrize(("status", "kind", "raised"), STATUSES)
async def test_a_status_comes_with_the_apis_error(
    server: PracticeServer, client: AsyncAnthropic, status: int, kind: str, raised: Any
) -> None:
    server.faults.push(Fault(kind="status", status=status, retry_after="7"))
    with pytest.raises(raised) as refusal:
        await collect(client)
    error = refusal.value
    assert (error.status_code, error.type) == (status, kind)
    assert error.response.headers["retry-after"] == "7"
    assert error.request_id.startswith("req_")


async def test_without_retry_after_there_is_no_such_header(server: PracticeServer, http: Http) -> None:
    server.faults.push(Fault(kind="status", status=429))
    _, _, headers = await http.post(request_body())
    assert "retry-after" not in {name.lower() for name in headers}


async def test_a_fault_leaves_the_scripted_reply_for_the_next_try(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="status", times=2), Fault(kind="cut"))
    for _ in range(3):
        _, error = await collect_until_it_breaks_or_refused(client)
        assert error is not None
    assert (await collect(client))[-1].type == "message_stop"


async def collect_until_it_breaks_or_refused(client: AsyncAnthropic) -> tuple[list[Any], Exception | None]:
    try:
        return await collect_until_it_breaks(client)
    except anthropic.APIStatusError as error:
        return [], error


PLACES = [
    "in_text",
    "in_tool_json",
    "before_message_delta",
    "before_message_stop",
    "at_start",
    "after_headers",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["cut", "reset"])
async def test_a_broken_connection_ends_the_stream_in_its_place(
    server: PracticeServer, client: AsyncAnthropic, kind: Any, place: Any
) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind=kind, place=place))
    events, error = await collect_until_it_breaks(client)
    assert isinstance(error, httpx2.TransportError | anthropic.APIConnectionError)
    kinds = {event.type for event in events}
    assert "message_stop" not in kinds
    if kind == "cut" and place == "before_message_stop":
        assert "message_delta" in kinds
    assert (await server.wait_until(lambda seen: seen[0].finished_at is not None))[
        0
    ].closed_by_client_at is None


@pytest.mark.parametrize("kind", ["cut", "reset"])
async def test_a_connection_can_break_before_the_first_byte(
    server: PracticeServer, client: AsyncAnthropic, kind: Any
) -> None:
    server.faults.push(Fault(kind=kind, place="before_first_byte"))
    with pytest.raises(anthropic.APIConnectionError):
        await collect(client)


async def test_a_stream_that_ends_early_raises_nothing(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="end_early", place="in_tool_json"))
    events, error = await collect_until_it_breaks(client)
    assert error is None
    assert events[-1].type == "content_block_delta"


@pytest.mark.parametrize("count", [0, 1, 100, 1234])
async def test_a_stream_can_be_cut_at_any_byte(server: PracticeServer, http: Http, count: int) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="end_early", after_bytes=count))
    assert len(await http.stream(request_body(tools=[SAVE_FILE]))) == count


async def test_a_stream_can_be_cut_after_any_event(server: PracticeServer, http: Http) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="end_early", after_events=3))
    assert len(events_of(await http.stream(request_body(tools=[SAVE_FILE])))) == 3


async def test_a_stalled_stream_stays_open_until_the_client_leaves(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="stall"))
    stream = await client.messages.create(**request_body(tools=[SAVE_FILE]), stream=True)
    events = [await anext(stream), await anext(stream), await anext(stream)]
    next_event = asyncio.ensure_future(anext(stream))
    done, _ = await asyncio.wait({next_event}, timeout=0.3)
    while done:
        events.append(next_event.result())
        next_event = asyncio.ensure_future(anext(stream))
        done, _ = await asyncio.wait({next_event}, timeout=0.3)
    next_event.cancel()
    await stream.close()
    assert events[-1].type == "content_block_delta"
    await server.wait_until(lambda records: records[0].closed_by_client_at is not None)


async def test_a_stall_may_pass(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="stall", seconds=0.1))
    assert (await collect(client))[-1].type == "message_stop"


@pytest.mark.parametrize("place", ["before_first_byte", "after_headers"])
async def test_a_slow_start_delays_the_first_byte(
    server: PracticeServer, client: AsyncAnthropic, place: Any
) -> None:
    server.faults.push(Fault(kind="slow_start", seconds=0.15, place=place))
    begun = asyncio.get_running_loop().time()
    assert (await collect(client))[-1].type == "message_stop"
    assert asyncio.get_running_loop().time() - begun >= 0.15


async def test_a_broken_line_is_no_json(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="broken_json"))
    events, error = await collect_until_it_breaks(client)
    assert isinstance(error, ValueError)
    assert events


async def test_an_empty_body_is_a_stream_of_nothing(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.faults.push(Fault(kind="empty_body"))
    assert await collect(client) == []


async def test_an_error_event_is_raised_with_status_200(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="error_event"))
    events, error = await collect_until_it_breaks(client)
    assert isinstance(error, anthropic.APIStatusError)
    assert (error.status_code, error.type) == (200, "overloaded_error")
    assert events


async def test_an_error_event_can_be_all_there_is(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.faults.push(Fault(kind="error_event", place="after_headers", status=500, message="Oh"))
    events, error = await collect_until_it_breaks(client)
    assert (events, getattr(error, "type", "")) == ([], "api_error")


async def test_an_unknown_event_stands_among_the_others(server: PracticeServer, http: Http) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="unknown_event"))
    names = [name for name, _ in events_of(await http.stream(request_body(tools=[SAVE_FILE])))]
    assert "weather_report" in names
    assert names[-1] == "message_stop"


@pytest.mark.parametrize(("kind", "ids"), [("changed_message_id", 2), ("duplicate_message_start", 1)])
async def test_a_second_message_start_comes_in_mid_stream(
    server: PracticeServer, http: Http, kind: Any, ids: int
) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind=kind))
    events = events_of(await http.stream(request_body(tools=[SAVE_FILE])))
    starts = [payload["message"]["id"] for name, payload in events if name == "message_start"]
    assert (len(starts), len(set(starts))) == (2, ids)


STOPS: list[tuple[str, str, list[str]]] = [
    ("tool_use_without_block", "tool_use", ["text"]),
    ("max_tokens_in_tool", "max_tokens", ["text", "tool_use"]),
    ("max_tokens_in_text", "max_tokens", ["text"]),
    ("refusal", "refusal", ["text"]),
    ("pause_turn", "pause_turn", ["text"]),
    ("context_window_exceeded", "model_context_window_exceeded", ["text"]),
]


@pytest.mark.parametrize(("kind", "stop_reason", "blocks"), STOPS)
async def test_a_reply_can_stop_for_another_reason(
    server: PracticeServer, client: AsyncAnthropic, kind: Any, stop_reason: str, blocks: list[str]
) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind=kind))
    events = await collect(client)
    assert events[-2].delta.stop_reason == stop_reason
    assert [e.content_block.type for e in events if e.type == "content_block_start"] == blocks
    parts = "".join(
        e.delta.partial_json for e in events if getattr(e, "delta", None) and hasattr(e.delta, "partial_json")
    )
    if kind == "max_tokens_in_tool":
        assert parts.startswith('{"file_type":"capture","content":"many')
        assert not parts.endswith("}")


async def test_a_refusal_says_so_in_its_details(server: PracticeServer, client: AsyncAnthropic) -> None:
    server.faults.push(Fault(kind="refusal"))
    message = await client.messages.create(**request_body())
    assert message.stop_reason == "refusal"
    assert message.stop_details is not None
    assert message.stop_details.type == "refusal"


async def test_a_paused_reply_goes_on_where_it_stopped(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.script([SAVING])
    server.faults.push(Fault(kind="pause_turn"))
    body = request_body(tools=[SAVE_FILE])
    first = await client.messages.create(**body)
    blocks = [block.model_dump(mode="json", exclude_none=True) for block in first.content]
    second = await client.messages.create(**{**body, "messages": [user("Hello there"), assistant(*blocks)]})
    assert first.content[0].type == "text"
    assert second.content[0].type == "text"
    assert first.content[0].text + second.content[0].text == WORDS
    assert second.stop_reason == "tool_use"


async def test_a_fault_hits_the_request_that_it_is_meant_for(
    server: PracticeServer, client: AsyncAnthropic
) -> None:
    server.faults.push(Fault(kind="status", status=500, key="apple", skip=1, times=2))
    server.faults.push(Fault(kind="status", status=429, model="claude-haiku-5-5"))
    statuses = []
    for words in ("apple", "pear", "apple", "apple", "apple"):
        try:
            await client.messages.create(**request_body(words))
            statuses.append(200)
        except anthropic.APIStatusError as error:
            statuses.append(error.status_code)
    assert statuses == [200, 200, 500, 500, 200]
    with pytest.raises(anthropic.RateLimitError):
        await client.messages.create(**request_body(model="claude-haiku-5-5"))


async def test_a_wrong_request_is_refused_even_where_a_fault_waits(
    server: PracticeServer, http: Http
) -> None:
    server.faults.push(Fault(kind="status", status=529))
    status, _, _ = await http.post(request_body(foo=1))
    assert status == 400
    assert len(server.faults) == 1


@pytest.mark.parametrize("kind", ["cut", "reset", "broken_json"])
async def test_an_answer_that_is_not_streamed_breaks_too(
    server: PracticeServer, client: AsyncAnthropic, kind: Any
) -> None:
    server.faults.push(Fault(kind=kind))
    with pytest.raises((anthropic.APIError, ValueError)):
        await client.messages.create(**request_body())
