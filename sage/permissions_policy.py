"""Whether pages may use the microphone: only where somebody hears recordings, and only Sage's own."""

from django.http import HttpRequest

from coaching.voice.transcription import can_transcribe
from sage.middleware import Steps, middleware

HEADER = "Permissions-Policy"


@middleware
def microphone_allowed(_request: HttpRequest) -> Steps:
    """Set `Permissions-Policy` on every response."""
    response = yield
    response[HEADER] = "microphone=(self)" if can_transcribe() else "microphone=()"
    return response
