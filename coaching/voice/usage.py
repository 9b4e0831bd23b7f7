"""What a transcription server counted: its database row, and the budget that it counts against."""

from django.conf import settings

from coaching.voice.transcriber import Transcription
from sessions_app.limits import refuse_over_budget
from sessions_app.models import ModelUsage, UsagePurpose


def check_budget(user_id: int) -> None:
    """Refuse a recording while the person's budget is used up. Raises `OverBudget`. Sync ORM code."""
    if settings.SAGE_DAILY_TOKENS is not None:
        refuse_over_budget(user_id=user_id, daily_tokens=settings.SAGE_DAILY_TOKENS)


def usage_row(transcription: Transcription, *, user_id: int, seconds: float) -> ModelUsage:
    """Build an unsaved row; the answer took so many seconds. Its price isn't known."""
    return ModelUsage(
        user_id=user_id,
        purpose=UsagePurpose.VOICE,
        model=settings.SAGE_TRANSCRIBE_MODEL[:100],
        input_tokens=transcription.input_tokens or 0,
        output_tokens=transcription.output_tokens or 0,
        audio_seconds=transcription.seconds,
        duration_ms=round(1000 * seconds),
    )
