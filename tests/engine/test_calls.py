"""How a part runs calls: their order, their failures and their budgets."""

import asyncio
from collections.abc import Mapping

import pytest

from coaching.engine.calls import NOT_WITH_A_QUESTION, OVER_BUDGET, UNEXPECTED, WORDS_ONLY
from coaching.engine.errors import ToolError
from coaching.engine.events import (
    ToolCallFinished,
    ToolCallStarted,
)
from coaching.engine.tools import ToolCall, ToolResult
from tests.engine.upstream import (
    Bench,
    SaveInput,
    call,
    calling,
    saying,
)


async def test_three_saves_run_in_parallel_and_answer_in_one_message(bench: Bench) -> None:
    together = asyncio.Barrier(3)

    async def save(context: ToolCall, values: SaveInput) -> ToolResult:
        await together.wait()
        return ToolResult.of(path=values.path)

    bench.tool("save_file", save, conflict_key=lambda values: values.path)
    calls = [call(i, f"t{i}", "save_file", {"path": f"{i}.md", "content": "x"}) for i in (1, 2, 3)]
    bench.upstream.script(calling(*calls, text="Saving"), saying("Saved"))
    result = await bench.part()
    assert result.outcome == "completed"
    running = 0
    counts = []
    for item in bench.events:
        running += isinstance(item, ToolCallStarted) - isinstance(item, ToolCallFinished)
        counts.append(running)
    assert max(counts) == 3
    assert counts[-1] == 0
    assistant, answers = bench.upstream.requests[1]["messages"][-2:]
    assert [block["type"] for block in assistant["content"]] == ["text", "tool_use", "tool_use", "tool_use"]
    assert [block["tool_use_id"] for block in answers["content"]] == ["t1", "t2", "t3"]
    assert bench.recorder.log[0] == "round 1"
    assert bench.recorder.log[-1] == "round 2"
    assert bench.kinds()[-2:] == ["RoundBoundary", "TextDelta"]


async def test_saves_to_one_path_run_in_the_order_written(bench: Bench) -> None:
    began: list[str] = []
    second_began = asyncio.Event()

    async def save(context: ToolCall, values: SaveInput) -> ToolResult:
        began.append(context.tool_use_id)
        if context.tool_use_id == "other":
            second_began.set()
        elif context.tool_use_id == "one":
            await second_began.wait()  # calls that don't conflict aren't delayed
        return ToolResult.of(ok=True)

    bench.tool("save_file", save, conflict_key=lambda values: values.path)
    bench.upstream.script(
        calling(
            call(1, "one", "save_file", {"path": "a"}),
            call(2, "two", "save_file", {"path": "a"}),
            call(3, "other", "save_file", {"path": "b"}),
        ),
        saying("Done"),
    )
    await bench.part()
    assert began == ["one", "other", "two"]


async def test_entering_comes_first_and_completing_last(bench: Bench) -> None:
    bench.tool("enter", kind="lifecycle", phase="first")
    bench.tool("save_file")
    bench.tool("complete", kind="lifecycle", phase="last")
    bench.upstream.script(
        calling(call(1, "c", "complete"), call(2, "s", "save_file"), call(3, "e", "enter")), saying("Done")
    )
    await bench.part()
    assert bench.ran == ["e", "s", "c"]
    answers = bench.upstream.requests[1]["messages"][-1]["content"]
    assert [block["tool_use_id"] for block in answers] == ["c", "s", "e"]


async def test_completing_in_the_same_round_as_a_question_is_an_error_and_the_question_waits(
    bench: Bench,
) -> None:
    bench.tool("ask", kind="interactive")
    bench.tool("save_file")
    bench.tool("complete", kind="lifecycle", phase="last")
    bench.upstream.script(
        calling(
            call(1, "q1", "ask", {"path": "x"}),
            call(2, "c", "complete"),
            call(3, "s", "save_file"),
            call(4, "q2", "ask"),
            text="Well",
        )
    )
    result = await bench.part()
    assert result.outcome == "awaiting_user"
    assert [item.tool_use_id for item in result.pending] == ["q1", "q2"]
    assert bench.ran == ["s"]
    assert bench.recorder.results["c"] == ToolResult.error(NOT_WITH_A_QUESTION)
    assert set(bench.recorder.results) == {"c", "s"}
    assert result.pending[0].input == {"path": "x", "content": ""}
    assert len(bench.upstream.requests) == 1


async def test_a_confirm_tool_runs_at_once_where_nothing_waits(bench: Bench) -> None:
    bench.tool("create_note", kind="confirm")
    bench.upstream.script(calling(call(1, "n", "create_note")), saying("Done"))
    result = await bench.part(waiting_kinds=frozenset())
    assert (result.outcome, bench.ran) == ("completed", ["n"])


async def test_a_call_is_checked_before_it_waits(bench: Bench) -> None:
    async def check(_: ToolCall, values: SaveInput) -> Mapping[str, str]:
        if values.path == "broken":
            raise ZeroDivisionError
        if values.path == "gone":
            raise ToolError("There is no such client.")
        return {"For": "Anna"}

    bench.tool("create_note", kind="confirm", check=check)
    calls = [
        call(n, path, "create_note", {"path": path}) for n, path in enumerate(("gone", "fine", "broken"), 1)
    ]
    bench.upstream.script(calling(*calls))
    result = await bench.part()
    assert [(item.tool_use_id, item.details) for item in result.pending] == [("fine", {"For": "Anna"})]
    assert bench.recorder.results == {
        "gone": ToolResult.error("There is no such client."),
        "broken": ToolResult.error(UNEXPECTED),
    }
    assert bench.ran == []


