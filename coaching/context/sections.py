"""The sections of a prompt: one function each, in one fixed order, the same for every session.

A function takes what it needs from a life and returns its section; None where there is nothing to show.
It neither counts tokens nor knows what was said before.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

from coaching.calendar.selectors import DayEvent
from coaching.clock.days import local_day, with_weekday
from coaching.context.care import care_section
from coaching.context.continuity import left_open, recent_sessions
from coaching.context.entries import Entry, Section
from coaching.context.fences import fence, fence_value
from coaching.context.header import client_of
from coaching.context.library import client_section, library_headlines, scope_section
from coaching.context.life import Life, day_path, known
from coaching.context.life_file import LifeFile
from coaching.context.life_queries import NEWEST
from coaching.context.next_steps import next_steps
from coaching.models import FileType, LifeDomain
from coaching.models.life import DomainStatus

FLAGGED = (DomainStatus.IN_CRISIS, DomainStatus.NEEDS_ATTENTION)
SHOWN_ATTRIBUTES = ("energy", "mood_signal", "domains_touched", "themes", "intention", "priorities")
SHOWN_EVENTS = 40
GIVES_WAY = 0.8
"""The weight of an entry, as a share of the next newer one's."""


def pulse_baseline(life: Life) -> Section | None:
    """Show each domain's first rating and its last four."""
    lines = [
        f"{domain.value}: first {pulse.baseline}, lately {', '.join(map(str, pulse.trend))} "
        f"(last on {with_weekday(local_day(pulse.rated_at, life.profile.zone))})"
        for domain, pulse in known(life.pulse).items()
    ]
    if not lines:
        return None
    text = "\n".join(["Ratings from 1 (worst) to 5, the newest last.", *lines])
    return Section(name="pulse_baseline", attributes={}, entries=(Entry(tag="", attributes={}, text=text),))


def check_ins(life: Life) -> Section | None:
    """Show the last weekly check-ins."""
    return _listed("check_ins", "check_in", life.of_type(FileType.CHECK_IN))


def daily_logs(life: Life) -> Section | None:
    """Show the last daily logs, without yesterday's, which has a section of its own."""
    yesterday = day_path(FileType.DAILY_LOG, life.yesterday)
    logs = [log for log in life.of_type(FileType.DAILY_LOG) if log.path != yesterday]
    logs = logs[: NEWEST[FileType.DAILY_LOG]]
    return _listed("daily_logs", "daily_log", logs)


def captures(life: Life) -> Section | None:
    """Show the newest waiting captures and the number of all; those that a log took in are in the log."""
    files = life.of_type(FileType.CAPTURE)
    return _listed("captures", "capture", files, waiting=known(life.waiting_captures))


def todays_plan(life: Life) -> Section | None:
    """Show the plan of the user's own day."""
    return _plan(life, "todays_plan", life.today)


def yesterdays_plan(life: Life) -> Section | None:
    """Show the plan of the day before."""
    return _plan(life, "yesterdays_plan", life.yesterday)


def yesterdays_journal(life: Life) -> Section | None:
    """Show the log of the day before."""
    file = life.file_of_day(FileType.DAILY_LOG, life.yesterday)
    return _single("yesterdays_journal", file, date=with_weekday(life.yesterday)) if file else None


def todays_calendar(life: Life) -> Section | None:
    """Show today's events, or that there are none; None without a calendar."""
    day = known(life.calendar)
    if not day.has_calendar:
        return None
    lines = [_event_line(event) for event in day.events[:SHOWN_EVENTS]] or ["Nothing is on it."]
    if len(day.events) > SHOWN_EVENTS:
        lines.append(f"[shortened: {len(day.events) - SHOWN_EVENTS} more events are left out]")
    unread_since = with_weekday(day.unread_since) if day.unread_since else ""
    attributes = {"date": with_weekday(life.today), "may_be_old_since": unread_since}
    entry = Entry(tag="", attributes={}, text="\n".join(lines))
    return Section(name="todays_calendar", attributes=attributes, entries=(entry,))


def flagged_domains(life: Life) -> Section | None:
    """Show the domains in crisis, then those that need attention."""
    pages = {file.path.rpartition("/")[2].removesuffix(".md"): file for file in life.of_type(FileType.DOMAIN)}
    flagged = [
        _entry("domain", pages[domain], name=domain, status=status, weight=1.0, **_age(life, pages[domain]))
        for status in FLAGGED
        for domain in LifeDomain
        if domain in pages and pages[domain].frontmatter.get("status") == status
    ]
    return Section(name="flagged_domains", attributes={}, entries=tuple(flagged)) if flagged else None


def _page(life: Life, *, name: str, file_type: FileType) -> Section | None:
    file = life.file_of(file_type)
    return _single(name, file, **_age(life, file)) if file else None


SectionFunction = Callable[[Life], Section | None]

