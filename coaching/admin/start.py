"""The admin's start page: what needs a look, then figures by subject, then all lists by subject.

Over 300 lines, because it is a list of figures.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Sum
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat, pluralize
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.admin.records import group_records
from coaching.admin.usage import period_of
from coaching.job_queue.queue import ALIVE_SECONDS, count_jobs, worker_seen_at
from coaching.job_queue.sessions import BRIEF_ATTEMPTS
from coaching.models import Backup, CareAsk, InboxRefusal, InboxState
from coaching.people.mail_failures import MailFailure, last_failure
from sessions_app.figures import FAILED, TurnFigures, read_brief_figures, read_turn_figures
from sessions_app.money import dollars
from sessions_app.usage_report import UsageSum, read_usage_sum

TEMPLATE = "admin/start.html"
CARE_PERIOD = timedelta(days=7)
JOINED_PERIOD = timedelta(days=7)
REFUSED_PERIOD = timedelta(days=7)
UNREAD_PERIOD = timedelta(hours=1)
BACKUP_PERIOD = timedelta(hours=26)
"""A daily backup that is two hours late."""
LAST_ONE = "The last complete one stays until somebody in it has been deleted for a week."


class StartPage(Protocol):
    """A site's `index`."""

    def __call__(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its name.

    `note` says what it leaves out, `address` shows more; `is_alert` asks the operator to look.
    """

    name: str
    value: str
    note: str = ""
    address: str = ""
    is_alert: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureGroup:
    """The figures of one subject."""

    name: str
    figures: Sequence[Figure]


def with_figures(index: StartPage, read_health: Callable[[], Mapping[str, str]]) -> StartPage:
    """Give a site's start page the figures that the operator may see, and its lists by subject.

    `read_health` returns the state of each part of this process, `ok` or `full` where it works.
    """

    def start_page(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        groups = [_health_group(read_health()), *read_groups(request.user.has_perm, now=timezone.now())]
        response = index(request, extra_context)
        context: dict[str, Any] = response.context_data or {}
        response.context_data = context | {
            "groups": groups,
            "alerts": [figure for group in groups for figure in group.figures if figure.is_alert],
            "records": group_records(context["app_list"]),
        }
        return response

    return start_page


def read_groups(may: Callable[[str], bool], *, now: datetime) -> Sequence[FigureGroup]:
    """Read what an operator with these permissions may see, without empty groups. The day is UTC's."""
    today, tomorrow = _day_of(now)
    queue: list[Figure] = []
    if may("procrastinate.view_procrastinatejob"):
        queue += [_worker_figure(now), *_job_figures()]
        if failure := last_failure():
            queue.append(_mail_figure(failure))
    if may("sessions_app.view_session"):
        queue += _brief_figures(now)
    if may("coaching.view_inboxstate") and settings.SAGE_INBOX:
        queue += _inbox_figures(now)
    turns = read_turn_figures(since=today) if may("sessions_app.view_turn") else None
    spend: list[Figure] = []
    if may("sessions_app.view_modelusage"):
        month, _ = period_of("this-month", now=now)
        spend = [
            _cost_figure("Cost today", read_usage_sum(since=today, until=tomorrow)),
            _cost_figure("Cost this month", read_usage_sum(since=month, until=tomorrow)),
        ]
    read = {
        "Answers": list(_turn_figures(turns, today)) if turns else [],
        "Queue": queue,
        "Backup": list(_backup_figures(now)) if may("coaching.view_backup") else [],
        "People": list(_people_figures(may, turns, now=now)),
        "Spend": spend,
    }
    return [FigureGroup(name=name, figures=figures) for name, figures in read.items() if figures]


def _health_group(parts: Mapping[str, str]) -> FigureGroup:
    failing = [name for name, state in parts.items() if state == "failing"]
    sandbox = parts["sandbox"]
    figures = [
        Figure(
            name="Database, cache, storage, loops",
            value=f"failing: {', '.join(failing)}" if failing else "working",
            is_alert=bool(failing),
        ),
        Figure(
            name="Isolation of readers",
            value="complete" if sandbox == "full" else sandbox,
            note="Readers of uploads keep some rights." if sandbox == "partial" else "",
            is_alert=sandbox == "partial",
        ),
        Figure(name="Version", value=settings.SAGE_VERSION),
    ]
    return FigureGroup(name="Health", figures=figures)


def _turn_figures(read: TurnFigures, today: datetime) -> Iterator[Figure]:
    turns = reverse("admin:sessions_app_turn_changelist")
    of_today = {"started_at__gte": today.isoformat()}
    failed = urlencode({**of_today, "status__in": ",".join(FAILED)})
    yield Figure(name="Turns today", value=f"{read.turns:,}", address=f"{turns}?{urlencode(of_today)}")
    yield Figure(
        name="Failed or interrupted today",
        value=f"{read.failures:,}",
        address=f"{turns}?{failed}",
        is_alert=read.failures > 0,
    )
    yield Figure(name="First word, median", value=_seconds(read.first_word_p50_ms))
    yield Figure(name="First word, 95th percentile", value=_seconds(read.first_word_p95_ms))


def _people_figures(
    may: Callable[[str], bool], turns: TurnFigures | None, *, now: datetime
) -> Iterator[Figure]:
    if may("auth.view_user"):
        people = User.objects.filter(is_active=True)
        joined = people.filter(date_joined__gte=now - JOINED_PERIOD).count()
        yield Figure(
            name="Accounts",
            value=f"{people.count():,}",
            note=f"{joined:,} new in 7 days" if joined else "",
            address=reverse("admin:auth_user_changelist"),
        )
    if turns:
        yield Figure(name="People today", value=f"{turns.people:,}")
    if may("coaching.view_cardcount"):
        asked = CareAsk.unscoped.filter(created_at__gte=now - CARE_PERIOD).count()
        yield Figure(
            name="Asked after danger, 7 days",
            value=f"{asked:,}",
            address=reverse("admin:coaching_cardcount_changelist"),
        )


def _cost_figure(name: str, usage: UsageSum) -> Figure:
    cost, unpriced = usage.known_cost, usage.unpriced_calls
    note = (
        "" if cost is None or not unpriced else f"+ {unpriced:,} request{pluralize(unpriced)} without a price"
    )
    return Figure(
        name=name, value=dollars(cost), note=note, address=reverse("admin:sessions_app_modelusage_sums")
    )


def _worker_figure(now: datetime) -> Figure:
    seen_at = worker_seen_at()
    is_silent = seen_at is None or now - seen_at > timedelta(seconds=ALIVE_SECONDS)
    return Figure(
        name="Worker",
        value="working"
        if not is_silent
        else f"not seen since {_moment(seen_at)}"
        if seen_at
        else "none runs",
        note="No background jobs run: start one, or restart it." if is_silent else "",
        is_alert=is_silent,
    )


def _mail_figure(failure: MailFailure) -> Figure:
    """Tell of mail, once it has failed."""
    return Figure(
        name="Mail",
        value=f"the last one failed on {_moment(failure.at)}",
        note=f"{failure.host}: {failure.reason}. manage.py sendtestemail tries it.",
        is_alert=True,
    )


def _job_figures() -> Iterator[Figure]:
    jobs = f"{reverse('admin:procrastinate_procrastinatejob_changelist')}?status__exact="
    counts = count_jobs()
    failed = ProcrastinateJob.objects.filter(status="failed").count()
    yield Figure(name="Jobs that wait", value=f"{counts['due']:,}", address=f"{jobs}todo")
    yield Figure(name="Jobs that run", value=f"{counts['running']:,}")
    yield Figure(
        name="Failed jobs",
        value=f"{failed:,}",
        address=f"{jobs}failed",
        is_alert=failed > 0,
    )


def _brief_figures(now: datetime) -> Iterator[Figure]:
    briefs = read_brief_figures(now=now, failing_from=BRIEF_ATTEMPTS)
    sessions = f"{reverse('admin:sessions_app_session_changelist')}?brief="
    yield Figure(
        name="Oldest message without a brief",
        value=_age(briefs.oldest_seconds),
        address=f"{sessions}behind",
    )
    yield Figure(
        name="Briefs that keep failing",
        value=f"{briefs.failing:,}",
        address=f"{sessions}failing",
        is_alert=briefs.failing > 0,
    )


def _inbox_figures(now: datetime) -> Iterator[Figure]:
    state = InboxState.objects.first() or InboxState()
    age = _age(max(1, int((now - state.read_at).total_seconds()))) if state.read_at else ""
    yield Figure(
        name="Incoming mail was read",
        value=f"{age} ago" if age else "never",
        note=f"fails since {_moment(state.failing_since)}: {state.error}" if state.failing_since else "",
        address=reverse("admin:coaching_inboxstate_changelist"),
        is_alert=bool(state.error) or (state.read_at is not None and now - state.read_at > UNREAD_PERIOD),
    )
    refused = InboxRefusal.unscoped.filter(day__gt=(now - REFUSED_PERIOD).date())
    yield Figure(
        name="Refused mails, 7 days",
        value=f"{refused.aggregate(count=Sum('count', default=0))['count']:,}",
        address=reverse("admin:coaching_inboxrefusal_changelist"),
    )


def _backup_figures(now: datetime) -> Iterator[Figure]:
    """Tell when the last backup succeeded, or that there are none: a look where others use it."""
    newest = Backup.objects.first()
    if newest is None and not settings.SAGE_BACKUP_DIR:
        yield Figure(
            name="Backups",
            value="none",
            note="Set SAGE_BACKUP_DIR for one each night, or take them by manage.py backup.",
            is_alert=not settings.ENVIRONMENT.is_local,
        )
        return
    whole = Backup.objects.filter(is_whole=True).first()
    is_failing = newest is not None and not newest.is_whole
    is_late = whole is None or now - whole.ended_at > BACKUP_PERIOD
    notes = [newest.reason if newest and is_failing else filesizeformat(whole.size) if whole else ""]
    folder = settings.SAGE_BACKUP_DIR
    if whole and is_late and folder and (whole.reason or (folder / whole.file).is_file()):
        notes.append(whole.reason or LAST_ONE)
    yield Figure(
        name="Last backup",
        value=f"{_age(max(1, int((now - whole.ended_at).total_seconds())))} ago" if whole else "none yet",
        note=" ".join(notes),
        address=reverse("admin:coaching_backup_changelist"),
        is_alert=is_failing or (is_late and bool(settings.SAGE_BACKUP_DIR)),
    )


def _day_of(now: datetime) -> tuple[datetime, datetime]:
    until = period_of("this-month", now=now)[1]
    return until - timedelta(days=1), until


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _seconds(milliseconds: int | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds / 1000:.1f} s"


def _age(seconds: int) -> str:
    if not seconds:
        return "nothing waiting"
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 2 * 3600 else f"{seconds // 3600} h"
