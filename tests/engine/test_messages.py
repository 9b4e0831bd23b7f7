"""Any stored history becomes messages that the API accepts."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coaching.engine.messages import (
    INTERRUPTED,
    StoredCall,
    StoredMessage,
    append_round,
    build_api_messages,
    canonical_json,
)
from coaching.engine.tools import ToolResult
from tests.engine.upstream import SAVED_FIELDS
from tests.thoroughness import examples

IDENTIFIER = re.compile(r"^[a-zA-Z0-9_-]+$")


def assert_valid(messages: list[dict[str, Any]]) -> None:
    """Check the API's rules, implemented independently of the builder."""
    json.dumps(messages, ensure_ascii=False).encode("utf-8")
    assert messages
    assert messages[0]["role"] == "user"
    assert messages[-1]["role"] == "user"
    seen: set[str] = set()
    open_calls: list[str] = []
    for before, message in zip([None, *messages], messages, strict=False):
        assert set(message) == {"role", "content"}
        assert before is None or before["role"] != message["role"]
        blocks = message["content"]
        assert blocks
        assert all(block["type"] != "text" or block["text"].strip() for block in blocks)
        if message["role"] == "assistant":
            calls = [block for block in blocks if block["type"] == "tool_use"]
            assert {block["type"] for block in blocks} <= {"text", "tool_use"}
            for call in calls:
                assert IDENTIFIER.match(call["id"])
                assert IDENTIFIER.match(call["name"])
                assert isinstance(call["input"], dict)
                assert call["id"] not in seen
                seen.add(call["id"])
            open_calls = [call["id"] for call in calls]
        else:
            results = [block for block in blocks if block["type"] == "tool_result"]
            assert [block["type"] for block in blocks[: len(results)]] == ["tool_result"] * len(results)
            assert [block["tool_use_id"] for block in results] == open_calls
            assert all(isinstance(block["content"], str) and block["content"] for block in results)
            assert all(len(block["content"].encode()) <= 10_500 for block in results)
            open_calls = []
    assert not open_calls


texts = st.one_of(st.just(""), st.just("  \n"), st.text(max_size=30), st.just("a\ud800b"))
values = st.dictionaries(
    st.sampled_from(["content", "path", "n"]), st.one_of(texts, st.integers(), st.lists(texts, max_size=2))
)
calls = st.builds(
    StoredCall,
    tool_use_id=st.sampled_from(["toolu_1", "toolu_2", "toolu_3", "bad id!", ""]),
    name=st.sampled_from(["save_file", "read_file", "odd.name", ""]),
    input=values,
    result=st.one_of(st.none(), texts, st.just("ü" * 9_000)),
    is_error=st.booleans(),
    round_number=st.integers(0, 6),
)
stored = st.one_of(
    st.builds(StoredMessage, role=st.just("user"), content=texts),
    st.builds(
        StoredMessage,
        role=st.just("assistant"),
        content=texts,
        calls=st.lists(calls, max_size=4).map(tuple),
        round_ends=st.lists(st.integers(0, 40), max_size=4).map(tuple),
    ),
)


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(st.lists(stored, max_size=8))
def test_every_prefix_that_ends_with_the_user_is_valid(history: list[StoredMessage]) -> None:
    for length, message in enumerate(history, start=1):
        if message.role == "user":
            assert_valid(build_api_messages(history[:length], SAVED_FIELDS))


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(st.lists(stored, max_size=6))
def test_what_was_sent_stays_the_beginning_of_what_is_sent_next(history: list[StoredMessage]) -> None:
    whole = flattened(
        build_api_messages([*history, StoredMessage(role="user", content="Next")], SAVED_FIELDS)
    )
    for length, message in enumerate(history, start=1):
        if message.role == "user":
            part = flattened(build_api_messages(history[:length], SAVED_FIELDS))
            assert whole[: len(part)] == part


