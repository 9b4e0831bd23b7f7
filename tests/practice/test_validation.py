"""The practice model refuses what the real API refuses, with the reason."""

from typing import Any

import pytest

from coaching.practice import PracticeServer
from tests.practice.conftest import SAVE_FILE, Http, assistant, call, request_body, result, text, user

HOUR = {"type": "ephemeral", "ttl": "1h"}
SHORT = {"type": "ephemeral"}
LOOKED_UP = [user("Save it"), assistant(call("t1")), user(result("t1"))]


def marked(count: int) -> list[dict[str, Any]]:
    return [user(*(text(f"part {i}", cache_control=SHORT) for i in range(count)))]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("unknown parameter", {"foo": 1}, "foo: Extra inputs are not permitted"),
    ("temperature", {"temperature": 0.5}, "`temperature` is not supported"),
    ("top_p", {"top_p": 0.5}, "`top_p` is not supported"),
    ("top_k", {"top_k": 5}, "`top_k` is not supported"),
    ("no tokens", {"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
    ("tokens as text", {"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
    ("too many tokens", {"max_tokens": 128_001}, "128001 > 128000"),
    ("thinking off", {"thinking": {"type": "disabled"}}, '"thinking.type.disabled" is not supported'),
    (
        "thinking budget",
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        '"thinking.type.enabled" is not supported',
    ),
    ("unknown thinking", {"thinking": {"type": "deep"}}, "thinking.type: Input should be"),
    (
        "display between tools",
        {"thinking": {"type": "between_tools", "display": "summarized"}},
        "thinking.between_tools.display: Extra inputs",
    ),
    (
        "binding without its beta",
        {"thinking": {"type": "adaptive", "block_binding": {}}},
        "thinking.adaptive.block_binding: Extra inputs",
    ),
    (
        "between tools with great effort",
        {"thinking": {"type": "between_tools"}, "output_config": {"effort": "max"}},
        "'max' is not supported with",
    ),
    ("unknown effort", {"output_config": {"effort": "huge"}}, "output_config.effort: Input should be"),
    ("format without schema", {"output_config": {"format": {"type": "json_schema"}}}, "format.schema"),
    ("forced any", {"tools": [SAVE_FILE], "tool_choice": {"type": "any"}}, '"tool_choice.type.any"'),
    (
        "forced tool",
        {"tools": [SAVE_FILE], "tool_choice": {"type": "tool", "name": "save_file"}},
        '"tool_choice.type.tool"',
    ),
    ("choice without tools", {"tool_choice": {"type": "auto"}}, "only be specified while providing tools"),
    ("two tools alike", {"tools": [SAVE_FILE, SAVE_FILE]}, "Tool names must be unique"),
    ("tool without schema", {"tools": [{"name": "a"}]}, "tools.0.custom.input_schema: Field required"),
    ("bad tool name", {"tools": [{**SAVE_FILE, "name": "a b"}]}, "should match pattern"),
    ("extra tool field", {"tools": [{**SAVE_FILE, "kind": 1}]}, "tools.0.custom.kind: Extra inputs"),
    ("no messages", {"messages": []}, "at least one message is required"),
    (
        "prefill",
        {"messages": [user("Hi"), assistant("I think")]},
        "does not support assistant message prefill",
    ),
    (
        "assistant first",
        {"messages": [assistant("Hi"), user("Hi")]},
        'first message must use the "user" role',
    ),
    ("system role", {"messages": [{"role": "system", "content": "x"}]}, "messages.0.role: Input should be"),
    ("extra message field", {"messages": [{**user("x"), "id": 1}]}, "messages.0.id: Extra inputs"),
    ("empty text", {"messages": [user("")]}, "text content blocks must be non-empty"),
    ("blank text", {"messages": [user("  \n")]}, "must contain non-whitespace text"),
    (
        "empty content",
        {"messages": [user(), user("x")]},
        "messages.0: all messages must have non-empty content",
    ),
    ("empty system block", {"system": [text("")]}, "system: text content blocks must be non-empty"),
    ("unknown block", {"messages": [user({"type": "poem"})]}, "Input tag 'poem' found"),
    ("extra block field", {"messages": [user(text("x", tone="warm"))]}, "content.0.text.tone: Extra inputs"),
    (
        "call of the user",
        {"messages": [user(call("t1"))]},
        "`tool_use` blocks can only be in `assistant` messages",
    ),
    (
        "result of the assistant",
        {"messages": [user("x"), assistant(result("t1")), user("y")]},
        "`tool_result` blocks can only be in `user` messages",
    ),
    (
        "unanswered call",
        {"messages": [user("x"), assistant(call("t1")), user("y")]},
        "`tool_use` ids were found without `tool_result` blocks immediately after: t1",
    ),
    (
        "one of two unanswered",
        {"messages": [user("x"), assistant(call("t1"), call("t2")), user(result("t1"))]},
        "immediately after: t2",
    ),
    (
        "result behind text",
        {"messages": [user("x"), assistant(call("t1")), user("so:", result("t1"))]},
        "immediately after: t1",
    ),
    ("orphan result", {"messages": [user(result("t9"))]}, "unexpected `tool_use_id` found in `tool_result`"),
    ("late result", {"messages": [*LOOKED_UP, assistant("ok"), user(result("t1"))]}, "messages.4.content.0"),
    (
        "two results",
        {"messages": [user("x"), assistant(call("t1")), user(result("t1"), result("t1"))]},
        "each tool_use must have a single result",
    ),
    (
        "id used twice",
        {"messages": [*LOOKED_UP, assistant(call("t1")), user(result("t1"))]},
        "`tool_use` ids must be unique",
    ),
    (
        "call of no valid name",
        {"messages": [user("x"), assistant(call("t1", "save file")), user(result("t1"))]},
        "tool_use.name: String should match pattern",
    ),
    (
        "input that is no object",
        {"messages": [user("x"), assistant({**call("t1"), "input": "{}"}), user(result("t1"))]},
        "tool_use.input: Input should be an object",
    ),
    (
        "error without words",
        {"messages": [user("x"), assistant(call("t1")), user(result("t1", "", is_error=True))]},
        "content cannot be empty if `is_error` is true",
    ),
    (
        "thinking nobody wrote",
        {
            "messages": [
                user("x"),
                assistant({"type": "thinking", "thinking": "hm", "signature": "abc"}, "y"),
                user("z"),
            ]
        },
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    ("five breakpoints", {"messages": marked(5)}, "A maximum of 4 blocks with cache_control"),
    (
        "five with the automatic one",
        {"messages": marked(4), "cache_control": SHORT},
        "A maximum of 4 blocks with cache_control may be provided. Found 5",
    ),
    (
        "an hour after five minutes",
        {
            "system": [text("a", cache_control=SHORT)],
            "messages": [user(text("b", cache_control=HOUR))],
        },
        "a ttl='1h' cache_control block must not come after",
    ),
    (
        "a TTL of a day",
        {"system": [text("a", cache_control={"type": "ephemeral", "ttl": "1d"})]},
        "ttl: Input should be '5m' or '1h'",
    ),
    ("blank stop sequence", {"stop_sequences": [" "]}, "stop_sequences"),
    ("unknown metadata", {"metadata": {"session": "x"}}, "metadata.session: Extra inputs"),
]


@pytest.mark.parametrize(
    ("changes", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
async def test_a_wrong_request_is_refused_with_its_reason(http: Http, changes: Any, message: str) -> None:
    status, answer, headers = await http.post(request_body(**changes))
    assert (status, answer["type"]) == (400, "error")
    assert answer["error"]["type"] == "invalid_request_error"
    assert message in answer["error"]["message"]
    assert answer["request_id"] == headers["request-id"]


@pytest.mark.parametrize("field", ["model", "max_tokens", "messages"])
async def test_a_missing_field_is_named(http: Http, field: str) -> None:
    body = request_body()
    del body[field]
    status, answer, _ = await http.post(body)
    assert (status, answer["error"]["message"]) == (400, f"{field}: Field required")


ANSWERED = [user("x"), assistant(call("a"))]
BUDGET = {"type": "enabled", "budget_tokens": 1024}
ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("thinking between tools", {"thinking": {"type": "between_tools"}, "output_config": {"effort": "high"}}),
    ("summarised thinking", {"thinking": {"type": "adaptive", "display": "summarized"}}),
    ("tools that may not be used", {"tools": [SAVE_FILE], "tool_choice": {"type": "none"}}),
    (
        "parallel results in another order",
        {"messages": [user("x"), assistant(call("a"), call("b")), user(result("b"), result("a"))]},
    ),
    ("words behind a result", {"messages": [*ANSWERED, user(result("a"), "and")]}),
    ("results and words apart", {"messages": [*ANSWERED, user(result("a")), user("y")]}),
    (
        "a caller that comes back",
        {"messages": [user("x"), assistant({**call("a"), "caller": {"type": "direct"}}), user(result("a"))]},
    ),
    ("an empty result", {"messages": [*ANSWERED, user(result("a", ""))]}),
    ("an hour before five minutes", {"system": [text("a", cache_control=HOUR)], "cache_control": SHORT}),
    ("a small model without thinking", {"model": "claude-haiku-5-5", "thinking": {"type": "disabled"}}),
    (
        "an old model with a budget",
        {"model": "claude-haiku-4-5-20251001", "max_tokens": 4000, "thinking": BUDGET},
    ),
    ("a model that is still to come", {"model": "claude-opus-7"}),
]


@pytest.mark.parametrize("changes", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
async def test_a_right_request_is_answered(http: Http, changes: Any) -> None:
    status, answer, _ = await http.post(request_body(**changes))
    assert (status, answer.get("role")) == (200, "assistant"), answer


async def test_the_answer_to_a_missing_key_is_401_and_to_a_missing_version_400(http: Http) -> None:
    status, answer, _ = await http.post(request_body(), headers={"anthropic-version": "2023-06-01"})
    assert (status, answer["error"]["type"]) == (401, "authentication_error")
    status, answer, _ = await http.post(request_body(), headers={"x-api-key": "k"})
    assert (status, answer["error"]["message"]) == (400, "anthropic-version: header is required")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"model": ', "The request body is not valid JSON"),
        (b'{"model": "\\ud800"}', "no low surrogate in string"),
        (b"[1]", "Input should be an object"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "nested too deeply"),
    ],
)
async def test_a_body_that_is_no_proper_json_is_refused(http: Http, raw: bytes, message: str) -> None:
    status, answer, _ = await http.post(raw)
    assert status == 400
    assert message in answer["error"]["message"]


async def test_another_providers_model_is_not_found(http: Http) -> None:
    status, answer, _ = await http.post(request_body(model="gpt-4"))
    assert (status, answer["error"]["message"]) == (404, "model: gpt-4")


async def test_a_request_over_32_megabytes_is_too_large(http: Http) -> None:
    status, answer, _ = await http.post(b" " * (32 * 1024 * 1024 + 1))
    assert (status, answer["error"]["type"]) == (413, "request_too_large")


async def test_an_unknown_path_answers_in_the_apis_shape(http: Http) -> None:
    status, answer, _ = await http.post(request_body(), path="/v1/poems")
    assert (status, answer["error"]["type"]) == (404, "not_found_error")


async def test_counting_takes_the_same_request_without_its_limits(http: Http) -> None:
    body = request_body(tools=[SAVE_FILE], system="Be kind.")
    status, answer, _ = await http.post(body, path="/v1/messages/count_tokens")
    assert (status, answer["error"]["message"]) == (400, "max_tokens: Extra inputs are not permitted")
    del body["max_tokens"]
    status, answer, _ = await http.post(body, path="/v1/messages/count_tokens")
    assert status == 200
    assert answer["input_tokens"] > 50


async def test_a_prompt_over_the_models_context_is_too_long(http: Http) -> None:
    body = request_body("word " * 200_000, model="claude-haiku-4-5-20251001")
    status, answer, _ = await http.post(body)
    assert status == 400
    assert "prompt is too long" in answer["error"]["message"]


async def test_every_request_leaves_a_record(http: Http, server: PracticeServer) -> None:
    await http.post(request_body("first"))
    await http.post(request_body(foo=1))
    good, bad = server.requests
    assert good.body["messages"][0]["content"] == "first"
    assert (good.status, good.stop_reason, bad.status) == (200, "end_turn", 400)
    assert "foo" in bad.error
