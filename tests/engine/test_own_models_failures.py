"""After a failure, the answer of a model without a profile is shown cleaned, and only that is sent on."""

import json
from typing import Any

import pytest

from coaching.engine.messages import ModelRequest, StoredMessage, build_api_messages
from tests.engine.test_too_long import LITELLM, LLAMA_CPP, LM_STUDIO, OLLAMA, VLLM, shrink
from tests.engine.upstream import SAVED_FIELDS, Answer, Bench, event, failing, saying, start, stored, words

SERVERS = {"llama.cpp": LLAMA_CPP, "Ollama": OLLAMA, "vLLM": VLLM, "LiteLLM": LITELLM, "LM Studio": LM_STUDIO}
ASKED, GO_ON = (StoredMessage(role="user", content=text) for text in ("Hello", "Go on"))
CLEAN = saying("They greet me.\n</think>\n\nHello there<|im_end|>\n<|im_start|>user\nHi")
HALF = start() + words(0, "<think>Half a ", is_closed=False)
BROKEN = HALF + event("error", error={"type": "api_error", "message": "no"})


def request(*history: StoredMessage) -> ModelRequest:
    return ModelRequest(
        model="local-model", max_tokens=100, messages=build_api_messages(list(history), SAVED_FIELDS)
    )


async def next_messages(bench: Bench) -> list[dict[str, Any]]:
    """Return the messages of the request of the next turn."""
    history = (ASKED, stored(bench), GO_ON)
    await bench.part(request=request(*history))
    messages: list[dict[str, Any]] = bench.upstream.requests[-1]["messages"]
    return messages


@pytest.mark.parametrize("body", SERVERS.values(), ids=SERVERS)
async def test_after_a_request_that_was_too_long(bench: Bench, body: Any) -> None:
    bench.upstream.script(Answer(status=400, body=body), CLEAN)
    result = await bench.part(request=request(ASKED), shrink=shrink)
    assert (result.outcome, result.user_message) == ("completed", None)
    await shows_only_the_answer(bench)


@pytest.mark.parametrize(
    "failures",
    [
        [failing(500)],
        [failing(500), failing(500), failing(500)],
        [Answer(status=500, body={"error": {"code": 500, "message": "no", "type": "server_error"}})],
        [Answer(BROKEN)],
        [failing(500), Answer(BROKEN)],
    ],
    ids=["once", "three times", "llama.cpp", "under way", "both"],
)
async def test_after_errors_of_the_server(bench: Bench, failures: list[Answer]) -> None:
    bench.upstream.script(*failures, CLEAN)
    result = await bench.part(request=request(ASKED))
    assert (result.outcome, result.user_message) == ("completed", None)
    assert len(bench.upstream.requests) == len(failures) + 1
    await shows_only_the_answer(bench)


async def test_what_an_error_leaves_of_reasoning_is_no_answer(bench: Bench) -> None:
    bench.upstream.script(Answer(BROKEN))
    result = await bench.part(request=request(ASKED))
    assert (result.outcome, result.user_message) == ("failed", "It failed: unavailable.")
    assert [finished.text for finished in bench.recorder.rounds] in ([], [""])
    assert "Half" not in json.dumps(await next_messages(bench))


async def shows_only_the_answer(bench: Bench) -> None:
    assert [finished.text for finished in bench.recorder.rounds] == ["Hello there"]
    assert bench.shown().endswith("Hello there")
    _, answer, _ = await next_messages(bench)
    assert answer == {"role": "assistant", "content": [{"type": "text", "text": "Hello there"}]}
