"""What operators see of the day at a glance: turns, how soon they began, and briefs that are behind."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Aggregate, Count, F, FloatField, Min, Q, QuerySet
from django.db.models.functions import Greatest

from sessions_app.models import ASKED_HERE, USED, Message, ModelUsage, Session, Turn, TurnStatus, UsagePurpose

FAILED = (TurnStatus.FAILED, TurnStatus.INTERRUPTED)
_RECENT = timedelta(days=1)


class Percentile(Aggregate):
    """The value that this fraction of the values is below."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(%(fraction)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFigures:
    """Turns since a moment. The first word is None where no answer has begun."""

    people: int
    turns: int
    failures: int
    first_word_p50_ms: int | None
    first_word_p95_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefFigures:
    """Briefs that are behind: how old the oldest message is that waits for one, and which keep failing."""

    oldest_seconds: int
    failing: int


def read_turn_figures(*, since: datetime) -> TurnFigures:
    """Count everybody's turns since a moment."""
    turns = Turn.unscoped.filter(ASKED_HERE, started_at__gte=since).aggregate(
        people=Count("session__user", distinct=True),
        turns=Count("pk"),
        failures=Count("pk", filter=Q(status__in=FAILED)),
    )
    first = ModelUsage.unscoped.filter(created_at__gte=since, purpose=UsagePurpose.TURN, round_number=1)
    words = first.aggregate(
        p50=Percentile("first_token_ms", fraction="0.5"), p95=Percentile("first_token_ms", fraction="0.95")
    )
    return TurnFigures(
        people=turns["people"],
        turns=turns["turns"],
        failures=turns["failures"],
        first_word_p50_ms=None if words["p50"] is None else round(words["p50"]),
        first_word_p95_ms=None if words["p95"] is None else round(words["p95"]),
    )


def read_brief_figures(*, now: datetime, failing_from: int) -> BriefFigures:
    """Measure the briefs of recent sessions and of those whose brief fails, `failing_from` times or more."""
    waiting = Message.unscoped.filter(
        session__in=sessions_with_brief_behind(now=now),
        number__gt=Greatest("session__brief_covers", "session__imported_until"),
        turn__is_withdrawn=False,
        turn__ended_at__isnull=False,
    )
    oldest = waiting.aggregate(oldest=Min("created_at"))["oldest"]
    return BriefFigures(
        oldest_seconds=max(0, round((now - oldest).total_seconds())) if oldest else 0,
        failing=Session.unscoped.filter(brief_attempts__gte=failing_from).count(),
    )


def sessions_with_brief_behind(*, now: datetime) -> QuerySet[Session]:
    """Return the used sessions with messages after their brief: recent ones, and those whose brief fails.

    An imported session in which nobody has gone on isn't one: its brief costs, and was not asked for.
    """
    is_recent = Q(last_active_at__gt=now - _RECENT, last_message_number__gt=F("imported_until"))
    wanted = Q(brief_attempts__gt=0) | is_recent
    return Session.unscoped.filter(USED & wanted, last_message_number__gt=F("brief_covers"))
