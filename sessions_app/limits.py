"""How much a user may ask for: turns a minute, and turns at once. Counted from the turns themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from sessions_app.errors import Refused, TooManySessions
from sessions_app.models import Session
from sessions_app.queries import Query, Rows, run_query
from sessions_app.rate import RateLimit
from sessions_app.usage import read_tokens_of_day

__all__ = ["MAX_RUNNING_TURNS_PER_USER", "RateLimit", "refuse_over_limits"]

MAX_RUNNING_TURNS_PER_USER = 2
SESSIONS_PER_TURN = 3
"""A session that nobody speaks in costs a row: people may open more of them than they may have answered."""
_USER_LOCK_NAMESPACE = 0x5A6E
USER_LOCK = "pg_advisory_xact_lock(%(namespace)s, %(person)s)"

# Written out, since the user waits for it before the first word: one statement, each half with its own index.
_TURNS_SQL = """
    SELECT
        (
            SELECT count(*) FROM sessions_app_turn AS turn
            JOIN sessions_app_session AS session ON session.id = turn.session_id
            WHERE turn.status = 'running' AND session.user_id = %(user)s
        ),
        (
            SELECT array_agg(recent.started_at) FROM (
                SELECT turn.started_at FROM sessions_app_turn AS turn
                JOIN sessions_app_session AS session ON session.id = turn.session_id
                WHERE turn.started_at > %(since)s AND session.user_id = %(user)s
                ORDER BY turn.started_at DESC LIMIT %(most)s
            ) AS recent
        )
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsAsked:
    """How many of a user's turns run, and when the last ones began, counted under the user's lock."""

    running: int
    recent: Sequence[datetime]


def refuse_over_limits(*, user_id: int, rate_limit: RateLimit) -> None:
    """Refuse a turn over the user's limits; the user's advisory lock makes racing turns count each other."""
    lock_limits(user_id=user_id)
    refuse_over(
        turns_asked(run_query(turns_query(user_id, rate_limit))), user_id=user_id, rate_limit=rate_limit
    )


def turns_query(user_id: int, rate_limit: RateLimit) -> Query:
    """Ask for the user's turns that count now."""
    since = timezone.now() - timedelta(seconds=rate_limit.seconds)
    return Query(_TURNS_SQL, {"user": user_id, "since": since, "most": rate_limit.turns})


def turns_asked(rows: Rows) -> TurnsAsked:
    """Return what the answer says."""
    ((running, recent),) = rows
    return TurnsAsked(running=running, recent=recent or ())


def refuse_over(asked: TurnsAsked, *, user_id: int, rate_limit: RateLimit) -> None:
    """Refuse a turn over the user's limits; the caller holds the lock under which they were counted."""
    if asked.running >= MAX_RUNNING_TURNS_PER_USER:
        raise Refused(
            f"Sage is already answering in {MAX_RUNNING_TURNS_PER_USER} conversations. "
            "Please wait for one to finish."
        )
    if len(asked.recent) >= rate_limit.turns:
        window = timedelta(seconds=rate_limit.seconds)
        raise Refused(_a_lot(min(asked.recent) + window - timezone.now()))
    if rate_limit.daily_tokens is not None:
        _refuse_over_budget(user_id=user_id, daily_tokens=rate_limit.daily_tokens)


def refuse_too_many_sessions(*, user_id: int, rate_limit: RateLimit) -> None:
    """Refuse a session where the user has opened too many lately. Raises `TooManySessions`."""
    now = timezone.now()
    window = timedelta(seconds=rate_limit.seconds)
    most = rate_limit.turns * SESSIONS_PER_TURN
    opened = Session.of(user_id).filter(started_at__gt=now - window).order_by("-started_at")
    recent = list(opened.values_list("started_at", flat=True)[:most])
    if len(recent) >= most:
        raise TooManySessions(_a_lot(recent[-1] + window - now))


def lock_limits(*, user_id: int) -> None:
    """Let this transaction alone count what the user asks for.

    A statement of its own: what the next one sees is what was committed when the lock was given.
    """
    run_query(Query(f"SELECT {USER_LOCK}", lock_values(user_id)))


def lock_values(user_id: int) -> dict[str, int]:
    """Return the values of `USER_LOCK`."""
    return {"namespace": _USER_LOCK_NAMESPACE, "person": user_id % 2**31}


def _a_lot(wait: timedelta) -> str:
    wait_seconds = max(1, round(wait.total_seconds()))
    unit = "second" if wait_seconds == 1 else "seconds"
    return f"You’ve sent a lot in a short time. Please wait {wait_seconds} {unit} and send it again."


def _refuse_over_budget(*, user_id: int, daily_tokens: int) -> None:
    """Refuse a turn where the last 24 hours have used up the user's tokens, cached ones included."""
    day = read_tokens_of_day(user_id=user_id, now=timezone.now())
    if day.tokens < daily_tokens:
        return
    unit = "hour" if day.hours_to_more == 1 else "hours"
    raise Refused(f"Today’s budget is used up. More will be available in about {day.hours_to_more} {unit}.")
