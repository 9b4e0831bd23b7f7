"""The audio of pages: its header is the one that everybody else writes, and silence is found."""

from array import array

import pytest

from coaching.voice.sound import HEADER_BYTES, RATE, header_of, is_recording, is_silent, seconds_of
from tests.voice.sounds import recording, tones, wav_file


def test_the_header_is_the_one_that_others_write() -> None:
    samples = tones(0.25)
    assert recording(samples) == wav_file(samples, rate=RATE)
    assert seconds_of(recording(samples)) == 0.25


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"RIFF",
        header_of(0),
        recording()[:-2],
        recording() + b"\0",
        b"OggS" + recording()[4:],
        wav_file(tones(0.1, rate=48_000), rate=48_000),
        header_of(4) + b"abc",
    ],
    ids=["nothing", "four bytes", "no samples", "cut off", "longer", "another kind", "another rate", "odd"],
)
def test_other_bytes_are_no_recording(data: bytes) -> None:
    assert not is_recording(data)


def test_a_muted_microphone_is_silent_and_a_whisper_is_not() -> None:
    assert is_silent(recording(array("h", [0] * RATE)))
    assert is_silent(recording(tones(1, loudness=0.001, noise=0.001)))
    assert not is_silent(recording(tones(1, loudness=0.01)))
    assert len(recording(array("h", [1]))) == HEADER_BYTES + 2
