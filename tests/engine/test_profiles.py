"""Model profiles: what models accept, show and cost."""

from datetime import date
from decimal import Decimal

import pytest
from anthropic.resources.messages.messages import DEPRECATED_MODELS

from coaching.engine.anthropic_client import build_params
from coaching.engine.messages import ModelRequest
from coaching.engine.profiles import PROFILES, ModelProfile, Price, cost_micro_usd, profile_for
from coaching.engine.retirements import RETIREMENTS
from coaching.engine.usage import TokenCounts

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("model", "counts", "on", "cost"),
    [
        ("claude-sonnet-5-5", {"input_tokens": 1_000_000, "output_tokens": 1_000_000}, TODAY, 12_000_000),
        ("claude-sonnet-5-5", {"cache_read_tokens": 1_000_000}, TODAY, 100_000),
        ("claude-sonnet-5-5", {"cache_read_tokens": 1_000_000}, date(2026, 10, 7), 100_000),
        ("claude-sonnet-5-5", {"cache_read_tokens": 1_000_000}, date(2026, 10, 6), 200_000),
        (
            "claude-sonnet-5-5",
            {"cache_creation_5m_tokens": 1000, "cache_creation_1h_tokens": 1000},
            TODAY,
            6_500,
        ),
        ("claude-haiku-5-5", {"input_tokens": 100_000, "output_tokens": 1_000}, TODAY, 10_500),
        ("claude-haiku-5-5", {"input_tokens": 1, "cache_read_tokens": 100_000}, TODAY, 5_000),
        ("claude-haiku-5-5", {"cache_creation_1h_tokens": 100_001}, TODAY, 100_001),
        ("claude-haiku-4-5-20251001", {"input_tokens": 10, "output_tokens": 2}, TODAY, 20),
        ("claude-sonnet-5-5", {}, TODAY, 0),
        ("sage-practice", {"input_tokens": 1_000_000, "output_tokens": 1_000_000}, TODAY, 0),
        ("qwen-next", {"input_tokens": 10}, TODAY, None),
    ],
)
def test_an_answer_costs_what_its_day_and_size_say(
    model: str, counts: dict[str, int], on: date, cost: int | None
) -> None:
    assert cost_micro_usd(model, TokenCounts(**counts), on) == cost


def price(dollars: int, *, since: date = date.min, over_tokens: int = -1) -> Price:
    same = Decimal(dollars)
    return Price(
        since=since,
        over_tokens=over_tokens,
        input=same,
        output=same,
        cache_write_5m=same,
        cache_write_1h=same,
        cache_read=same,
    )


def test_a_new_price_replaces_all_bands_of_the_old_one_on_its_day() -> None:
    prices = (
        price(1),
        price(5, over_tokens=100),
        price(2, since=TODAY),
        price(3, since=TODAY.replace(day=22), over_tokens=50),
        price(4, since=TODAY.replace(day=22)),
    )
    profile = ModelProfile(model="m", prices=prices)

    def input_price(day: int, prompt_tokens: int) -> Decimal | None:
        found = profile.price(on=TODAY.replace(day=day), prompt_tokens=prompt_tokens)
        return found.input if found else None

    assert [input_price(20, 100), input_price(20, 101)] == [1, 5]
    assert [input_price(21, 100), input_price(21, 101)] == [2, 2]
    assert [input_price(22, 50), input_price(22, 51)] == [4, 3]
    coming = ModelProfile(model="m", prices=(price(1, since=TODAY),))
    assert coming.price(on=TODAY.replace(day=20), prompt_tokens=1) is None


def test_notes_are_shown_where_thinking_is_progress_and_never_for_unknown_models() -> None:
    assert profile_for("claude-sonnet-5-5").shows_notes(is_first_round=True)
    assert not profile_for("claude-haiku-5-5").shows_notes(is_first_round=True)
    assert profile_for("claude-haiku-5-5").shows_notes(is_first_round=False)
    assert not profile_for("qwen-next").shows_notes(is_first_round=False)


def test_nothing_that_current_models_refuse_is_ever_sent() -> None:
    refused = {"temperature", "top_p", "top_k"}
    for model in [*PROFILES, "qwen-next"]:
        request = ModelRequest(model=model, max_tokens=200_000, messages=[], tool_choice={"type": "none"})
        params = build_params(request)
        assert not refused & set(params)
        assert params.get("thinking", {}).get("type") in {None, "adaptive", "between_tools"}
        assert "budget_tokens" not in params.get("thinking", {})
        assert "tool_choice" not in params  # without tools it means nothing
        assert params["max_tokens"] <= profile_for(model).max_output_tokens


def test_a_request_is_sent_as_it_is() -> None:
    request = ModelRequest(
        model="claude-haiku-5-5",
        max_tokens=10,
        messages=[{"role": "user", "content": "Hi"}],
        system=[{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        tools=[{"name": "t"}],
        cache_control={"type": "ephemeral"},
        output_format={"type": "json_schema", "schema": {}},
    )
    assert build_params(request) == {
        "model": "claude-haiku-5-5",
        "max_tokens": 10,
        "messages": request.messages,
        "system": request.system,
        "tools": request.tools,
        "cache_control": {"type": "ephemeral"},
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    }


@pytest.mark.parametrize(
    ("model", "is_marked"), [("own-model", False), ("claude-opus-9", True), ("claude-sonnet-5-5", True)]
)
def test_only_claude_gets_a_breakpoint_on_the_request_itself(model: str, is_marked: bool) -> None:
    request = ModelRequest(
        model=model,
        messages=[{"role": "user", "content": "Hello"}],
        max_tokens=100,
        cache_control={"type": "ephemeral"},
    )
    assert ("cache_control" in build_params(request)) is is_marked


def test_every_model_that_the_sdk_deprecates_is_known_with_its_end_of_life() -> None:
    assert RETIREMENTS == DEPRECATED_MODELS
