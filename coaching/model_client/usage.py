"""The database row of a reply's usage and cost."""

from dataclasses import asdict

from django.utils import timezone

from coaching.engine.profiles import cost_micro_usd
from coaching.engine.usage import RoundUsage
from sessions_app.models import ModelUsage


def usage_row(usage: RoundUsage, *, is_batch: bool = False) -> ModelUsage:
    """Build an unsaved row at today's price, without user, session and turn."""
    return ModelUsage(
        model=usage.model,
        **asdict(usage.tokens),
        cost_micro_usd=cost_micro_usd(usage.model, usage.tokens, timezone.now().date(), is_batch=is_batch),
        first_token_ms=usage.first_token_ms,
        duration_ms=usage.duration_ms,
        round_number=usage.round_number,
    )