def flattened(messages: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Return all blocks in order, each with its role, as the cache compares them."""
    return [(message["role"], block) for message in messages for block in message["content"]]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@settings(deadline=None)
@given(json_values)
def test_canonical_json_can_be_stored_and_read_back_the_same(value: Any) -> None:
    text = canonical_json(value)
    text.encode("utf-8")
    assert "\x00" not in text
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


def test_canonical_json_keeps_the_order_of_keys_and_the_kind_of_numbers() -> None:
    assert canonical_json({"b": 100.0, "a": [1, "ü"]}) == '{"b":100.0,"a":[1,"ü"]}'


def call(tool_use_id: str, round_number: int, result: str | None = "ok", **fields: Any) -> StoredCall:
    defaults: dict[str, Any] = {"name": "read_file", "input": {"path": "a"}, "is_error": False}
    return StoredCall(
        tool_use_id=tool_use_id, round_number=round_number, result=result, **{**defaults, **fields}
    )


def test_each_round_is_an_assistant_message_with_its_results_behind_it() -> None:
    content = "Let me look.\n\nAnd there.\n\nFound it."
    history = [
        StoredMessage(role="user", content="Where?"),
        StoredMessage(
            role="assistant",
            content=content,
            calls=(call("t1", 1), call("t2", 1), call("t3", 2)),
            round_ends=(12, 24, len(content)),
        ),
        StoredMessage(role="user", content="Thanks"),
    ]
    messages = build_api_messages(history, SAVED_FIELDS)
    assert [message["role"] for message in messages] == ["user", "assistant"] * 3 + ["user"]
    assert [block.get("text", block.get("id")) for block in messages[1]["content"]] == [
        "Let me look.",
        "t1",
        "t2",
    ]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["t1", "t2"]
    assert messages[3]["content"][0]["text"] == "And there."
    assert messages[5]["content"] == [{"type": "text", "text": "Found it."}]


def test_results_of_a_turn_that_ended_in_calls_come_before_the_users_next_words() -> None:
    history = [
        StoredMessage(role="user", content="Go"),
        StoredMessage(role="assistant", content="", calls=(call("t1", 1, None),), round_ends=(0,)),
        StoredMessage(role="user", content="Instead this"),
    ]
    [_, assistant, answer] = build_api_messages(history, SAVED_FIELDS)
    assert [block["type"] for block in assistant["content"]] == ["tool_use"]
    assert answer["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": INTERRUPTED, "is_error": True},
        {"type": "text", "text": "Instead this"},
    ]


def test_saved_content_and_long_results_are_shortened() -> None:
    saved = call("t1", 1, name="save_file", input={"file_type": "capture", "content": "x" * 500})
    refused = call("t2", 1, name="save_file", input={"content": "abc"}, is_error=True)
    long = call("t3", 1, "START" + "y" * 20_000 + "END")
    history = [
        StoredMessage(role="user", content="Save"),
        StoredMessage(role="assistant", content="", calls=(saved, refused, long)),
        StoredMessage(role="user", content="Next"),
    ]
    messages = build_api_messages(history, SAVED_FIELDS)
    assert messages[1]["content"][0]["input"] == {"file_type": "capture", "content": "[saved: 500 chars]"}
    assert messages[1]["content"][1]["input"] == {"content": "[not saved: 3 chars]"}
    excerpt = messages[2]["content"][2]["content"]
    assert len(excerpt) < 10_000
    first_line, _, rest = excerpt.partition("\n")
    assert first_line == (
        "[excerpt of the result of read_file t3: the first 6000 and the last 1500 of 20008 characters]"
    )
    assert rest.startswith("START")
    assert excerpt.endswith("END")


def test_a_conversation_that_the_assistant_began_is_opened_by_the_user() -> None:
    messages = build_api_messages([StoredMessage(role="assistant", content="Good morning")], SAVED_FIELDS)
    assert [message["role"] for message in messages] == ["user", "assistant"]


def test_a_finished_round_is_put_behind_the_messages_verbatim() -> None:
    before = [{"role": "user", "content": "Hi"}]
    blocks = [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "tool_use", "id": "t"}]
    after = append_round(before, blocks, [("t", ToolResult.error(""))])
    assert before == [{"role": "user", "content": "Hi"}]
    assert after[1] == {"role": "assistant", "content": blocks}
    assert after[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "t", "content": "(empty)", "is_error": True}
    ]
