"""Turns recordings into words: the module of the processes of `coaching.voice.recogniser`.

A process gets the open model file, and a recording as the head of the request: its content type, a line
break, and its bytes. It answers twice: how long the recording is, and then as a transcription server does.
"""

import ctypes
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import _pywhispercpp as whisper
import numpy as np

from coaching.voice.decoding import BYTES_A_SAMPLE, NotDecoded, TooLong, samples_of
from coaching.voice.sound import RATE, header_of

_HUNDREDTH = 0.01

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# libsndfile calls Python by code that is made at run time, for which a process without rights gets no memory.
# What is made here stays for later calls.
samples_of(header_of(2) + bytes(2), "audio/wav")


def answers(head: bytes, model: BinaryIO) -> Iterator[bytes]:
    """Yield `{"seconds": …}`, then `{"text": …, "segments": [{"start": …, "end": …, "text": …}, …]}`.

    Of a recording that can't be read, the only answer is `{"refused": "unread"}` or `{"refused": "long"}`.
    """
    content_type, _, data = head.partition(b"\n")
    try:
        samples = samples_of(data, content_type.decode())
    except NotDecoded:
        yield b'{"refused": "unread"}'
        return
    except TooLong:
        yield b'{"refused": "long"}'
        return
    yield json.dumps({"seconds": len(samples) // (BYTES_A_SAMPLE * RATE)}).encode()
    # Whisper hears nothing in less than a second, so silence follows.
    samples += bytes(max(0, RATE * BYTES_A_SAMPLE - len(samples)))
    segments = list(_heard(_load(model), samples))
    text = "".join(segment["text"] for segment in segments)
    yield json.dumps({"text": text, "segments": segments}).encode()


def _load(file: BinaryIO) -> Any:
    """Load a model from memory, because no file can be opened here. Whisper copies what it needs."""
    data = file.read()
    place = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
    options = whisper.whisper_context_default_params()
    options.use_gpu = False
    capsule = _python.PyCapsule_New(place, None, None)
    model = whisper.whisper_init_from_buffer_with_params(capsule, len(data), options)
    if model is None:
        raise ValueError("this is no model of whisper.cpp")
    return model


def _heard(model: Any, samples: bytearray) -> Iterator[dict[str, Any]]:
    options = whisper.whisper_full_default_params(whisper.whisper_sampling_strategy.WHISPER_SAMPLING_GREEDY)
    options.n_threads = 1
    options.greedy = {"best_of": 1}  # with more, noise takes several times as long
    options.language = "auto" if whisper.whisper_is_multilingual(model) else "en"
    # Standard output is the pipe of the answers.
    options.print_progress = options.print_timestamps = options.print_realtime = False
    sound = np.frombuffer(samples, np.float32)
    if whisper.whisper_full(model, options, sound, len(sound)):
        raise ValueError("Whisper has failed")
    for number in range(whisper.whisper_full_n_segments(model)):
        yield {
            "start": whisper.whisper_full_get_segment_t0(model, number) * _HUNDREDTH,
            "end": whisper.whisper_full_get_segment_t1(model, number) * _HUNDREDTH,
            "text": whisper.whisper_full_get_segment_text(model, number).decode("utf-8", "replace"),
        }
