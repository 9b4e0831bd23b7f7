"""A reply gets no more tokens than its prompt leaves of the context."""

import pytest

from coaching.engine.anthropic_client import LEAST_REPLY_TOKENS, room_for_reply


def params(characters: int, *, wanted: int = 8_192) -> dict[str, object]:
    return {"max_tokens": wanted, "messages": [{"role": "user", "content": "x" * characters}]}


@pytest.mark.parametrize(
    ("characters", "context", "least", "most"),
    [
        (100, 1_000_000, 8_192, 8_192),
        (100, 32_000, 8_192, 8_192),
        (17_000, 8_192, 3_000, 3_192),
        (60_000, 8_192, LEAST_REPLY_TOKENS, LEAST_REPLY_TOKENS),
    ],
)
def test_what_the_prompt_leaves(characters: int, context: int, least: int, most: int) -> None:
    assert least <= room_for_reply(params(characters), context) <= most


def test_a_short_reply_that_was_wanted_stays_short() -> None:
    assert room_for_reply(params(60_000, wanted=100), 8_192) == 100
