"""The judge: asked twice with the answers swapped, and only what both rounds say counts."""

import json
from typing import Any

import pytest

from coaching.engine.anthropic_client import AnthropicClient
from coaching.practice.script import Reply
from coaching.practice.server import PracticeServer
from tests.evals.judge import Judged, Verdict, build_request, judge, judge_all, points_of, together
from tests.evals.situation import FOLDER, read_situation
from tests.evals.transcript import Answer, Transcript

SITUATION = read_situation(FOLDER / "step-moved.yaml")
FOUND = Transcript(answers=[Answer(asked="Not yet.", text="Then Saturday.")])


def verdict(met_by_a: list[int], met_by_b: list[int], better: str) -> Verdict:
    return Verdict.model_validate({"met_by_a": met_by_a, "met_by_b": met_by_b, "better": better})


def test_only_what_both_rounds_say_counts() -> None:
    judged = together(verdict([1, 2, 9], [1], "A"), verdict([1], [2], "B"), points=2)
    assert judged == Judged(met=frozenset({2}), points=2, better="model", agreed=2)


def test_a_judge_that_prefers_a_place_decides_nothing() -> None:
    judged = together(verdict([1], [], "A"), verdict([1], [], "A"), points=1)
    assert judged == Judged(met=frozenset(), points=1, better="neither", agreed=0)


def test_the_answers_change_places_and_nothing_else_does() -> None:
    texts = [
        build_request(SITUATION, FOUND, own=own, model="m").messages[0]["content"][0]["text"]
        for own in ("A", "B")
    ]
    assert "<answer_a>\nThen Saturday." in texts[0]
    assert "<answer_b>\nThen Saturday." in texts[1]
    assert texts[0].partition("<answer_a>")[0] == texts[1].partition("<answer_a>")[0]
    assert texts[0].partition("<points>")[2] == texts[1].partition("<points>")[2]
    assert "Coach: Today was the day" in texts[0]
    assert texts[0].count("Not yet.") == 1


def test_points_that_must_not_be_are_marked() -> None:
    assert points_of(SITUATION)[-1].startswith("Never: ")


@pytest.fixture
def answer() -> dict[str, Any]:
    return {"met_by_a": [1], "met_by_b": [1], "better": "neither"}


async def test_it_asks_the_model_twice_and_counts_what_it_cost(answer: dict[str, Any]) -> None:
    async with PracticeServer(tokens_per_second=0, keeps_bodies=True) as server:
        server.script([Reply.of(json.dumps(answer))] * 2)
        async with AnthropicClient("practice", server.url) as client:
            judged = await judge(SITUATION, FOUND, client=client, model="claude-sonnet-5-5")
        assert len(server.requests) == 2
    assert judged.met == frozenset({1})
    assert judged.spent.micro_usd
    assert judged.spent.output_tokens


async def test_a_situation_whose_judge_answers_nonsense_has_no_verdict(answer: dict[str, Any]) -> None:
    async with PracticeServer(tokens_per_second=0) as server:
        server.script([Reply.of("Both are lovely.")])
        async with AnthropicClient("practice", server.url) as client:
            assert await judge_all([(SITUATION, FOUND)], client=client, model="claude-sonnet-5-5") == {}
