"""A file that can't be the model is named to the operator, and pages have no microphone."""

import struct
from pathlib import Path

from django.conf import LazySettings

from coaching.voice.model_file import MAX_MB
from coaching.voice.transcription import can_transcribe, is_transcribed_here, transcription_host
from sage.checks import warn_of_speech_model
from sage.chosen_models import choose_speech_model
from sage.env import read_environment
from tests.recogniser.speaking_model import write_model


def said_of(path: Path, settings: LazySettings) -> str:
    settings.SAGE_TRANSCRIBE_URL, settings.SAGE_TRANSCRIBE_FILE = "", path
    found = warn_of_speech_model()
    assert can_transcribe() == bool(transcription_host()) == is_transcribed_here() == (not found)
    assert {message.id for message in found} <= {"sage.W009"}
    return " ".join(str(message.msg) for message in found)


def test_a_model_is_no_problem(tmp_path: Path, settings: LazySettings) -> None:
    assert said_of(write_model(tmp_path / "ggml-test.bin", "words"), settings) == ""


def test_what_is_no_model_is_named_with_the_reason(tmp_path: Path, settings: LazySettings) -> None:
    other = struct.pack("<I11i", 0x67676D6C, *range(11))
    whisper = struct.pack("<I11i", 0x67676D6C, *range(9), 80, 1)
    for name, content, reason in (
        ("gguf", b"GGUF" + bytes(100), "is no model of whisper.cpp"),
        ("text", b"{}", "is no model of whisper.cpp"),
        ("another", other, "is no model of whisper.cpp"),
        ("large", whisper, f"At most {MAX_MB} MB"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        if name == "large":
            with path.open("r+b") as file:
                file.truncate((MAX_MB + 1) << 20)
        assert reason in (said := said_of(path, settings))
        assert str(path) in said
    assert "doesn't exist" in said_of(tmp_path / "nothing", settings)
    assert "can't be read (Is a directory)" in said_of(tmp_path, settings)


def test_the_variable_is_a_file_only_where_no_server_is_named(tmp_path: Path) -> None:
    def chosen(**values: str) -> Path | None:
        return choose_speech_model(read_environment(values, tmp_path), tmp_path)

    assert chosen() is None
    assert chosen(SAGE_TRANSCRIBE_URL="http://localhost:9000") is None
    assert chosen(SAGE_TRANSCRIBE_URL="http://localhost:9000", SAGE_TRANSCRIBE_MODEL="tiny.bin") is None
    assert chosen(SAGE_TRANSCRIBE_MODEL="models/tiny.bin") == tmp_path / "models/tiny.bin"
    assert chosen(SAGE_TRANSCRIBE_MODEL="/models/tiny.bin") == Path("/models/tiny.bin")
