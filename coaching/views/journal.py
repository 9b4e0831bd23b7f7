"""The journal: past days in a calendar, one day with what came of it, and a week to read or print."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from coaching.care.reading import read_care
from coaching.clock.days import day_bounds, local_day
from coaching.clock.weeks import first_weekday, month_after, week_of, weeks_of_month
from coaching.files.types import RULES
from coaching.letters.choice import read_letter
from coaching.letters.look_back import LookBack, read_look_back
from coaching.library.rows.steps import DayStep, steps_of_days
from coaching.life.drawing import DayChart, draw_days
from coaching.life.journal import (
    DayGlance,
    count_captures,
    read_check_ins,
    read_day,
    read_days,
    read_first_day,
    read_ratings,
)
from coaching.life.levels import energy_level, mood_level
from coaching.models import FileType, Profile
from coaching.people.accounts import load_profile, local_now
from coaching.safety.countries import country_of_timezone
from coaching.sandbox.markdown import render_texts

CHART_MONTHS = 3
DAYS_AHEAD = RULES[FileType.DAY_PLAN].days_ahead
"""A plan may be for a day to come."""
_EARLIEST = date(1970, 1, 1)
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_CHARTS = (("mood", _("Mood"), mood_level), ("energy", _("Energy"), energy_level))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A day in the calendar. `glance` is None for a day without files; `steps` are those due and done."""

    day: date
    is_of_month: bool
    is_today: bool
    glance: DayGlance | None
    steps: Sequence[DayStep]

    @property
    def has_page(self) -> bool:
        return self.is_today or self.glance is not None or bool(self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedChart:
    name: str
    title: str
    chart: DayChart


@login_required
@require_safe
def journal(request: HttpRequest) -> HttpResponse:
    """Show a month (`?month=2026-11`), and mood and energy up to its end."""
    profile = load_profile(request)
    today = _today(profile)
    month = _month_in(request, today)
    weeks = weeks_of_month(month, _first_weekday(profile))
    since, until = month_after(month, 1 - CHART_MONTHS), min(month_after(month) - timedelta(days=1), today)
    days = read_days(user_id=profile.user_id, first=since, last=weeks[-1][-1])
    steps = steps_of_days(user_id=profile.user_id, first=month, last=weeks[-1][-1], zone=profile.zone)
    first = read_first_day(user_id=profile.user_id)
    context = {
        "here": "journal",
        "today": today,
        "month": month,
        "weeks": [[_cell(day, month, today, days, steps) for day in week] for week in weeks],
        "weekdays": weeks[0],
        "earlier": month_after(month, -1) if first and first < month else None,
        "later": month_after(month) if month < today.replace(day=1) else None,
        "letter": read_letter(profile, month=month),
        "look_back": _look_back(profile, today) if month == today.replace(day=1) else None,
        "is_empty": first is None and not steps,
        "is_month_empty": not any(month <= day < month_after(month) for day in (*days, *steps)),
        **_over_time(days, since, until),
    }
    return render(request, "coaching/pages/journal.html", context)


@login_required
@require_safe
def journal_day(request: HttpRequest, day: str) -> HttpResponse:
    """Show a day: its intention, plan and log, and what came of it."""
    profile = load_profile(request)
    today = _today(profile)
    on = _day_in(day, today)
    found = read_day(user_id=profile.user_id, day=on, zone=profile.zone)
    context = {
        "here": "journal",
        "zone": profile.zone,
        "today": today,
        "found": found,
        "paths": _named(found.glance.paths),
        "before": on - timedelta(days=1) if on > _EARLIEST else None,
        "after": on + timedelta(days=1) if on < today else None,
        "week": week_of(on, _first_weekday(profile)),
    }
    # After all reads, because rendering returns the connection.
    rendered = render_texts(found.texts.values())
    html: dict[FileType, SafeString] = {name: rendered[text] for name, text in found.texts.items()}
    return render(request, "coaching/pages/journal_day.html", context | {"html": _named(html)})


@login_required
@require_safe
def journal_week(request: HttpRequest, day: str) -> HttpResponse:
    """Show the week that a day is in, as a page to read or print."""
    profile = load_profile(request)
    today = _today(profile)
    week = week_of(_day_in(day, today), _first_weekday(profile))
    days = read_days(user_id=profile.user_id, first=week[0], last=week[-1])
    begin, _end = day_bounds(week[0], profile.zone)
    _begin, end = day_bounds(week[-1], profile.zone)
    texts = read_check_ins(user_id=profile.user_id, days=days)
    steps = steps_of_days(user_id=profile.user_id, first=week[0], last=week[-1], zone=profile.zone)
    context = {
        "here": "journal",
        "week": week,
        "rows": [
            (days.get(on, DayGlance(day=on)), steps.get(on, ()))
            for on in week
            if _is_shown(on, today, (*days, *steps))
        ],
        "ratings": read_ratings(user_id=profile.user_id, begin=begin, end=end),
        "captures": count_captures(user_id=profile.user_id, first=week[0], last=week[-1]),
        "done": sum(glance.done for glance in days.values()),
        "planned": sum(len(glance.priorities) for glance in days.values()),
        "steps_done": sum(step.is_done for on_day in steps.values() for step in on_day),
        "month": max(week[0], _EARLIEST),
        "before": max(week[0] - timedelta(days=7), _EARLIEST) if week[0] > _EARLIEST else None,
        "after": week[0] + timedelta(days=7) if week[-1] < today else None,
    }
    html = render_texts(texts.values())
    context["check_ins"] = [(path, html[text]) for path, text in texts.items()]
    return render(request, "coaching/pages/journal_week.html", context)


def _look_back(profile: Profile, today: date) -> LookBack | None:
    """Return what comes back of a day long ago: nothing while somebody is in care."""
    care = read_care(user_id=profile.user_id, now=local_now(profile), zone=profile.zone)
    if care.holds_offers:
        return None
    return read_look_back(user_id=profile.user_id, today=today, zone=profile.zone)


def _is_shown(day: date, today: date, days: Collection[date]) -> bool:
    return day >= _EARLIEST and (day <= today or day in days)


def _cell(
    day: date,
    month: date,
    today: date,
    days: Mapping[date, DayGlance],
    steps: Mapping[date, Sequence[DayStep]],
) -> Cell:
    return Cell(
        day=day,
        is_of_month=day.month == month.month,
        is_today=day == today,
        glance=days.get(day),
        steps=steps.get(day, ()),
    )


def _over_time(days: Mapping[date, DayGlance], since: date, until: date) -> dict[str, Any]:
    """Return the charts of mood and energy, and the days that say something about either, newest first."""
    span = [since + timedelta(days=number) for number in range((until - since).days + 1)]
    glances = [days.get(day, DayGlance(day=day)) for day in span]
    months = [(index, day) for index, day in enumerate(span) if day.day == 1]
    charts = []
    for name, title, level_of in _CHARTS:
        words: Sequence[str] = [getattr(glance, name) for glance in glances]
        chart = draw_days([level_of(said) for said in words], words, months)
        if not chart.is_empty:
            charts.append(NamedChart(name=name, title=str(title), chart=chart))
    said = [glance for glance in reversed(glances) if glance.mood or glance.energy]
    return {"charts": charts, "said": said, "since": since, "until": until}


def _named(found: Mapping[FileType, Any]) -> dict[str, Any]:
    """Return what is known by file type under names that a template can read."""
    names = {FileType.DAY_PLAN: "plan", FileType.DAILY_LOG: "log", FileType.CHECK_IN: "check_in"}
    return {names[file_type]: value for file_type, value in found.items()}


def _today(profile: Profile) -> date:
    return local_day(local_now(profile), profile.zone)


def _first_weekday(profile: Profile) -> int:
    return first_weekday(profile.country or country_of_timezone(profile.timezone))


def _month_in(request: HttpRequest, today: date) -> date:
    text = request.GET.get("month", f"{today:%Y-%m}")
    if not _MONTH.fullmatch(text):
        raise Http404
    return _parsed(f"{text}-01", today)


def _day_in(text: str, today: date) -> date:
    if not _DAY.fullmatch(text):
        raise Http404
    return _parsed(text, today)


def _parsed(text: str, today: date) -> date:
    """Return a day that a person may have written about. Raises `Http404`."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise Http404 from None
    if not _EARLIEST <= day <= today + timedelta(days=DAYS_AHEAD):
        raise Http404
    return day
