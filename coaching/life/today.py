"""The user's day for the home page: its plan, what is waiting, what is due.

Read once, in a fixed number of queries. The signals get the same facts, so home offers the arc that Sage
would offer. Days are the user's own: until 04:00 it is still the day before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Q

from coaching.calendar.selectors import DayCalendar, calendar_of_day
from coaching.care.reading import read_care
from coaching.clock.days import local_day
from coaching.clock.moments import day_in_words
from coaching.files.selectors import domain_of
from coaching.files.types import RULES
from coaching.life.captures import WaitingCaptures, read_waiting_captures
from coaching.life.life_map import DomainGlance, glances
from coaching.life.plans import ShownPlan, read_plan
from coaching.life.prompts import ShownPrompt, read_next_prompt
from coaching.models import FileType, Profile, UserFile
from coaching.skills.facts import checkin_due_on, life_facts
from coaching.skills.signals import Called, call_skills
from sessions_app.models import SessionKind

CAPTURES_SHOWN = 4
EARLY_DAYS = 2
"""How long before its day the next check-in is offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIn:
    """The weekly check-in: its day, how many days away that is, and whether an earlier one planned it."""

    due_on: date
    days: int
    is_planned: bool

    @property
    def is_due(self) -> bool:
        return self.days <= 0

    @property
    def words(self) -> str:
        return day_in_words(self.due_on, today=self.due_on - timedelta(days=self.days))


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    """The day. `log_path` is the path of the log that closed it, empty while it is open.

    `holds_offers`: nothing is offered now, because of danger days ago.
    """

    day: date
    plan: ShownPlan | None
    log_path: str
    calendar: DayCalendar
    captures: WaitingCaptures
    prompt: ShownPrompt | None
    domains: Sequence[DomainGlance]
    has_life_map: bool
    check_in: CheckIn
    called: Called
    holds_offers: bool = False

    @property
    def is_mapped(self) -> bool:
        return any(domain.has_page for domain in self.domains)

    @property
    def done(self) -> frozenset[str]:
        """The kinds of arcs that home doesn't offer, because they are done for now."""
        is_done = {
            SessionKind.OPEN_DAY: self.plan is not None or bool(self.log_path),
            SessionKind.CLOSE_DAY: bool(self.log_path),
            SessionKind.WEEKLY_CHECKIN: self.check_in.is_planned and self.check_in.days > EARLY_DAYS,
            SessionKind.LIFE_MAPPING: self.has_life_map,
        }
        return frozenset(kind for kind, done in is_done.items() if done)


def read_today(*, profile: Profile, now: datetime) -> Today:
    """Read the day of the profile's user at `now` (aware). The profile's user must be loaded."""
    user_id, zone = profile.user_id, profile.zone
    day = local_day(now, zone)
    plan = read_plan(user_id=user_id, day=day)
    captures = read_waiting_captures(user_id=user_id, limit=CAPTURES_SHOWN)
    log_path = f"{RULES[FileType.DAILY_LOG].place}/{day.isoformat()}.md"
    pages = _read_pages(user_id, log_path)
    care = read_care(user_id=user_id, now=now, zone=zone)
    facts = life_facts(
        profile=profile,
        now=now,
        files=pages,
        has_plan_today=plan is not None,
        unfolded_captures=captures.total,
        holds_offers=care.holds_offers,
    )
    due_on = checkin_due_on(profile)
    return Today(
        day=day,
        plan=plan,
        log_path=log_path if facts.has_log_today else "",
        calendar=calendar_of_day(user_id, day, zone),
        captures=captures,
        prompt=read_next_prompt(user_id=user_id, timezone=zone),
        domains=glances(
            dict(facts.domain_statuses),
            pages={domain_of(path) for file_type, path, _ in pages if file_type == FileType.DOMAIN},
        ),
        has_life_map=facts.has_life_map,
        check_in=CheckIn(
            due_on=due_on, days=(due_on - day).days, is_planned=profile.next_checkin_on is not None
        ),
        called=call_skills(facts),
        holds_offers=care.holds_offers,
    )


def _read_pages(user_id: int, log_path: str) -> Sequence[tuple[str, str, Mapping[str, object]]]:
    is_of_map = Q(file_type__in=(FileType.OVERVIEW, FileType.DOMAIN))
    files = UserFile.of(user_id).filter(is_of_map | Q(path=log_path), version_number__gt=0)
    return list(files.values_list("file_type", "path", "frontmatter"))
