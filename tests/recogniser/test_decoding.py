"""What devices record is decoded to what Whisper hears, and worse files end with a reason."""

import io
import struct
import subprocess
import sys
import time
import wave

import numpy as np
import pytest

from coaching.voice import decoding
from coaching.voice.decoding import BYTES_A_SAMPLE, NotDecoded, TooLong, samples_of
from coaching.voice.sound import RATE
from tests.recogniser.encoded import KINDS, recording, tone
from tests.sage.processes import PROJECT


def seconds_of(samples: bytearray) -> float:
    return len(samples) / BYTES_A_SAMPLE / RATE


def pitch_of(samples: bytearray) -> float:
    """Return the loudest frequency, in hertz."""
    sound = np.frombuffer(samples, np.float32)
    return float(np.argmax(np.abs(np.fft.rfft(sound)))) * RATE / len(sound)


@pytest.mark.parametrize("content_type", KINDS)
def test_each_format_of_a_recording_is_decoded(content_type: str) -> None:
    samples = samples_of(recording(tone(2.5), content_type), content_type)
    assert seconds_of(samples) == pytest.approx(2.5, abs=0.05)
    assert pitch_of(samples) == pytest.approx(440, abs=2)
    loudness = np.sqrt(np.mean(np.square(np.frombuffer(samples, np.float32))))
    assert loudness == pytest.approx(0.5 / np.sqrt(2), abs=0.05)


@pytest.mark.parametrize(
    ("content_type", "codec", "rate", "channels"),
    [
        ("audio/wav", "PCM_24", 192_000, 8),
        ("audio/wav", "PCM_16", 8_000, 1_000),
        ("audio/wav", "ULAW", 8_000, 1),
        ("audio/ogg", "VORBIS", 44_100, 2),
        ("audio/ogg", "OPUS", 48_000, 6),
        ("audio/mpeg", "MPEG_LAYER_III", 8_000, 1),
        ("audio/mpeg", "MPEG_LAYER_III", 44_100, 2),
    ],
)
def test_other_rates_channels_and_codecs_are_decoded_too(
    content_type: str, codec: str, rate: int, channels: int
) -> None:
    made = recording(tone(1.5, rate=rate), content_type, codec=codec, rate=rate, channels=channels)
    samples = samples_of(made, content_type)
    assert seconds_of(samples) == pytest.approx(1.5, abs=0.1)
    assert pitch_of(samples) == pytest.approx(440, abs=2)


@pytest.mark.parametrize("rate", [44_100, 48_000, 96_000])
def test_tones_that_the_lower_rate_cannot_hold_are_silent_and_others_stay(rate: int) -> None:
    """Without a filter, 10 kHz would become 6 kHz. Twenty seconds are more than one step."""
    for hertz, loudness in ((10_000.0, 0.0), (15_500.0, 0.0), (7_000.0, 0.5)):
        made = recording(tone(20, rate=rate, hertz=hertz), "audio/wav", rate=rate)
        sound = np.frombuffer(samples_of(made, "audio/wav"), np.float32)[RATE:-RATE]
        expected = np.sin(np.arange(RATE, RATE + len(sound)) * (2 * np.pi * hertz / RATE)) * loudness
        assert np.abs(sound - expected).max() < 0.001, hertz


def test_samples_that_are_no_numbers_or_too_loud_harm_nothing() -> None:
    sound = tone(1, rate=RATE).astype(np.float32)
    sound[1_000:1_003] = (np.nan, np.inf, -np.inf)
    sound[2_000] = 3e38
    made = recording(sound, "audio/wav", codec="FLOAT", rate=RATE, channels=2)
    decoded = np.frombuffer(samples_of(made, "audio/wav"), np.float32)
    assert list(decoded[1_000:1_003]) == [0, 1, -1]
    assert np.abs(decoded).max() == 1


def wav(samples: bytes, *, claimed: int | None = None) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples)
    made = bytearray(written.getvalue())
    if claimed is not None:
        made[40:44] = struct.pack("<I", claimed)
    return bytes(made)


def with_rate(rate: int) -> bytes:
    """Return a second of sound whose header says another rate."""
    made = bytearray(wav(tone(1, rate=RATE).astype("<f2").tobytes()))
    made[24:28] = struct.pack("<I", rate)
    return bytes(made)


def test_a_header_that_claims_ten_hours_is_not_believed() -> None:
    samples = samples_of(wav(bytes(2 * RATE), claimed=36_000 * 2 * RATE), "audio/wav")
    assert seconds_of(samples) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (wav(b""), "audio/wav"),
        (b"", "audio/wav"),
        (b"RIFF\0\0\0\0WAVE", "audio/wav"),
        (b"OggS" + bytes(500), "audio/ogg"),
        (b"ID3\x03" + bytes(5_000), "audio/mpeg"),
        (recording(tone(0.5), "audio/ogg")[:100], "audio/ogg"),
        (recording(tone(0.5), "audio/wav", container="AIFF"), "audio/wav"),
        (b"ID3\x03\0\0\0\0\0\0" + recording(tone(0.5), "audio/wav", container="FLAC"), "audio/mpeg"),
        (recording(tone(0.5), "audio/ogg"), "audio/mpeg"),
        (with_rate(3_999), "audio/wav"),
        (with_rate(192_001), "audio/wav"),
        (with_rate(1), "audio/wav"),
        (with_rate(0), "audio/wav"),
        (with_rate(2**32 - 1), "audio/wav"),
    ],
    # Not of the bytes: the serial numbers of OGG differ from one worker to the next.
    ids=[
        "no-sample",
        "nothing",
        "only-a-header",
        "ogg-of-zeros",
        "mp3-of-zeros",
        "cut-ogg",
        "aiff-for-wav",
        "flac-for-mp3",
        "ogg-for-mp3",
        "rate-too-low",
        "rate-too-high",
        "rate-1",
        "rate-0",
        "rate-of-32-bits",
    ],
)
def test_what_holds_no_sound_is_not_decoded(data: bytes, content_type: str) -> None:
    with pytest.raises(NotDecoded):
        samples_of(data, content_type)


def test_damaged_parts_are_left_out() -> None:
    made = bytearray(recording(tone(4), "audio/mpeg"))
    made[len(made) // 2 : len(made) // 2 + 2_000] = bytes(2_000)
    assert 3 < seconds_of(samples_of(bytes(made), "audio/mpeg")) < 4.2
    torn = recording(tone(8), "audio/ogg")
    assert 2 < seconds_of(samples_of(torn[: len(torn) // 2], "audio/ogg")) < 5


def test_a_small_file_of_many_hours_is_left_where_it_becomes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = recording(np.zeros(80_000), "audio/mpeg", rate=8_000)
    bomb = made[made.index(made[:2], 4) :] * 720  # without the first frame, which says how many follow
    assert len(bomb) < 8 << 20, "two hours"
    monkeypatch.setattr(decoding, "MOST_HEARD_SECONDS", 20)
    began = time.process_time()
    with pytest.raises(TooLong):
        samples_of(bomb, "audio/mpeg")
    assert time.process_time() - began < 5


def test_readers_of_documents_do_not_load_numpy() -> None:
    """It takes a sixth of the memory that one may have, which large documents need."""
    code = "import sys, coaching.library.extractors.worker; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True)
