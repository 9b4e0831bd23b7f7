"""What the comparison of a recording with what was played tells: silence, holes, and what is missing."""

import random
from array import array

import pytest

from coaching.voice.sound import RATE
from tests.voice.speech import compare

PART = RATE // 50
"""20 milliseconds."""
PLACE = 2 * RATE
SILENCE = array("h", [0]) * PART
CHANCE = random.Random(32)
PLAYED = array("h", (CHANCE.choice((-1, 1)) * CHANCE.randint(1, 9000) for _ in range(4 * RATE)))


@pytest.mark.parametrize(
    ("heard", "silent_ms", "lost_ms"),
    [
        pytest.param(PLAYED, 0, 0, id="as it was played"),
        pytest.param(PLAYED[:PLACE] + SILENCE + PLAYED[PLACE:], 20, 0, id="silence is added"),
        pytest.param(PLAYED[:PLACE] + SILENCE + PLAYED[PLACE + PART :], 20, 20, id="a hole"),
        pytest.param(PLAYED[:PLACE] + PLAYED[PLACE + PART :], 0, 20, id="a part is missing"),
    ],
)
def test_silence_that_was_added_isnt_a_loss_and_a_hole_is(
    heard: "array[int]", silent_ms: float, lost_ms: float
) -> None:
    compared = compare(PLAYED, heard)
    assert (compared.silent_ms, compared.lost_ms, compared.missing_ms) == (silent_ms, lost_ms, 0)
    assert compared.correlation > 0.95
