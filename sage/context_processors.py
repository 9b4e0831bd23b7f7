"""Template context of every page."""

from django.conf import settings
from django.http import HttpRequest

from coaching.people.device_copies import has_copy, has_copy_of
from coaching.voice.transcription import is_transcribed_here, speech_model, transcription_host


def device_copy(request: HttpRequest) -> dict[str, object]:
    """Return whether the browser keeps a copy of the signed-in person's words for reading offline."""
    user = getattr(request, "user", None) if has_copy(request) else None
    return {"has_device_copy": user is not None and has_copy_of(request, user.pk)}


def installation(_request: HttpRequest) -> dict[str, object]:
    """Return whether a script answers, sign-up is open, mail goes out and comes in, and what transcribes."""
    return {
        "is_practice_model": settings.IS_PRACTICE_MODEL,
        "is_signup_open": settings.SAGE_SIGNUP == "open",
        "has_mail": settings.HAS_MAIL,
        "has_inbox": settings.SAGE_INBOX is not None,
        "transcription_host": transcription_host(),
        "is_transcribed_here": is_transcribed_here(),
        "has_speech_model": speech_model() is not None,
    }
