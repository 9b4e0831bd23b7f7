"""A reply gets no more tokens than its prompt leaves of the context."""

import pytest

from coaching.engine.request_size import IMAGE_TOKENS, LEAST_REPLY_TOKENS, room_for_reply


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


def test_a_picture_counts_by_its_pixels_and_not_by_its_bytes() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 900_000},
    }
    content = [picture, {"type": "text", "text": "x" * 3_400}, picture]
    asked = {"max_tokens": 8_192, "messages": [{"role": "user", "content": content}]}
    assert room_for_reply(asked, 32_000) == 8_192
    left = room_for_reply(asked, 8_192)
    assert 8_192 - 1_200 - 2 * IMAGE_TOKENS < left < 8_192 - 1_000 - 2 * IMAGE_TOKENS
