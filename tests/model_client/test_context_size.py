"""The context of a model: what is set counts first, then what is known, then a small one."""

import pytest
from pytest_django import Settings

from coaching.model_client.context_size import (
    context_tokens_of,
    is_compact,
    most_input,
    most_result_bytes,
)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("claude-sonnet-5-5", 1_000_000), ("claude-new-9", 200_000), ("smollm2", 32_000)],
)
def test_a_known_model_has_its_own_and_any_other_a_small_one(model: str, tokens: int) -> None:
    assert context_tokens_of(model) == tokens
    assert not is_compact(model)


def test_what_is_set_counts_for_every_model(settings: Settings) -> None:
    settings.SAGE_CONTEXT_TOKENS = 8_192
    assert {context_tokens_of(model) for model in ("claude-sonnet-5-5", "smollm2")} == {8_192}
    assert is_compact("claude-sonnet-5-5")


def test_what_is_read_outside_of_turns_follows_from_it(settings: Settings) -> None:
    assert most_input("claude-sonnet-5-5", 80_000) == 80_000
    assert most_result_bytes("claude-sonnet-5-5") is None
    settings.SAGE_CONTEXT_TOKENS = 8_192
    assert most_input("claude-sonnet-5-5", 80_000) == 4_096
    assert most_result_bytes("claude-sonnet-5-5") == 4_096
