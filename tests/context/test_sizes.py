"""How a context is shared: everything fits with an answer, and large ones have the usual limits."""

import pytest

from coaching.context.budget import PROMPT_TOKENS, SPARE_TOKENS, count_tokens, is_short
from coaching.context.new_opening import OPENING_SHARE
from coaching.context.sizes import ANSWER_SHARE, PromptSizes, sizes_of
from coaching.context.window import MAX_TOKENS


def sizes(context: int, frame: int = 5_500) -> PromptSizes:
    return sizes_of(context, frame_tokens=frame, answer_tokens=8_192, messages=15, step=20)


@pytest.mark.parametrize(
    ("context", "frame"), [(8_192, 2_200), (12_000, 2_200), (16_000, 7_200), (32_000, 7_200), (65_536, 7_200)]
)
def test_frame_opening_window_and_answer_fit_together(context: int, frame: int) -> None:
    found = sizes(context, frame)
    answer = min(8_192, int(context * ANSWER_SHARE))
    assert frame + found.room + found.window + answer + SPARE_TOKENS <= context
    assert found.room * OPENING_SHARE > 400
    assert found.window > 2_000


def test_a_large_context_has_the_usual_limits() -> None:
    assert sizes(200_000) == PromptSizes(
        room=PROMPT_TOKENS - SPARE_TOKENS - 5_500,
        window=MAX_TOKENS,
        older_message=60_000,
        result_bytes=10_000,
        messages=15,
        step=20,
    )


def test_a_small_context_has_a_small_window() -> None:
    assert (sizes(15_999).messages, sizes(16_000).messages) == (7, 15)
    assert sizes(8_192, 2_200).result_bytes == 4_096


def test_a_frame_larger_than_the_context_leaves_no_window() -> None:
    assert sizes(4_000).window == 0


@pytest.mark.parametrize("character", ["a", "é", "€", "\U0001f642", "\ud800"])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 100, 1_001])
def test_a_short_text_fits_whatever_its_characters_are(character: str, length: int) -> None:
    text = character * length
    fewest = next(tokens for tokens in range(10 * length) if is_short(text, tokens))
    assert count_tokens(text) <= fewest
