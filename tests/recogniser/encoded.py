"""Recordings as devices make them, by libsndfile's encoders. Needs the extra `voice`."""

import io
from typing import Any

import numpy as np
from soundfile import SoundFile

KINDS = {
    "audio/wav": ("WAV", "PCM_16"),
    "audio/mpeg": ("MP3", "MPEG_LAYER_III"),
    "audio/ogg": ("OGG", "OPUS"),
}
"""A format and a codec for each content type that is decoded."""


def tone(seconds: float, *, rate: int = 48_000, hertz: float = 440) -> Any:
    """Return a sine wave."""
    return np.sin(np.arange(round(seconds * rate)) * (2 * np.pi * hertz / rate)) * 0.5


def recording(
    samples: Any,
    content_type: str = "audio/ogg",
    *,
    rate: int = 48_000,
    channels: int = 1,
    codec: str = "",
    container: str = "",
) -> bytes:
    """Return samples in a container, the same on all channels."""
    usual, usual_codec = KINDS[content_type]
    file = io.BytesIO()
    with SoundFile(file, "w", rate, channels, codec or usual_codec, format=container or usual) as written:
        written.write(np.repeat(np.asarray(samples, np.float32)[:, None], channels, axis=1))
    return file.getvalue()
