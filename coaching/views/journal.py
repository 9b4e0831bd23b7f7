"""The journal: a month as a stream of days with its calendar, one day, and a week to read or print."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from coaching.care.reading import read_care
from coaching.clock.days import day_bounds
from coaching.clock.weeks import first_weekday, month_after, week_of, weeks_of_month
from coaching.letters.choice import ShownLetter, read_letter
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
from coaching.life.photos import MAX_OF_A_DAY, photos_of_days
from coaching.life.stream import StreamDay, read_stream
from coaching.models import FileType, Profile
from coaching.people.accounts import load_profile, local_now
from coaching.safety.card import danger_in
from coaching.safety.countries import country_of_timezone
from coaching.sandbox.markdown import render_texts
from coaching.views.capture_cards import take_card
from coaching.views.days import EARLIEST, day_in, month_in, today_of
from coaching.views.parts import wants_part

CHART_MONTHS = 3
_CHARTS = (("mood", _("Mood"), mood_level), ("energy", _("Energy"), energy_level))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A day in the calendar. `glance` is None for a day without files; `steps` are those due and done.

    `shown` is the day in the stream, if it is there.
    """

    day: date
    is_of_month: bool
    is_today: bool
    glance: DayGlance | None
    steps: Sequence[DayStep]
    shown: StreamDay | None

    @property
    def has_page(self) -> bool:
        return self.is_today or self.glance is not None or bool(self.steps) or self.shown is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedChart:
    """A chart of words, with what somebody who doesn't see it is told: how many, and the last one."""

    name: str
    title: str
    chart: DayChart
    count: int
    latest: str


@login_required
@require_safe
def journal(request: HttpRequest) -> HttpResponse:
    """Show the days of a month (`?month=2026-11`), and mood and energy up to its end."""
    profile = load_profile(request)
    today = today_of(profile)
    month = month_in(request.GET.get("month", f"{today:%Y-%m}"), today)
    weeks = weeks_of_month(month, _first_weekday(profile))
    last = month_after(month) - timedelta(days=1)
    days = read_days(user_id=profile.user_id, first=month_after(month, 1 - CHART_MONTHS), last=last)
    steps = steps_of_days(user_id=profile.user_id, first=month, last=last, zone=profile.zone)
    stream = read_stream(
        user_id=profile.user_id, first=month, last=last, zone=profile.zone, days=days, steps=steps
    )
    shown = {one.day: one for one in stream}
    first = read_first_day(user_id=profile.user_id, zone=profile.zone)
    is_quiet = _is_quiet(profile)
    context = {
        "here": "journal",
        "zone": profile.zone,
        "today": today,
        "month": month,
        "weeks": [[_cell(day, month, today, days, steps, shown) for day in week] for week in weeks],
        "weekdays": weeks[0],
        "earlier": month_after(month, -1) if first and first < month else None,
        "later": month_after(month) if month < today.replace(day=1) else None,
        "letter": _letter(profile, month, is_quiet=is_quiet),
        "look_back": _look_back(profile, today) if month == today.replace(day=1) and not is_quiet else None,
        "is_empty": first is None and not steps and not stream,
        **_over_time(days, until=min(last, today)),
    }
    html = render_texts(one.log.text for one in stream if one.log)
    context["stream"] = [(one, html[one.log.text] if one.log else "") for one in stream]
    return render(request, "coaching/pages/journal.html", context)


