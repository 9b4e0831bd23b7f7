"""What the comparison of a recording with what was played tells: silence, and what is missing."""

import random
from array import array

import pytest

from coaching.voice.sound import RATE
from tests.voice.speech import compare

PART = RATE // 50
"""20 milliseconds."""
EARLY, LATER = RATE // 10, 2 * RATE
SILENCE = array("h", [0]) * PART
CHANCE = random.Random(32)
PLAYED = array("h", (CHANCE.choice((-1, 1)) * CHANCE.randint(1, 9000) for _ in range(4 * RATE)))


def changed(place: int, *, silent: bool, lost: bool) -> "array[int]":
    """Return what was played with silence at a place, instead of a part of it, or without the part."""
    return PLAYED[:place] + SILENCE * silent + PLAYED[place + PART * lost :]


@pytest.mark.parametrize(
    ("heard", "missing_ms", "lost_ms", "silent_ms"),
    [
        pytest.param(SILENCE + PLAYED, -20, 0, 0, id="begun earlier"),
        pytest.param(PLAYED[PART:], 20, 0, 0, id="without its beginning"),
        pytest.param(changed(EARLY, silent=True, lost=False), 0, 0, 20, id="with a pause at the beginning"),
        pytest.param(changed(EARLY, silent=True, lost=True), 20, 0, 20, id="with a hole at the beginning"),
        pytest.param(changed(LATER, silent=True, lost=False), 0, 0, 20, id="with a pause"),
        pytest.param(changed(LATER, silent=True, lost=True), 0, 20, 20, id="with a hole"),
        pytest.param(changed(LATER, silent=False, lost=True), 0, 20, 0, id="without a part"),
    ],
)
def test_a_pause_that_a_browser_adds_is_no_loss_and_a_hole_is(
    heard: "array[int]", missing_ms: float, lost_ms: float, silent_ms: float
) -> None:
    compared = compare(PLAYED, heard)
    assert (compared.missing_ms, compared.lost_ms, compared.silent_ms) == (missing_ms, lost_ms, silent_ms)
    assert compared.correlation > 0.9
