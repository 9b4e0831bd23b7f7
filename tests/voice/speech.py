"""Speech for tests: sentences by eSpeak NG, with noise, and how much of them a recording has."""

import operator
import random
import shutil
import subprocess
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, groupby, starmap
from math import sqrt

from coaching.voice.sound import RATE
from tests.groups import require
from tests.voice.sounds import samples_of

PROGRAM = "espeak-ng"
TEXTS = {
    "en": "On day {n} I called my mother. She was glad, and we talked about the garden for a while.",
    "de": "Am Tag {n} rief ich meine Mutter an. Sie freute sich, und wir sprachen lange über den Garten.",
    "es": "El día {n} llamé a mi madre. Se alegró mucho, y hablamos un buen rato de su jardín.",
}
QUIET = 300
"""Of 32,767. Before its first sound and after its last, eSpeak NG writes samples below."""
NOISE = 3
"""How loud each sample of the noise is, which goes from -128 to 127: as of a fan in the room."""
STEP = 8
"""Samples of which a rough comparison takes the mean."""
WINDOW = RATE
MOST_OFF = RATE // 2
MOST_MOVED = RATE // 10
ALIKE = 0.95
LEAST_SILENCE = RATE // 200
"""Samples without any noise, which a microphone never gives: the browser wrote silence."""


def require_speech() -> None:
    """Skip the test without eSpeak NG; fail if SAGE_TEST_REQUIRE names it."""
    require("speech", shutil.which(PROGRAM) is not None, f"{PROGRAM} on the PATH, of the package {PROGRAM}")


def spoken(text: str, *, voice: str) -> "array[int]":
    """Return what a voice says, from its first sound to its last, 16,000 samples a second."""
    command = [PROGRAM, "--stdout", "-v", voice, text]
    wav = subprocess.run(command, capture_output=True, check=True).stdout
    samples = _at_our_rate(samples_of(wav), rate=int.from_bytes(wav[24:28], "little"))
    loud = [number for number, sample in enumerate(samples) if abs(sample) > QUIET]
    return samples[loud[0] : loud[-1] + 1]


def speech(language: str, *, seconds: float) -> "array[int]":
    """Return so many seconds of speech with noise; no two sentences are the same."""
    length = round(seconds * RATE)
    samples = array("h")
    for number in count(1):
        if len(samples) >= length:
            break
        samples += spoken(TEXTS[language].format(n=number), voice=language)
    noise = array("b", random.Random(7).randbytes(length))
    noisy = (sample + NOISE * each for sample, each in zip(samples, noise, strict=False))
    return array("h", (max(-32767, min(32767, sample)) for sample in noisy))


def _at_our_rate(samples: Sequence[int], *, rate: int) -> "array[int]":
    if rate == RATE:
        return array("h", samples)
    found = array("h")
    for number in range(int((len(samples) - 1) * RATE / rate)):
        place = number * rate / RATE
        before = int(place)
        found.append(round(samples[before] + (place - before) * (samples[before + 1] - samples[before])))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The sounds of a recording beside what was played.

    Chromium's audio thread writes silence where the microphone's thread has nothing for it, most often in the
    first half second, and keeps 100 ms of what it doesn't take in time. Silence alone makes a pause, so it is
    taken out before: if it stood in the place of something that was played, that is missing then.
    """

    correlation: float
    """Of all that both have."""
    end_correlation: float
    """Of the last second that both have."""
    missing_ms: float
    """What the recording hasn't of the first half second; negative if it began earlier."""
    lost_ms: float
    """What it hasn't of the rest of what was played, before its end."""
    silent_ms: float
    """The silence that the browser wrote between the first sound and the last."""
    end_ms: float
    """How much longer the recording goes on than what was played."""


def compare(played: Sequence[int], heard: Sequence[int]) -> Comparison:
    """Find what was played, with noise, in a recording, which began up to half a second earlier or later."""
    heard, silent = _without_silence(heard)
    first = late = (
        _place(played[MOST_OFF : MOST_OFF + WINDOW], heard, around=MOST_OFF, most=MOST_OFF) - MOST_OFF
    )
    pairs: list[tuple[Sequence[int], Sequence[int]]] = []
    for start in range(max(0, -late), len(played), WINDOW):
        ours, theirs = _both(played[start : start + WINDOW], heard[start + late : start + late + WINDOW])
        if len(ours) < WINDOW and pairs:
            break
        if _correlation(ours, theirs) < ALIKE:
            place = _place(ours, heard, around=start + late, most=MOST_MOVED)
            other = _both(ours, heard[place : place + WINDOW])
            if _correlation(*other) > _correlation(ours, theirs):
                late, (ours, theirs) = place - start, other
        pairs.append((ours, theirs))
    products, one, other = (sum(each) for each in zip(*starmap(_products, pairs), strict=True))
    return Comparison(
        correlation=products / sqrt(one * other or 1),
        end_correlation=_correlation(*pairs[-1]),
        missing_ms=-first * 1000 / RATE,
        lost_ms=(first - late) * 1000 / RATE,
        silent_ms=silent * 1000 / RATE,
        end_ms=(len(heard) - late - len(played)) * 1000 / RATE,
    )


def _without_silence(heard: Sequence[int]) -> "tuple[array[int], int]":
    """Return a recording without the silence between its sounds, and how much that was."""
    begin = next(place for place, sample in enumerate(heard) if sample)
    end = len(heard) - next(place for place, sample in enumerate(reversed(heard)) if sample)
    kept, silent = array("h", heard[:begin]), 0
    for is_sound, run in groupby(heard[begin:end], key=bool):
        samples = array("h", run)
        if is_sound or len(samples) < LEAST_SILENCE:
            kept += samples
        else:
            silent += len(samples)
    return kept + array("h", heard[end:]), silent


def _place(window: Sequence[int], heard: Sequence[int], *, around: int, most: int) -> int:
    """Return the place in a recording where a window is, at most so far from the one that is given."""
    begin = max(0, around - most)
    rough_window, rough = _means(window), _means(heard[begin : around + most + len(window)])
    places = range(max(1, len(rough) - len(rough_window) + 1))
    near = begin + STEP * max(places, key=lambda place: _correlation(rough_window, rough[place:]))
    exact = range(max(0, near - STEP), near + STEP + 1)
    return max(exact, key=lambda place: _correlation(window, heard[place : place + len(window)]))


def _means(samples: Sequence[int]) -> list[float]:
    return [sum(samples[place : place + STEP]) / STEP for place in range(0, len(samples), STEP)]


def _both(one: Sequence[int], other: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Return as much of two as both have."""
    length = min(len(one), len(other))
    return one[:length], other[:length]


def _products(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    return (
        sum(map(operator.mul, one, other)),
        sum(map(operator.mul, one, one)),
        sum(map(operator.mul, other, other)),
    )


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    length = min(len(one), len(other))
    product, ours, theirs = _products(one[:length], other[:length])
    return product / sqrt(ours * theirs or 1)
