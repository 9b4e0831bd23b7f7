"""Usage and cost for operators: sums and charts of a period first, then every call. Never any words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from coaching.admin.charts import Columns, draw_columns, percent_of
from sessions_app.admin import ReadOnlyMixin
from sessions_app.models import ModelUsage, UsagePurpose
from sessions_app.money import dollars, small_dollars
from sessions_app.usage_report import UsageReport, UsageSum, read_usage_report

PEOPLE_LISTED = 25
PERIODS = {
    "this-month": "This month",
    "last-month": "Last month",
    "30-days": "Last 30 days",
    "12-months": "Last 12 months",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a table: a name, its sums in words, and the length of its bar. `address` lists its calls."""

    name: str
    address: str
    calls: str
    read_tokens: str
    cached_percent: str
    written_tokens: str
    cost: str
    unpriced_calls: str
    bar: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """The chart of a period by day or by month. `highest` is what its highest column stands for."""

    unit: str
    columns: Columns
    first: str
    last: str
    highest: str
    lines: Sequence[Line]


@admin.register(ModelUsage)
class ModelUsageAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Every model call with its tokens and its price; without a filter, their sums."""

    list_display = (
        "created_at", "user", "purpose", "model", "cost", "input_tokens", "output_tokens",
        "cache_read_tokens", "first_token_ms", "duration_ms",
    )  # fmt: skip
    list_filter = ("purpose", "model", "created_at")
    list_select_related = ("user",)
    search_fields = ("user__username", "user__email", "=session__id", "=turn__id")
    ordering = ("-created_at",)
    show_full_result_count = False

    @admin.display(description="Cost", ordering="cost_micro_usd")
    def cost(self, usage: ModelUsage) -> str:
        return small_dollars(usage.cost_micro_usd)

    def get_urls(self) -> list[URLPattern]:
        sums = path(
            "sums/", self.admin_site.admin_view(require_safe(self.sums)), name="sessions_app_modelusage_sums"
        )
        return [sums, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if not request.GET and self.has_view_permission(request):
            return redirect("admin:sessions_app_modelusage_sums")
        return super().changelist_view(request, extra_context)

    def sums(self, request: HttpRequest) -> HttpResponse:
        """Show the sums of a period, this month's unless asked for another."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        period = request.GET.get("period", "")
        period = period if period in PERIODS else "this-month"
        since, until = period_of(period, now=timezone.now())
        report = read_usage_report(since=since, until=until)
        context = {
            **self.admin_site.each_context(request),
            "title": "Model usage",
            "opts": self.opts,
            "period": period,
            "periods": PERIODS.items(),
            "since": since,
            "last_day": until - timedelta(microseconds=1),
            "total": _lines({"": report.total}, {})[0],
            "days": _days(report, since=since, until=until, by_month=period == "12-months"),
            "tables": _tables(report),
            "people": len(report.by_user),
            "people_listed": PEOPLE_LISTED,
        }
        return TemplateResponse(request, "admin/sessions_app/modelusage/sums.html", context)


def period_of(period: str, *, now: datetime) -> tuple[datetime, datetime]:
    """Return the beginning and the end of a period, in UTC; the day that runs is part of it."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    tomorrow = today + timedelta(days=1)
    month = today.replace(day=1)
    if period == "last-month":
        return (month - timedelta(days=1)).replace(day=1), month
    if period == "30-days":
        return tomorrow - timedelta(days=30), tomorrow
    if period == "12-months":
        year, index = divmod(12 * month.year + month.month - 12, 12)
        return month.replace(year=year, month=index + 1), tomorrow
    return month, tomorrow


def _tables(report: UsageReport) -> list[tuple[str, Sequence[Line]]]:
    costliest = sorted(report.by_user.items(), key=lambda item: (item[1].cost, item[1].tokens), reverse=True)
    people = dict(costliest[:PEOPLE_LISTED])
    names = {person.pk: person.get_username() for person in User.objects.filter(pk__in=people)}
    return [
        ("Model", _lines(report.by_model, {}, field="model__exact")),
        ("Purpose", _lines(report.by_purpose, dict(UsagePurpose.choices), field="purpose__exact")),
        ("Person", _lines(people, names, field="user__id__exact")),
    ]


def _days(report: UsageReport, *, since: datetime, until: datetime, by_month: bool) -> Days:
    sums: dict[date, UsageSum] = {}
    day = since.date()
    while day < until.date():
        key = day.replace(day=1) if by_month else day
        sums[key] = sums.get(key, UsageSum()) + report.by_day.get(day, UsageSum())
        day += timedelta(days=1)
    names = {day: f"{day:%B %Y}" if by_month else f"{day:%a} {day.day} {day:%B}" for day in sums}
    measures = [_measure(each, report.total) for each in sums.values()]
    titles = [
        f"{name}: {_in_words(measure, report.total)}"
        for name, measure in zip(names.values(), measures, strict=True)
    ]
    return Days(
        unit="month" if by_month else "day",
        columns=draw_columns(measures, titles),
        first=names[min(sums)],
        last=names[max(sums)],
        highest=_in_words(max(measures), report.total),
        lines=_lines(dict(reversed(sums.items())), names, is_sorted=False),
    )


def _lines(
    sums: Mapping[Any, UsageSum], names: Mapping[Any, str], *, field: str = "", is_sorted: bool = True
) -> list[Line]:
    """Return a line for each key, the most expensive first unless they are in another order already."""
    total = sum(sums.values(), UsageSum())
    highest = max((_measure(each, total) for each in sums.values()), default=0)
    items = list(sums.items())
    if is_sorted:
        items.sort(key=lambda item: (-item[1].cost, -item[1].tokens, str(item[0])))
    calls = reverse("admin:sessions_app_modelusage_changelist")
    return [
        Line(
            name=names.get(key, str(key)),
            address=f"{calls}?{field}={key}" if field else "",
            calls=f"{each.calls:,}",
            read_tokens=f"{each.read_tokens:,}",
            cached_percent=f"{round(100 * each.cached_tokens / (each.read_tokens or 1))} %",
            written_tokens=f"{each.written_tokens:,}",
            cost=dollars(each.known_cost),
            unpriced_calls=f"{each.unpriced_calls:,}" if each.unpriced_calls else "",
            bar=percent_of(_measure(each, total), highest),
        )
        for key, each in items
    ]


def _measure(each: UsageSum, total: UsageSum) -> int:
    """Return what a bar shows: cost, or tokens where nothing has cost anything."""
    return each.cost if total.cost else each.tokens


def _in_words(measure: int, total: UsageSum) -> str:
    return dollars(measure) if total.cost else f"{measure:,} tokens"
