"""Whether a file can be the model that turns recordings into words: a first look, before any is heard."""

import os
import struct
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from coaching.sandbox.limits import MEGABYTE

MAX_MB = 600
"""Larger models don't fit into the memory of their process, which holds them twice while they load."""
_NEEDED = ("_pywhispercpp", "numpy", "soundfile")
_HEAD = struct.Struct("<I11i")
_MAGIC = 0x67676D6C
_MELS = (80, 128)
"""By these Whisper's models differ from others of the same format."""


@cache
def problem_with(path: Path) -> str:
    """Return why a file can't be the model, for the operator; empty if it may be. Kept by the process."""
    if any(find_spec(name) is None for name in _NEEDED):
        return (
            f"SAGE_TRANSCRIBE_MODEL names the file {path}, and whisper.cpp isn't installed: uv sync --extra "
            "voice"
        )
    try:
        with path.open("rb") as file:
            head, size = file.read(_HEAD.size), os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return (
            f"SAGE_TRANSCRIBE_MODEL names a file that doesn't exist, {path}. Give the path of a model of "
            "whisper.cpp, or the server in SAGE_TRANSCRIBE_URL whose model it is."
        )
    except OSError as error:
        return f"The file in SAGE_TRANSCRIBE_MODEL, {path}, can't be read ({error.strerror})."
    if not _is_whisper(head):
        return f"The file in SAGE_TRANSCRIBE_MODEL, {path}, is no model of whisper.cpp (like ggml-base.bin)."
    if size > MAX_MB * MEGABYTE:
        return (
            f"The model in SAGE_TRANSCRIBE_MODEL, {path}, has {size // MEGABYTE} MB. At most {MAX_MB} MB fit "
            "into the memory of its process: take a smaller or a quantised one."
        )
    return ""


def _is_whisper(head: bytes) -> bool:
    if len(head) < _HEAD.size:
        return False
    magic, *sizes = _HEAD.unpack(head)
    return magic == _MAGIC and sizes[-2] in _MELS
