"""A request that doesn't fit the model's context is sent again smaller, whatever the server calls that."""

from dataclasses import replace
from typing import Any

import pytest

from coaching.engine.decisions import MAX_SHRINKS
from coaching.engine.failures import failure_of
from coaching.engine.messages import ModelRequest
from tests.engine.upstream import Answer, Bench, event, saying, start, words

LLAMA_CPP = {
    "error": {
        "code": 400,
        "message": "request (8679 tokens) exceeds the available context size (8192 tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 8679,
        "n_ctx": 8192,
    }
}
OLLAMA = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "prompt too long; exceeded max context length by 487 tokens",
    },
}
VLLM = {
    "object": "error",
    "message": "This model's maximum context length is 8192 tokens. However, you requested 10727 tokens "
    "(8679 in the messages, 2048 in the completion). Please reduce the length of the messages.",
    "type": "BadRequestError",
    "param": None,
    "code": 400,
}
VLLM_PROMPT = {
    "error": {
        "message": "The decoder prompt (length 8679) is longer than the maximum model length of 8192.",
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    }
}
LITELLM = {
    "error": {
        "message": "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: "
        "OpenAIException - the prompt has 8679 tokens",
        "type": None,
        "param": None,
        "code": "400",
    }
}
LM_STUDIO = {
    "error": "Trying to keep the first 8679 tokens when context the overflows. However, the model is "
    "loaded with context length of only 4096 tokens, which is not enough."
}
OPENAI = {
    "error": {
        "message": "Your messages resulted in 8679 tokens. Please reduce their length.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
}
ANTHROPIC = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "prompt is too long: 214563 tokens > 200000 maximum",
    },
}
FASTAPI = {"detail": "The prompt is 8679 tokens, longer than the context size of 8192."}
FASTAPI_FIELDS = {
    "detail": [
        {"type": "value_error", "loc": ["body", "messages"], "msg": "prompt is too long: 8679 tokens"},
    ]
}
FASTAPI_NESTED = {"detail": {"error": {"message": "prompt exceeds the context window", "type": "x"}}}
BODIES = {
    "FastAPI": FASTAPI,
    "FastAPI's fields": FASTAPI_FIELDS,
    "FastAPI, nested": FASTAPI_NESTED,
    "llama.cpp": LLAMA_CPP,
    "Ollama": OLLAMA,
    "vLLM": VLLM,
    "vLLM's prompt": VLLM_PROMPT,
    "LiteLLM": LITELLM,
    "LM Studio": LM_STUDIO,
    "OpenAI": OPENAI,
    "Anthropic": ANTHROPIC,
}
SHORT = [{"role": "user", "content": "Short"}]


async def shrink(request: ModelRequest) -> ModelRequest:
    return replace(request, messages=SHORT)


async def shrink_no_more(_request: ModelRequest) -> None:
    return None


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_a_request_that_is_too_long_is_sent_smaller(bench: Bench, body: Any) -> None:
    bench.upstream.script(Answer(status=400, body=body), saying("Fits"))
    result = await bench.part(shrink=shrink)
    assert (result.outcome, result.stop_reason, bench.shown()) == ("completed", "end_turn", "Fits")
    assert [sent["messages"] for sent in bench.upstream.requests[1:]] == [SHORT]


async def test_it_gets_smaller_until_it_fits(bench: Bench) -> None:
    bench.upstream.script(*[Answer(status=400, body=LLAMA_CPP)] * 3, saying("Fits"))
    result = await bench.part(shrink=shrink)
    assert (result.outcome, bench.shown(), len(bench.upstream.requests)) == ("completed", "Fits", 4)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_what_stays_too_long_is_called_that(bench: Bench, body: Any) -> None:
    bench.upstream.script(Answer(status=400, body=body))
    result = await bench.part(shrink=shrink)
    sent = 1 + MAX_SHRINKS
    assert (result.outcome, len(bench.upstream.requests)) == ("failed", sent)
    assert result.user_message == "It failed: too_long."
    assert result.failure is not None
    assert result.failure.cause == "request"
    result = await bench.part(shrink=shrink_no_more)
    assert (result.user_message, len(bench.upstream.requests)) == ("It failed: too_long.", sent + 1)
    result = await bench.part()
    assert (result.user_message, len(bench.upstream.requests)) == ("It failed: too_long.", sent + 2)


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}},
        {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}},
        LLAMA_CPP,
    ],
)
async def test_a_context_that_fills_up_under_way_replaces_what_was_said(
    bench: Bench, error: dict[str, Any]
) -> None:
    begun = start() + words(0, "Half a ", is_closed=False)
    for failing in (event("error", **error), b"data: " + event("", **error).split(b"data: ")[1]):
        bench.recorder.rounds.clear()
        bench.upstream.script(Answer(begun + failing), saying("Fits"))
        result = await bench.part(shrink=shrink)
        assert result.outcome == "completed"
        assert [finished.text for finished in bench.recorder.rounds] == ["Fits"]
        assert bench.kinds()[-3:] == ["TextDelta", "RoundRestarted", "TextDelta"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"type": "invalid_request_error", "message": "messages.3.content: Field required"}}),
        (
            429,
            {
                "error": {
                    "type": "rate_limit_error",
                    "message": "context length over tokens per minute",
                }
            },
        ),
        (503, {"error": {"message": "loading model", "type": "unavailable_error"}}),
        (400, {"error": {"message": "Invalid value for the context length: must be a number"}}),
        (400, {"error": {"message": "unknown option 'context window'"}}),
        (422, {"detail": [{"loc": ["body", "max_tokens"], "msg": "Input should be greater than 0"}]}),
        (500, {"error": {"message": "failed to load a model with a context size of 8192"}}),
        (400, {"detail": ["context length exceeded"]}),
        (400, {"error": {"message": ["context length"]}}),
        (400, ["context length"]),
        (400, None),
    ],
)
def test_other_failures_keep_their_reason(status: int, body: Any) -> None:
    assert failure_of(status, "", {}, body=body).reason == failure_of(status, "", {}).reason != "too_long"
