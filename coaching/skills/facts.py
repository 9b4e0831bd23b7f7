"""Builds a user's `LifeFacts` from the database with four queries, however much the user has written."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Q

from coaching.clock.days import local_day, next_weekday
from coaching.models import Capture, DayPlan, FileType, LifeDomain, Profile, UserFile
from coaching.safety.grief import is_grief
from coaching.safety.intensity import MESSAGES_LOOKED_AT, SaidWords, measure_intensity
from coaching.safety.plan import names_plan
from coaching.skills.life_facts import LifeFacts

_Row = tuple[str, str, Mapping[str, Any]]
"""Type, path and frontmatter of a file."""


def build_life_facts(
    *, user_id: int, now: datetime, recent: Sequence[SaidWords] = (), holds_offers: bool = False
) -> LifeFacts:
    """Read the facts at `now` (aware).

    `recent` are the user's last messages in this conversation, oldest first.
    """
    profile = Profile.of(user_id).select_related("user").first() or Profile(user_id=user_id)
    today = local_day(now, profile.zone)
    plan = DayPlan.of(user_id).filter(date=today).first()
    return life_facts(
        profile=profile,
        now=now,
        files=_read_files(user_id, today),
        has_plan_today=plan is not None and plan.says_something,
        unfolded_captures=Capture.of(user_id).waiting().count(),
        recent=recent,
        holds_offers=holds_offers,
    )


def life_facts(
    *,
    profile: Profile,
    now: datetime,
    files: Iterable[_Row],
    has_plan_today: bool,
    unfolded_captures: int,
    recent: Sequence[SaidWords] = (),
    is_map_offered: bool = False,
    arc: str = "",
    holds_offers: bool = False,
    is_plan_fitting: bool = False,
    is_first_talk: bool = False,
    is_about_client: bool = False,
) -> LifeFacts:
    """Build the facts from what was read; `now` is aware.

    `files` are type, path and frontmatter of the overview, all pages of domains, and today's log.
    The life map exists once its overview is written or every domain has a page. `is_map_offered`: before
    today. `arc` is the session's current one.
    """
    today = local_day(now, profile.zone)
    rows = list(files)
    pages = _pages_of_domains(rows)
    types = {file_type for file_type, _, _ in rows}
    statuses = [(name, str(pages.get(name, {}).get("status") or "")) for name in LifeDomain]
    return LifeFacts(
        local_time=now.astimezone(profile.zone),
        has_life_map=FileType.OVERVIEW in types or pages.keys() >= set(LifeDomain),
        has_plan_today=has_plan_today,
        has_log_today=_has_log(rows, today),
        is_checkin_due=is_checkin_due(profile, today),
        domain_statuses=tuple((name, status) for name, status in statuses if status),
        unfolded_captures=unfolded_captures,
        days_to_quarter_end=(quarter_end(today) - today).days,
        intensity=measure_intensity(recent),
        is_grieving=_is_grieving(recent),
        is_map_begun=bool(pages) or is_map_offered,
        is_first_talk=is_first_talk,
        is_about_client=is_about_client,
        messages=len(recent),
        arc=arc,
        is_plan_fitting=is_plan_fitting,
        asks_for_plan=any(names_plan(words.text) for words in recent[-1:]),
        holds_offers=holds_offers,
    )


def _pages_of_domains(rows: Sequence[_Row]) -> Mapping[str, Mapping[str, Any]]:
    """Return the frontmatter of domains' pages, by the domain."""
    return {
        path.rpartition("/")[2].removesuffix(".md"): frontmatter
        for file_type, path, frontmatter in rows
        if file_type == FileType.DOMAIN
    }


def _has_log(rows: Sequence[_Row], day: date) -> bool:
    name = f"/{day.isoformat()}.md"
    return any(file_type == FileType.DAILY_LOG and path.endswith(name) for file_type, path, _ in rows)


def is_checkin_due(profile: Profile, today: date) -> bool:
    """Whether the weekly check-in is due or overdue on `today`, in the user's time zone."""
    return today >= checkin_due_on(profile)


def checkin_due_on(profile: Profile) -> date:
    """Return the day of the next weekly check-in, possibly in the past.

    The first one is due on the first check-in day after sign-up.
    """
    if profile.next_checkin_on is not None:
        return profile.next_checkin_on
    return next_weekday(local_day(profile.user.date_joined, profile.zone), profile.checkin_weekday)


def quarter_end(day: date) -> date:
    """Return the last day of the quarter of `day`."""
    first_month_after = (day.month - 1) // 3 * 3 + 4
    year, month = (day.year + 1, 1) if first_month_after > 12 else (day.year, first_month_after)
    return date(year, month, 1) - timedelta(days=1)


def _is_grieving(recent: Sequence[SaidWords]) -> bool:
    last = recent[-MESSAGES_LOOKED_AT:]
    return any(is_grief(words.text) for words in last) and not any(words.is_danger for words in last)


def _read_files(user_id: int, today: date) -> Iterable[tuple[str, str, Mapping[str, Any]]]:
    is_of_map = Q(file_type__in=(FileType.OVERVIEW, FileType.DOMAIN))
    is_todays_log = Q(file_type=FileType.DAILY_LOG, path__endswith=f"/{today.isoformat()}.md")
    files = UserFile.of(user_id).filter(is_of_map | is_todays_log)
    return files.values_list("file_type", "path", "frontmatter")
