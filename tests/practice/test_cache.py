"""Cache accounting: reads, writes, and uncached tokens."""

from typing import Any

import pytest
from anthropic import AsyncAnthropic

from tests.practice.conftest import SAVE_FILE, Clock, assistant, request_body, text, user

SHORT = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
LONG = "A long prompt about kindness and patience. " * 150
TURNS = [
    message for number in range(12) for message in (user(f"question {number}"), assistant(f"answer {number}"))
]


async def usage_of(client: AsyncAnthropic, body: dict[str, Any]) -> tuple[int, int, int, int]:
    """Return input, 5-minute writes, hour writes, and reads of one request."""
    used = (await client.messages.create(**body)).usage
    assert used.cache_creation is not None
    written = used.cache_creation
    assert used.cache_creation_input_tokens == (
        written.ephemeral_5m_input_tokens + written.ephemeral_1h_input_tokens
    )
    return (
        used.input_tokens,
        written.ephemeral_5m_input_tokens,
        written.ephemeral_1h_input_tokens,
        used.cache_read_input_tokens or 0,
    )


def long_body(*messages: Any, **changes: Any) -> dict[str, Any]:
    return request_body(
        messages=list(messages) or [user("Hi")], system=[text(LONG, cache_control=SHORT)], **changes
    )


async def test_a_prefix_is_written_once_and_read_afterwards(client: AsyncAnthropic) -> None:
    first = await usage_of(client, long_body(user("Hi")))
    second = await usage_of(client, long_body(user("Hello, another question")))
    assert first[1] > 1024
    assert first[3] == 0
    assert second[1] == 0
    assert second[3] == first[1]


async def test_all_parts_add_up_to_what_counting_says(client: AsyncAnthropic) -> None:
    body = long_body(user("Hi"), assistant("Yes?"), user("Tell me more"), tools=[SAVE_FILE])
    used = await usage_of(client, body)
    counted = await client.messages.count_tokens(**{k: v for k, v in body.items() if k != "max_tokens"})
    assert sum(used) == counted.input_tokens


async def test_a_short_prefix_is_never_cached_and_nothing_is_said(client: AsyncAnthropic) -> None:
    body = request_body(system=[text("short", cache_control=SHORT)])
    assert (await usage_of(client, body))[1:] == (0, 0, 0)
    assert (await usage_of(client, body))[1:] == (0, 0, 0)


@pytest.mark.parametrize(("marker", "lifetime"), [(SHORT, 300), (HOUR, 3600)])
async def test_an_entry_ends_with_its_ttl_and_reading_renews_it(
    client: AsyncAnthropic, clock: Clock, marker: Any, lifetime: int
) -> None:
    body = request_body(system=[text(LONG, cache_control=marker)])
    await usage_of(client, body)
    for _ in range(2):
        clock.now += lifetime - 1
        assert (await usage_of(client, body))[3] > 0
    clock.now += lifetime
    assert (await usage_of(client, body))[3] == 0


async def test_each_segment_is_written_under_its_own_ttl(client: AsyncAnthropic) -> None:
    body = request_body(
        system=[text(LONG, cache_control=HOUR)],
        messages=[user(text("word " * 400, cache_control=SHORT), "tail")],
    )
    _, short, hour, read = await usage_of(client, body)
    assert hour > 1024
    assert 400 < short < 600
    assert read == 0


async def test_the_automatic_breakpoint_moves_along_with_the_talk(client: AsyncAnthropic) -> None:
    messages = [user("Hi " + LONG)]
    written = (await usage_of(client, request_body(messages=messages, cache_control=SHORT)))[1]
    messages += [assistant("Yes?"), user("More")]
    used = await usage_of(client, request_body(messages=messages, cache_control=SHORT))
    assert used[3] == written
    assert used[0] == 0
    assert used[1] > 0


@pytest.mark.slow
async def test_a_breakpoint_looks_back_over_twenty_blocks_at_most(client: AsyncAnthropic) -> None:
    async def read_after(blocks: int) -> int:
        opening = [user(f"{LONG} {blocks}")]
        await usage_of(client, request_body(messages=opening, cache_control=SHORT))
        longer = [*opening, *(assistant("a") if i % 2 == 0 else user("b") for i in range(blocks))]
        return (await usage_of(client, request_body(messages=longer, cache_control=SHORT)))[3]

    assert await read_after(18) > 0
    assert await read_after(20) == 0


async def test_a_second_breakpoint_bridges_a_long_turn(client: AsyncAnthropic) -> None:
    opening = user(text(LONG, cache_control=SHORT))
    await usage_of(client, request_body(messages=[opening]))
    body = request_body(messages=[opening, *TURNS[1:], user("x")], cache_control=SHORT)
    assert (await usage_of(client, body))[3] > 1024


CHANGES: list[tuple[str, dict[str, Any], bool, bool]] = [
    ("tools", {"tools": [{**SAVE_FILE, "description": "New."}]}, False, False),
    ("the tool choice", {"tool_choice": {"type": "none"}}, True, False),
    ("the kind of thinking", {"thinking": {"type": "between_tools"}}, True, False),
    ("another model", {"model": "claude-opus-5-5"}, False, False),
    ("another key", {"extra_headers": {"x-api-key": "other"}}, False, False),
    ("nothing", {}, True, True),
]


@pytest.mark.parametrize(
    ("changes", "keeps_system", "keeps_messages"),
    [row[1:] for row in CHANGES],
    ids=[row[0] for row in CHANGES],
)
async def test_a_change_costs_the_part_of_the_cache_behind_it(
    client: AsyncAnthropic, changes: Any, keeps_system: bool, keeps_messages: bool
) -> None:
    body = long_body(user("Hi " + LONG), tools=[SAVE_FILE], cache_control=SHORT)
    _, written, _, _ = await usage_of(client, body)
    read = (await usage_of(client, {**body, **changes}))[3]
    assert (read > 0) == keeps_system
    assert (read == written) == keeps_messages


async def test_a_changed_byte_of_an_early_message_is_a_miss(client: AsyncAnthropic) -> None:
    before = [user("Hi " + LONG), assistant("Yes?"), user("More")]
    await usage_of(client, request_body(messages=before, cache_control=SHORT))
    after = [user("Hi  " + LONG), *before[1:]]
    assert (await usage_of(client, request_body(messages=after, cache_control=SHORT)))[3] == 0
