"""What turns recordings into words: a transcription server, the installation's own model file, or nothing."""

from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from coaching.voice.model_file import problem_with

THIS_SERVER = "localhost"
"""What turns recordings into words where there is a model file: nothing else."""
LOCAL_HOSTS = frozenset({THIS_SERVER, "127.0.0.1", "::1"})
"""The hosts of addresses on the machine that Sage runs on."""
_PATH = "/audio/transcriptions"


def can_transcribe() -> bool:
    """Return whether anything turns recordings into words."""
    return bool(settings.SAGE_TRANSCRIBE_URL) or speech_model() is not None


def speech_model() -> Path | None:
    """Return the model file that turns recordings into words here; None where a server does, or nothing."""
    file: Path | None = settings.SAGE_TRANSCRIBE_FILE
    return None if settings.SAGE_TRANSCRIBE_URL or speech_problem() else file


def speech_problem() -> str:
    """Return why the model file can't turn recordings into words, empty without one."""
    file: Path | None = settings.SAGE_TRANSCRIBE_FILE
    return "" if settings.SAGE_TRANSCRIBE_URL or file is None else problem_with(file)


def transcription_host() -> str:
    """Return the server that turns recordings into words, by host and port; empty if there is none."""
    if not settings.SAGE_TRANSCRIBE_URL:
        return THIS_SERVER if speech_model() else ""
    parts = urlsplit(settings.SAGE_TRANSCRIBE_URL)
    host = parts.hostname or ""
    return f"{host}:{parts.port}" if parts.port else host


def is_transcribed_here() -> bool:
    """Return whether recordings stay on the machine that Sage runs on."""
    return (urlsplit(settings.SAGE_TRANSCRIBE_URL).hostname or transcription_host()) in LOCAL_HOSTS


def transcription_url() -> str:
    """Return the address of the API; the setting may name the server, its `/v1`, or the whole address."""
    url: str = settings.SAGE_TRANSCRIBE_URL.rstrip("/")
    if url.endswith(_PATH):
        return url
    return url + (_PATH if url.endswith("/v1") else f"/v1{_PATH}")