@login_required
@require_safe
def journal_day(request: HttpRequest, day: str) -> HttpResponse:
    """Show a day: its intention, plan and log, and what came of it. The part is its photos."""
    profile = load_profile(request)
    today = today_of(profile)
    on = day_in(day, today)
    if wants_part(request):
        photos = photos_of_days(user_id=profile.user_id, days=[on]).get(on, ())
        return render(request, "coaching/components/day_photos.html", {"photos": photos, "day": on})
    found = read_day(user_id=profile.user_id, day=on, zone=profile.zone)
    context = {
        "here": "journal",
        "zone": profile.zone,
        "today": today,
        "found": found,
        "paths": _named(found.glance.paths),
        "before": on - timedelta(days=1) if on > EARLIEST else None,
        "after": on + timedelta(days=1) if on < today else None,
        "week": week_of(on, _first_weekday(profile)),
        "look_back": _look_back(profile, on) if on <= today and not _is_quiet(profile) else None,
        "can_add": on <= today,
        "max_mb": settings.SAGE_MAX_UPLOAD_MB,
        "max_photos": MAX_OF_A_DAY,
        "card": take_card(request, profile),
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
    today = today_of(profile)
    week = week_of(day_in(day, today), _first_weekday(profile))
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
        "month": max(week[0], EARLIEST),
        "before": max(week[0] - timedelta(days=7), EARLIEST) if week[0] > EARLIEST else None,
        "after": week[0] + timedelta(days=7) if week[-1] < today else None,
    }
    html = render_texts(texts.values())
    context["check_ins"] = [(path, html[text]) for path, text in texts.items()]
    return render(request, "coaching/pages/journal_week.html", context)


def _is_quiet(profile: Profile) -> bool:
    """Return whether nothing comes back by itself: somebody is in care."""
    care = read_care(user_id=profile.user_id, now=local_now(profile), zone=profile.zone)
    return care.holds_offers


def _letter(profile: Profile, month: date, *, is_quiet: bool) -> ShownLetter | None:
    """Return a month's letter, without its line in care or where that speaks of danger."""
    letter = read_letter(profile, month=month)
    if letter and (is_quiet or danger_in(letter.preview_line)):
        return replace(letter, preview_line="")
    return letter


def _look_back(profile: Profile, today: date) -> LookBack | None:
    return read_look_back(user_id=profile.user_id, today=today, zone=profile.zone)


def _is_shown(day: date, today: date, days: Collection[date]) -> bool:
    return day >= EARLIEST and (day <= today or day in days)


def _cell(
    day: date,
    month: date,
    today: date,
    days: Mapping[date, DayGlance],
    steps: Mapping[date, Sequence[DayStep]],
    shown: Mapping[date, StreamDay],
) -> Cell:
    return Cell(
        day=day,
        is_of_month=day.month == month.month,
        is_today=day == today,
        glance=days.get(day),
        steps=steps.get(day, ()),
        shown=shown.get(day),
    )


def _over_time(days: Mapping[date, DayGlance], *, until: date) -> dict[str, Any]:
    """Return the charts of mood and energy, and the days that say something about either, newest first.

    Both charts begin and end with these days, so that they are as wide as what there is to show.
    """
    said = [glance for day, glance in sorted(days.items()) if day <= until and (glance.mood or glance.energy)]
    if not said:
        return {"charts": [], "said": []}
    first, last = said[0].day, said[-1].day
    span = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    glances = [days.get(day) or DayGlance(day=day) for day in span]
    charts = [
        _chart(name, str(title), level_of, first, [getattr(glance, name) for glance in glances])
        for name, title, level_of in _CHARTS
    ]
    return {
        "charts": [named for named in charts if not named.chart.is_empty],
        "said": said[::-1],
        "since": first,
        "until": last,
    }


def _chart(
    name: str, title: str, level_of: Callable[[str], int | None], first: date, words: Sequence[str]
) -> NamedChart:
    said = [word for word in words if word]
    return NamedChart(
        name=name,
        title=title,
        chart=draw_days(first, [level_of(word) for word in words], words),
        count=len(said),
        latest=said[-1] if said else "",
    )


def _named(found: Mapping[FileType, Any]) -> dict[str, Any]:
    """Return what is known by file type under names that a template can read."""
    names = {FileType.DAY_PLAN: "plan", FileType.DAILY_LOG: "log", FileType.CHECK_IN: "check_in"}
    return {names[file_type]: value for file_type, value in found.items()}


def _first_weekday(profile: Profile) -> int:
    return first_weekday(profile.country or country_of_timezone(profile.timezone))