PAGES = {
    "sage_context": FileType.SAGE_CONTEXT,
    "overview": FileType.OVERVIEW,
    "life_plan": FileType.LIFE_PLAN,
    "weekly_plan": FileType.WEEKLY_PLAN,
    "patterns": FileType.SAGE_PATTERNS,
}
"""The sections that show one file with a fixed path."""
STANDING: Mapping[str, SectionFunction] = {
    "care": lambda life: care_section(known(life.care), session_id=life.session_id),
    "scope": lambda life: scope_section(known(life.library)),
    "recent_sessions": lambda life: recent_sessions(
        known(life.recent_sessions), is_about_client=bool(client_of(life))
    ),
    "left_open": lambda life: left_open(known(life.recent_sessions)),
    "next_steps": lambda life: next_steps(known(life.steps)),
    **{name: partial(_page, name=name, file_type=file_type) for name, file_type in PAGES.items()},
    "pulse_baseline": pulse_baseline,
}
TEMPORAL: Mapping[str, SectionFunction] = {
    "check_ins": check_ins,
    "daily_logs": daily_logs,
    "captures": captures,
    "todays_plan": todays_plan,
    "yesterdays_plan": yesterdays_plan,
    "yesterdays_journal": yesterdays_journal,
    "todays_calendar": todays_calendar,
    "flagged_domains": flagged_domains,
    "library_headlines": lambda life: library_headlines(known(life.library), life.profile.zone),
    "client": lambda life: client_section(known(life.library), life.profile.zone),
}
CONTINUITY = ("recent_sessions", "next_steps", "left_open")
"""The sections about what was said and promised before, which share a limit."""
ORDER: Sequence[str] = (*STANDING, *TEMPORAL)


def _single(name: str, file: LifeFile, **attributes: object) -> Section:
    entry = Entry(tag="", attributes={}, text=_text(file), path=file.path, unread=file.unread)
    return Section(name=name, attributes={"path": file.path, **attributes}, entries=(entry,))


def _listed(name: str, tag: str, files: Iterable[LifeFile], **attributes: object) -> Section | None:
    entries = tuple(
        _entry(tag, file, date=_dated(file.day), weight=GIVES_WAY**age) for age, file in enumerate(files)
    )
    return Section(name=name, attributes=attributes, entries=entries) if entries else None


def _entry(tag: str, file: LifeFile, *, weight: float, **attributes: object) -> Entry:
    return Entry(
        tag=tag,
        attributes={**attributes, "path": file.path},
        text=_text(file),
        path=file.path,
        unread=file.unread,
        weight=weight,
    )


def _plan(life: Life, name: str, day: date) -> Section | None:
    plan, file = known(life.plans).get(day), life.file_of_day(FileType.DAY_PLAN, day)
    lines = []
    if plan is not None and plan.intention:
        lines.append(f"Intention: {fence(plan.intention)}")
    if plan is not None:
        lines += [_priority_line(priority) for priority in plan.priorities]
    body = fence(file.body) if file else ""
    text = "\n".join([*lines, *(["", body] if lines and body else [body] if body else [])])
    if not text:
        return None
    entry = Entry(
        tag="", attributes={}, text=text, path=file.path if file else "", unread=file.unread if file else 0
    )
    path = {"path": file.path} if file else {}
    return Section(name=name, attributes={"date": with_weekday(day), **path}, entries=(entry,))


def _priority_line(priority: Any) -> str:
    return f"- [{'x' if priority.get('is_done') else ' '}] {fence_value(priority.get('text', ''), 500)}"


def _event_line(event: DayEvent) -> str:
    place = f" ({fence_value(event.location, 80)})" if event.location else ""
    return f"- {event.when}: {fence_value(event.title, 120) or 'no title'}{place}"


def _text(file: LifeFile) -> str:
    """Return a file's body below one line with the day's values from its frontmatter."""
    facts = [
        f"{name}: {_said(file.frontmatter[name])}" for name in SHOWN_ATTRIBUTES if file.frontmatter.get(name)
    ]
    if file.file_type == FileType.DAY_PLAN:
        facts = []
    body = fence(file.body)
    return "\n".join([*([" · ".join(facts)] if facts else []), body]).strip() or "(empty)"


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(fence_value(item) for item in value[:10])
    return fence_value(value)


def _age(life: Life, file: LifeFile) -> Mapping[str, str]:
    """Return since when a page is as it is: the day that it states, else that of its version."""
    if file.updated or file.written_at is None:
        return {"updated": _dated(file.updated)}
    day = with_weekday(local_day(file.written_at, life.profile.zone))
    return {"imported" if file.is_imported else "updated": day}


def _dated(text: str) -> str:
    """Return a date that a file states, with its weekday; any other text unchanged."""
    try:
        return with_weekday(date.fromisoformat(text))
    except ValueError:
        return text
