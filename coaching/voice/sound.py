"""The audio that pages record: WAV with one channel of 16-bit samples, 16,000 a second.

Pages write exactly one header (`static/js/voice/sound.js`), so nothing is parsed: the header either is the
one that belongs to the length, or the bytes aren't a page's recording.
"""

import struct

RATE = 16_000
BYTES_A_SECOND = 2 * RATE
HEADER_BYTES = 44
MOST_HEARD_SECONDS = 3_600
"""What this machine turns into words itself: an hour takes half a gigabyte more than the model."""
HEARD_FORMATS = {"audio/mpeg": ("MP3",), "audio/ogg": ("OGG",), "audio/wav": ("WAV", "WAVEX")}
"""The content types of recordings that it decodes itself, with libsndfile's names for them."""
QUIET_PEAK = 100
"""Louder samples, of 32,767, aren't silence: -50 dB, above the noise of a muted microphone."""
_STEP = 5
"""Every fifth sample is enough to find something that can be heard."""


def header_of(size: int) -> bytes:
    """Return the header before `size` bytes of samples."""
    form = struct.pack("<HHIIHH", 1, 1, RATE, BYTES_A_SECOND, 2, 16)
    return (
        b"RIFF" + struct.pack("<I", size + 36) + b"WAVEfmt \x10\x00\x00\x00" + form
        + b"data" + struct.pack("<I", size)
    )  # fmt: skip


def is_recording(data: bytes) -> bool:
    """Return whether the bytes are a recording as pages write it, with at least one sample."""
    size = len(data) - HEADER_BYTES
    return size > 0 and size % 2 == 0 and data[:HEADER_BYTES] == header_of(size)


def seconds_of(data: bytes) -> float:
    """Return the length of a recording."""
    return (len(data) - HEADER_BYTES) / BYTES_A_SECOND


def is_silent(data: bytes) -> bool:
    """Return whether nothing can be heard in a recording."""
    samples = memoryview(data)[HEADER_BYTES:].cast("h")[::_STEP]
    return max(samples) < QUIET_PEAK and min(samples) > -QUIET_PEAK
