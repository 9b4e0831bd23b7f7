"""Structured output that comes as prose is asked for once more, with its schema in words."""

import json
from typing import Any

import pytest

from coaching.engine.budget import PartLimits
from coaching.engine.json_text import is_object, without_fence
from coaching.engine.messages import ModelRequest
from tests.engine.upstream import Answer, Bench, call, calling, end, saying, start, words

SCHEMA = {"type": "object", "properties": {"level": {"type": "string"}}, "required": ["level"]}
GOOD = '{"level": "none"}'
PROSE = "The level is none."


def request(**more: Any) -> ModelRequest:
    return ModelRequest(
        model="local-model",
        max_tokens=100,
        messages=[{"role": "user", "content": "Which level?"}],
        output_format={"type": "json_schema", "schema": SCHEMA},
        **more,
    )


async def test_prose_is_asked_for_once_more(bench: Bench) -> None:
    bench.upstream.script(saying(PROSE), saying(GOOD))
    result = await bench.part(request=request())
    assert (result.outcome, result.stop_reason) == ("completed", "end_turn")
    assert [finished.text for finished in bench.recorder.rounds] == [GOOD]
    assert len(bench.recorder.usages) == 2, "both are spent"
    first, second = bench.upstream.requests
    assert second["output_config"] == first["output_config"]
    (message,) = second["messages"]
    asked, in_words = message["content"]
    assert asked["text"] == "Which level?"
    assert json.dumps(SCHEMA, separators=(",", ":")) in in_words["text"]


async def test_prose_a_second_time_is_the_answer(bench: Bench) -> None:
    bench.upstream.script(saying(PROSE))
    result = await bench.part(request=request())
    assert (result.outcome, len(bench.upstream.requests)) == ("completed", 2)
    assert [finished.text for finished in bench.recorder.rounds] == [PROSE]


@pytest.mark.parametrize("text", [GOOD, f"```json\n{GOOD}\n```", f"\n```\n{GOOD}```\n"])
async def test_an_object_is_taken_as_it_is_also_in_a_fence(bench: Bench, text: str) -> None:
    bench.upstream.script(saying(text))
    await bench.part(request=request())
    assert len(bench.upstream.requests) == 1
    assert json.loads(without_fence(text)) == {"level": "none"}


async def test_it_is_asked_in_words_after_a_call_too(bench: Bench) -> None:
    bench.tool("look")
    definitions = [tool.definition() for tool in bench.tools]
    bench.upstream.script(calling(call(1, "t", "look")), saying(PROSE), saying(GOOD))
    result = await bench.part(request=request(tools=definitions))
    assert result.outcome == "completed"
    assert [finished.text for finished in bench.recorder.rounds] == ["", GOOD]
    kinds = [block["type"] for block in bench.upstream.requests[-1]["messages"][-1]["content"]]
    assert kinds == ["tool_result", "text"]


async def test_without_as_much_time_again_the_prose_is_the_answer(bench: Bench) -> None:
    bench.upstream.script(Answer(start(), 0.8, words(0, PROSE) + end("end_turn")), saying(GOOD))
    result = await bench.part(request=request(), limits=PartLimits(seconds=1.5))
    assert (result.outcome, len(bench.upstream.requests)) == ("completed", 1)
    assert [finished.text for finished in bench.recorder.rounds] == [PROSE]


async def test_a_refusal_is_no_prose(bench: Bench) -> None:
    bench.upstream.script(Answer(start() + words(0, "No.") + end("refusal")))
    await bench.part(request=request())
    assert len(bench.upstream.requests) == 1


@pytest.mark.parametrize("text", ["", "none", '"none"', "[1]", "{", '{"a": 1} and more', "```\nx\n```"])
def test_what_is_no_object(text: str) -> None:
    assert not is_object(text)
