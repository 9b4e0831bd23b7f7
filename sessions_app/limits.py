"""Limits of a user: turns per minute, concurrent turns, tokens per day. Counted from the rows themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import Func, QuerySet, TextField, Value
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from sessions_app.database import lock_until_commit
from sessions_app.errors import OverBudget, OverLimit, TooManySessions
from sessions_app.lock_spaces import LockSpace
from sessions_app.models import ASKED_HERE, OPEN_TURN_STATUSES, Session, Turn, TurnStatus
from sessions_app.queries import Query, Rows, parameter, prepared, run_queries
from sessions_app.rate import RateLimit
from sessions_app.usage import read_tokens_of_day

__all__ = ["MAX_RUNNING_TURNS_PER_USER", "RateLimit", "refuse_over_limits"]

MAX_RUNNING_TURNS_PER_USER = 2
RUNNING_WAIT_SECONDS = 5
"""When programs may ask again while that many answers are being written: nobody knows when one ends."""
SESSIONS_PER_TURN = 3
"""An unused session costs one row, so users may open more of them than turns."""
USER_LOCK = Func(
    Value(LockSpace.LIMITS.value),
    parameter("person"),
    function="pg_advisory_xact_lock",
    output_field=TextField(),
)
"""The lock under which a user's turns are counted; `person` is their `lock_key`."""


@prepared
def _open_turns() -> QuerySet[Any, Any]:
    turns = Turn.of(parameter("user")).filter(status__in=OPEN_TURN_STATUSES)
    return turns.order_by().values_list("session_id", "status", "is_opening", "part")


@cache
def _first_too_many(turns: int) -> prepared:
    """Return the query of when the oldest of that many recent turns began: no row where there are fewer."""
    recent = Turn.of(parameter("user")).filter(ASKED_HERE, started_at__gt=parameter("since"))
    newest_first = recent.order_by("-started_at").values_list("started_at")
    return prepared(lambda: newest_first[turns - 1 : turns])


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """An open turn's status. `is_opening`: Sage speaks first in it, and the user hasn't answered."""

    status: str
    is_opening: bool

    @property
    def is_running(self) -> bool:
        return self.status == TurnStatus.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsAsked:
    """A user's open turns by session.

    `full_since`: when the oldest of as many recent turns as the limit allows began; None with fewer of them.
    """

    open: Mapping[UUID, OpenTurn]
    full_since: datetime | None


def refuse_over_limits(*, user_id: int, rate_limit: RateLimit) -> None:
    """Refuse a turn over the user's limits. Under the user's lock, concurrent turns count each other."""
    lock_limits(user_id=user_id)
    asked = turns_asked(*run_queries(turns_queries(user_id, rate_limit)))
    refuse_over(asked, user_id=user_id, rate_limit=rate_limit)


def turns_queries(user_id: int, rate_limit: RateLimit) -> Sequence[Query]:
    """Return the two queries whose rows `turns_asked` takes."""
    since = timezone.now() - timedelta(seconds=rate_limit.seconds)
    # Only one of the recent ones is read: where the limit is high, there may be thousands.
    return [_open_turns(user=user_id), _first_too_many(rate_limit.turns)(user=user_id, since=since)]


def turns_asked(turns: Rows, too_many: Rows) -> TurnsAsked:
    """Make the user's turns that count now from the rows of `turns_queries`."""
    return TurnsAsked(
        open={
            session_id: OpenTurn(status=status, is_opening=is_opening and part == 1)
            for session_id, status, is_opening, part in turns
        },
        full_since=too_many[0][0] if too_many else None,
    )


def refuse_over(asked: TurnsAsked, *, user_id: int, rate_limit: RateLimit, is_opening: bool = False) -> None:
    """Refuse a turn over the user's limits; the caller holds the user's lock.

    Turns in which Sage speaks first may run next to the others, and don't count among them.
    """
    running = sum(turn.is_running and not turn.is_opening for turn in asked.open.values())
    if running >= MAX_RUNNING_TURNS_PER_USER and not is_opening:
        raise OverLimit(
            _("Sage is already answering in %(number)s conversations. Please wait for one to finish."),
            wait_seconds=RUNNING_WAIT_SECONDS,
            number=MAX_RUNNING_TURNS_PER_USER,
        )
    if asked.full_since is not None:
        window = timedelta(seconds=rate_limit.seconds)
        raise _a_lot(OverLimit, asked.full_since + window - timezone.now())
    if rate_limit.daily_tokens is not None:
        refuse_over_budget(user_id=user_id, daily_tokens=rate_limit.daily_tokens)


def refuse_too_many_sessions(*, user_id: int, rate_limit: RateLimit) -> None:
    """Refuse a session where the user has opened too many recently. Raises `TooManySessions`."""
    now = timezone.now()
    window = timedelta(seconds=rate_limit.seconds)
    most = rate_limit.turns * SESSIONS_PER_TURN
    opened = Session.of(user_id).filter(started_at__gt=now - window, imported_until=0).order_by("-started_at")
    recent = list(opened.values_list("started_at", flat=True)[:most])
    if len(recent) >= most:
        raise _a_lot(TooManySessions, recent[-1] + window - now)


def lock_limits(*, user_id: int) -> None:
    """Take the user's lock, so that only this transaction counts what the user asks for.

    It is a statement of its own: the next one sees what was committed by the time the lock was granted.
    """
    lock_until_commit(LockSpace.LIMITS, lock_key(user_id))


def lock_key(user_id: int) -> int:
    """Return the number of a user's lock."""
    return user_id % 2**31


def _a_lot(refused: type[OverLimit], wait: timedelta) -> OverLimit:
    wait_seconds = max(1, round(wait.total_seconds()))
    if wait_seconds == 1:
        one = _("You’ve sent a lot in a short time. Please wait 1 second and send it again.")
        return refused(one, wait_seconds=wait_seconds)
    sentence = _("You’ve sent a lot in a short time. Please wait %(seconds)s seconds and send it again.")
    return refused(sentence, wait_seconds=wait_seconds, seconds=wait_seconds)


def refuse_over_budget(*, user_id: int, daily_tokens: int) -> None:
    """Raise `OverBudget` where the user's tokens of the last 24 hours are used up, cached ones included."""
    day = read_tokens_of_day(user_id=user_id, now=timezone.now(), limit=daily_tokens)
    if day.tokens < daily_tokens:
        return
    wait_seconds = day.hours_to_more * 3600
    if day.hours_to_more == 1:
        one = _("Today’s budget is used up. More will be available in about 1 hour.")
        raise OverBudget(one, wait_seconds=wait_seconds)
    sentence = _("Today’s budget is used up. More will be available in about %(hours)s hours.")
    raise OverBudget(sentence, wait_seconds=wait_seconds, hours=day.hours_to_more)
