"""Sounds for tests: tones that rise and pause, as WAV, and how alike two of them are."""

import io
import math
import random
import wave
from array import array
from collections.abc import Sequence

from coaching.voice.sound import RATE, header_of


def tones(seconds: float, *, rate: int = RATE, loudness: float = 0.5, noise: float = 0.0) -> "array[int]":
    """Return tones that rise from 300 to 1,500 Hz with a pause in each second: no second is like another."""
    chance = random.Random(7)
    samples = array("h")
    for number in range(round(seconds * rate)):
        second = number / rate
        phase = 2 * math.pi * (300 * second + 600 * second**2 / seconds)
        is_sounding = second % 1 < 0.8
        value = loudness * math.sin(phase) * is_sounding + noise * chance.uniform(-1, 1)
        samples.append(round(32767 * max(-1.0, min(1.0, value))))
    return samples


def recording(samples: Sequence[int] | None = None) -> bytes:
    """Return a recording as pages write it, half a second long unless its samples are given."""
    data = (tones(0.5) if samples is None else array("h", samples)).tobytes()
    return header_of(len(data)) + data


def wav_file(samples: "array[int]", *, rate: int) -> bytes:
    """Return a WAV file by another writer than ours."""
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return written.getvalue()


def samples_of(wav: bytes) -> "array[int]":
    """Return the samples of a WAV file of one channel, read by another reader than ours."""
    with wave.open(io.BytesIO(wav)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        return array("h", file.readframes(file.getnframes()))


def likeness(played: Sequence[int], heard: Sequence[int], *, most_late: int) -> tuple[float, int]:
    """Return the highest correlation of what was played with what was heard, and how much later that is.

    What was heard may begin up to `most_late` samples earlier.
    """
    rough = max(range(0, most_late, 8), key=lambda late: _correlation(played[::8], heard[late::8]))
    near = range(max(0, rough - 8), rough + 9)
    late = max(near, key=lambda each: _correlation(played, heard[each:]))
    return _correlation(played, heard[late:]), late


def _correlation(one: Sequence[int], other: Sequence[int]) -> float:
    pairs = list(zip(one, other, strict=False))
    if len(pairs) < 0.99 * len(one):
        return -1.0
    product = sum(a * b for a, b in pairs)
    return product / math.sqrt((sum(a * a for a, _ in pairs) or 1) * (sum(b * b for _, b in pairs) or 1))