async def test_an_interactive_call_with_bad_input_is_an_error_result_and_does_not_wait(bench: Bench) -> None:
    bench.tool("ask", kind="interactive")
    bench.upstream.script(calling(call(1, "q", "ask", {"nonsense": 1})), saying("Oh"))
    result = await bench.part()
    assert result.outcome == "completed"
    assert "nonsense" in bench.recorder.results["q"].content


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (call(1, "t", "no_such_tool"), "no tool of that name"),
        (call(1, "t", "save_file", {"path": 5}), "path:"),
        (call(1, "t", "save_file", {"content": "x" * 1001}), "content:"),
        (call(1, "t", "save_file", raw='{"path": "a'), "not one valid JSON object"),
        (call(1, "t", "save_file", raw="[1]"), "not one valid JSON object"),
        (call(1, "t", "save_file", raw='{"path": NaN}'), "not one valid JSON object"),
        (call(1, "t", "save_file", raw='{"path": "\\ud800"}'), "lone surrogate"),
        (call(1, "t", "save_file", raw="[" * 5000), "not one valid JSON object"),
    ],
)
async def test_what_a_model_gets_wrong_becomes_an_error_result(
    bench: Bench, written: bytes, told: str
) -> None:
    bench.tool("save_file")
    bench.upstream.script(calling(written), saying("Sorry"))
    result = await bench.part()
    assert result.outcome == "completed"
    assert bench.ran == []
    assert told in bench.recorder.results["t"].content
    answer = bench.upstream.requests[1]["messages"][-1]["content"][0]
    assert answer["is_error"] is True
    assert not [item for item in bench.events if isinstance(item, ToolCallStarted)]


async def test_each_failure_is_its_own_and_says_nothing_of_our_insides(bench: Bench) -> None:
    async def refuse(context: ToolCall, values: SaveInput) -> ToolResult:
        raise ToolError("The name is taken. Use another.")

    async def crash(context: ToolCall, values: SaveInput) -> ToolResult:
        raise RuntimeError("secret insides")

    bench.tool("refuse", refuse)
    bench.tool("crash", crash)
    bench.tool("save_file")
    bench.upstream.script(
        calling(call(1, "r", "refuse"), call(2, "c", "crash"), call(3, "s", "save_file")), saying("Ok")
    )
    assert (await bench.part()).outcome == "completed"
    results = bench.recorder.results
    assert results["r"] == ToolResult.error("The name is taken. Use another.")
    assert results["c"] == ToolResult.error(UNEXPECTED)
    assert not results["s"].is_error


async def test_the_fifth_round_is_asked_without_tools_and_ends_in_words(bench: Bench) -> None:
    bench.tool("save_file")
    rounds = [calling(call(1, f"t{i}", "save_file")) for i in range(4)]
    bench.upstream.script(*rounds, saying("That was it"))
    result = await bench.part()
    assert (result.outcome, result.stop_reason) == ("completed", "end_turn")
    choices = [sent.get("tool_choice") for sent in bench.upstream.requests]
    assert choices == [None] * 4 + [{"type": "none"}]
    assert all(sent["tools"] for sent in bench.upstream.requests)


async def test_a_server_that_calls_in_spite_of_that_gets_errors_and_no_further_round(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(*[calling(call(1, f"t{i}", "save_file"), text="…") for i in range(9)])
    result = await bench.part()
    assert result.outcome == "completed"
    assert len(bench.upstream.requests) == 5
    assert bench.ran == ["t0", "t1", "t2", "t3"]
    assert bench.recorder.results["t4"] == ToolResult.error(WORDS_ONLY)


async def test_the_sixteenth_call_is_refused(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(calling(*[call(i, f"t{i}", "save_file") for i in range(1, 17)]), saying("Enough"))
    await bench.part()
    assert len(bench.ran) == 15
    assert bench.recorder.results["t16"] == ToolResult.error(OVER_BUDGET)
    assert bench.upstream.requests[1]["tool_choice"] == {"type": "none"}


async def test_two_rounds_of_failures_end_the_part_with_a_message(bench: Bench) -> None:
    bench.tool("save_file")
    bench.upstream.script(*[calling(call(1, f"t{i}", "nope")) for i in range(3)])
    result = await bench.part()
    assert result.outcome == "failed"
    assert result.failure is not None
    assert result.failure.reason == "tools_failing"
    assert result.user_message
    assert set(bench.recorder.results) == {"t0", "t1"}


async def test_a_success_between_failures_is_no_reason_to_give_up(bench: Bench) -> None:
    bench.tool("save_file")
    names = ["nope", "save_file", "nope"]
    bench.upstream.script(*[calling(call(1, f"t{i}", name)) for i, name in enumerate(names)], saying("So"))
    assert (await bench.part()).outcome == "completed"
