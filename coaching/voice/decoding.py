"""Decodes recordings to what Whisper hears: one channel of 32-bit samples, 16,000 a second.

libsndfile parses what people upload, so only a process without rights imports this (`speech_worker`). What a
file claims about its length isn't believed: samples count.
"""

import io
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.fft import irfft, rfft
from soundfile import SoundFile, SoundFileError

from coaching.voice.sound import HEARD_FORMATS, MOST_HEARD_SECONDS, RATE

BYTES_A_SAMPLE = 4
RATES = range(4_000, 192_001)
_STEP_SECONDS = 8
_MARGIN_SECONDS = 1
"""Of what comes before and after each step: its ends would otherwise be audible."""
_FRAMES_AT_ONCE = 4_096
"""So many are lost with a damaged part at most, besides it."""
_DAMAGED = 1_000
"""A recording ends where as many reads, one after another, give nothing."""
_PASSED = 0.9
"""Up to this share of the highest frequency that both rates can hold, nothing changes; the rest fades."""


class NotDecoded(Exception):
    """Nothing in the bytes is sound."""


class TooLong(Exception):
    """The sound is longer than `MOST_HEARD_SECONDS`."""


class _Sound(SoundFile):  # type: ignore[misc]  # without types
    def seekable(self) -> bool:
        """Return that it isn't: otherwise each read would seek, which formats do inexactly."""
        return False


def samples_of(data: bytes, content_type: str) -> bytearray:
    """Return the samples of a recording. Damaged parts are left out. Raises `NotDecoded` and `TooLong`."""
    samples = bytearray()
    try:
        with _Sound(io.BytesIO(data)) as sound:
            if sound.format not in HEARD_FORMATS[content_type] or sound.samplerate not in RATES:
                raise NotDecoded
            for piece in _resampled(_steps(sound), sound.samplerate):
                samples += piece.astype(np.float32).tobytes()
                if len(samples) > MOST_HEARD_SECONDS * RATE * BYTES_A_SAMPLE:
                    raise TooLong
    except SoundFileError:
        raise NotDecoded from None
    if not samples:
        raise NotDecoded
    return samples


def _steps(sound: SoundFile) -> Iterator[Any]:
    """Yield the mean of all channels, eight seconds at a time; the last piece may be shorter."""
    step = np.zeros(_STEP_SECONDS * sound.samplerate, np.float32)
    filled = 0
    while len(read := _read(sound, min(_FRAMES_AT_ONCE, len(step) - filled))):
        step[filled : filled + len(read)] = read.mean(axis=1)
        filled += len(read)
        if filled == len(step):
            yield step.copy()
            filled = 0
    if filled:
        yield step[:filled]


def _read(sound: SoundFile, frames: int) -> Any:
    """Return the next frames, none at the end or where nothing more can be decoded."""
    for _ in range(_DAMAGED):
        try:
            read = sound.read(frames, "float32", always_2d=True)
        except SoundFileError:
            continue
        return np.clip(np.nan_to_num(read), -1, 1)  # files may hold samples that are no numbers
    return np.zeros((0, sound.channels))


def _resampled(steps: Iterator[Any], rate: int) -> Iterator[Any]:
    """Yield the steps with the rate that Whisper needs."""
    if rate == RATE:
        yield from steps
        return
    margin = _MARGIN_SECONDS * rate
    before: Any = np.zeros(margin, np.float32)
    step: Any = np.zeros(0, np.float32)
    for following in chain(steps, [np.zeros(0, np.float32)]):
        if len(step):
            yield _resampled_step(before, step, following[:margin], rate)
            before = step[-margin:]
        step = following


def _resampled_step(before: Any, step: Any, after: Any, rate: int) -> Any:
    """Return a step with the other rate, without the frequencies that one of them can't hold."""
    seconds = _STEP_SECONDS + 2 * _MARGIN_SECONDS
    sound: Any = np.zeros(seconds * rate, np.float32)
    known = np.concatenate([before, step, after])
    sound[: len(known)] = known
    spectrum = rfft(sound)[: seconds * RATE // 2 + 1]
    limit = min(rate, RATE) / 2
    above = (np.arange(len(spectrum)) / seconds / limit - _PASSED) / (1 - _PASSED)
    spectrum *= np.cos(np.clip(above, 0, 1) * (np.pi / 2)) ** 2
    begins = _MARGIN_SECONDS * RATE
    made = irfft(spectrum, seconds * RATE) * (RATE / rate)
    return made[begins : begins + -(-len(step) * RATE // rate)]
