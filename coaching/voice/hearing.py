"""Who hears recordings: the transcription server of this installation, or nobody."""

from urllib.parse import urlsplit

from django.conf import settings

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_PATH = "/audio/transcriptions"


def is_heard() -> bool:
    """Return whether anything turns recordings into words."""
    return bool(settings.SAGE_TRANSCRIBE_URL)


def hearer() -> str:
    """Return the server that hears recordings, by host and port; empty if there is none."""
    if not settings.SAGE_TRANSCRIBE_URL:
        return ""
    parts = urlsplit(settings.SAGE_TRANSCRIBE_URL)
    host = parts.hostname or ""
    return f"{host}:{parts.port}" if parts.port else host


def heard_at_home() -> bool:
    """Return whether recordings stay on the machine that Sage runs on."""
    return is_heard() and urlsplit(settings.SAGE_TRANSCRIBE_URL).hostname in _LOCAL


def transcription_url() -> str:
    """Return the address of the API; the setting may name the server, its `/v1`, or the whole address."""
    url: str = settings.SAGE_TRANSCRIBE_URL.rstrip("/")
    if url.endswith(_PATH):
        return url
    return url + (_PATH if url.endswith("/v1") else f"/v1{_PATH}")
