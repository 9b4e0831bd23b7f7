"""How much a user may ask for: turns a minute, and turns at once. Counted from the turns themselves."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from sessions_app.errors import Refused
from sessions_app.models import Turn, TurnStatus
from sessions_app.usage import tokens_of_day

MAX_RUNNING_TURNS_PER_USER = 2
_USER_LOCK_NAMESPACE = 0x5A6E


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """At most `turns` turns in any `seconds` seconds, and `daily_tokens` in any 24 hours, for one user."""

    turns: int
    seconds: int
    daily_tokens: int | None = None


def refuse_over_limits(*, user_id: int, rate_limit: RateLimit) -> None:
    """Refuse a turn over the user's limits; the user's advisory lock makes racing turns count each other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_USER_LOCK_NAMESPACE, user_id % 2**31])
    turns = Turn.objects.filter(session__user_id=user_id)
    if turns.filter(status=TurnStatus.RUNNING).count() >= MAX_RUNNING_TURNS_PER_USER:
        raise Refused(
            f"Sage is already answering in {MAX_RUNNING_TURNS_PER_USER} conversations. "
            "Please wait for one to finish."
        )
    now = timezone.now()
    window = timedelta(seconds=rate_limit.seconds)
    recent = list(
        turns.filter(started_at__gt=now - window)
        .order_by("-started_at")
        .values_list("started_at", flat=True)[: rate_limit.turns]
    )
    if len(recent) >= rate_limit.turns:
        wait_seconds = max(1, round((recent[-1] + window - now).total_seconds()))
        unit = "second" if wait_seconds == 1 else "seconds"
        raise Refused(f"That was a lot in a short time. Please wait {wait_seconds} {unit} and send it again.")
    if rate_limit.daily_tokens is not None:
        _refuse_over_budget(user_id=user_id, daily_tokens=rate_limit.daily_tokens)


def _refuse_over_budget(*, user_id: int, daily_tokens: int) -> None:
    """Refuse a turn where the last 24 hours have used up the user's tokens, cached ones included."""
    day = tokens_of_day(user_id=user_id, now=timezone.now())
    if day.tokens < daily_tokens:
        return
    unit = "hour" if day.hours_to_more == 1 else "hours"
    raise Refused(
        f"Today's budget for this account is used up. There is more in about {day.hours_to_more} {unit}."
    )
