"""How fast a model has answered lately, by what its calls used."""

from dataclasses import dataclass
from datetime import datetime

from sessions_app.models import ModelUsage

LOOKED_AT = 200
"""The newest calls of everybody, for any model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """When a model answered last, and its tokens a second; None where nothing says it."""

    answered_at: datetime | None = None
    read_per_second: float | None = None
    written_per_second: float | None = None


def pace_of(model: str) -> Pace:
    """Return the pace of the newest calls to a model, whoever they were for.

    What came from a cache of the model wasn't read anew, so it doesn't count.
    """
    newest = ModelUsage.unscoped.order_by("-created_at")[:LOOKED_AT]
    calls = [call for call in newest if call.model == model]
    read = written = reading_ms = writing_ms = 0
    for call in calls:
        if call.first_token_ms:
            read += call.input_tokens
            written += call.output_tokens
            reading_ms += call.first_token_ms
            writing_ms += call.duration_ms - call.first_token_ms
    return Pace(
        answered_at=calls[0].created_at if calls else None,
        read_per_second=_rate(read, reading_ms),
        written_per_second=_rate(written, writing_ms),
    )


def _rate(tokens: int, milliseconds: int) -> float | None:
    return tokens * 1_000 / milliseconds if milliseconds > 0 and tokens else None
