"""The database row of what a transcription server counted."""

from django.conf import settings

from coaching.voice.transcriber import Heard
from sessions_app.models import ModelUsage, UsagePurpose


def usage_row(heard: Heard, *, user_id: int, seconds: float) -> ModelUsage:
    """Build an unsaved row; the answer took so many seconds. Its price isn't known."""
    return ModelUsage(
        user_id=user_id,
        purpose=UsagePurpose.VOICE,
        model=settings.SAGE_TRANSCRIBE_MODEL[:100],
        input_tokens=heard.input_tokens or 0,
        output_tokens=heard.output_tokens or 0,
        audio_seconds=heard.seconds,
        duration_ms=round(1000 * seconds),
    )
