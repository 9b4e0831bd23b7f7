"""Tells the breaker how turns end."""

from dataclasses import replace

from django.contrib.auth.models import User
from django.db import DatabaseError

from coaching.engine.breaker import BreakerClient
from coaching.engine.errors import UpstreamError
from coaching.engine.transitions import PartResult
from coaching.model_client.servers import doubt_server
from coaching.turns.words import FAILS_ALONE
from sessions_app.database import in_database


async def note_end(breaker: BreakerClient, result: PartResult, *, user_id: int) -> PartResult:
    """Count how a part ended; return it with a sentence of their own for a person whose turns alone fail."""
    if result.failure is None:
        if result.outcome in ("completed", "awaiting_user"):
            breaker.note_answered(user_id)
        return result
    is_alone = await note_failure(breaker, result.failure, user_id=user_id)
    return replace(result, user_message=FAILS_ALONE) if is_alone else result


async def note_failure(breaker: BreakerClient, failure: UpstreamError, *, user_id: int) -> bool:
    """Count a failure; return whether this person's requests alone fail."""
    doubt_server()
    try:
        is_only_person = await in_database(_is_only_person)
    except DatabaseError:
        is_only_person = False
    return breaker.note_failed(user_id, failure, is_only_person=is_only_person)


def _is_only_person() -> bool:
    return User.objects.filter(is_active=True)[:2].count() < 2
