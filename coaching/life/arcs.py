"""The arcs as a literal table: the skill that guides each, and the artefacts that complete it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, assert_never
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day, next_weekday
from coaching.files.types import RULES, AttributeName
from coaching.models import DayPlan, FileType, LifeDomain, Profile, PulseRating, UserFile
from coaching.skills.loader import skill_text, skills_moment
from sessions_app.models import Session, SessionKind

ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFile:
    """A file of the arc's day, written during the arc, with these attributes.

    The days before and after count as well: a day may be closed the next morning, or planned the evening
    before.
    """

    file_type: FileType
    attributes: tuple[AttributeName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A file with a fixed path.

    `may_be_older`: one from before the arc counts, too. `left_by` names the page that says what was left for
    later: once that is written in the arc, this one isn't lacking.
    """

    name: str
    path: str
    may_be_older: bool = False
    left_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """At least one rating, given in the arc."""


Artefact = DayFile | Page | Pulse


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcRule:
    """An arc: the folder of its skill, how long it takes, and its artefacts."""

    skill: str
    takes: str
    leaves: tuple[Artefact, ...]


def _page(file_type: FileType) -> Page:
    return Page(name=str(file_type), path=RULES[file_type].place)


PULSE = "pulse"
"""Reported as missing if the arc has no rating."""

ARCS: Mapping[SessionKind, ArcRule] = {
    SessionKind.OPEN_DAY: ArcRule(
        skill="open-day",
        takes="two minutes",
        leaves=(DayFile(file_type=FileType.DAY_PLAN, attributes=("intention", "priorities")),),
    ),
    SessionKind.CLOSE_DAY: ArcRule(
        skill="close-day",
        takes="three minutes",
        leaves=(
            DayFile(file_type=FileType.DAILY_LOG, attributes=("energy", "mood_signal", "domains_touched")),
        ),
    ),
    SessionKind.WEEKLY_CHECKIN: ArcRule(
        skill="weekly-checkin",
        takes="fifteen minutes",
        leaves=(DayFile(file_type=FileType.CHECK_IN, attributes=("themes",)), Pulse()),
    ),
    SessionKind.LIFE_MAPPING: ArcRule(
        skill="life-mapping",
        takes="ten minutes a part",
        leaves=(
            # A map is often drawn in several sessions: pages from earlier ones count.
            *(
                Page(
                    name=f"domain {domain}",
                    path=f"{RULES[FileType.DOMAIN].place}/{domain}.md",
                    may_be_older=True,
                    left_by=FileType.OVERVIEW,
                )
                for domain in LifeDomain
            ),
            _page(FileType.OVERVIEW),
            _page(FileType.LIFE_PLAN),
            _page(FileType.SAGE_CONTEXT),
        ),
    ),
}


def arc_skill_text(session: Session, arc: SessionKind) -> str:
    """Return the text that guides an arc in a session. Raises `SkillError` if it is missing."""
    return skill_text(ARCS[arc].skill, moment=skills_moment(session))


def read_lacking_artefacts(
    *, user_id: int, arc: SessionKind, since: datetime, now: datetime, timezone: ZoneInfo
) -> list[str]:
    """Name what an arc that began at `since` (aware) still lacks; empty when it is complete."""
    days = (local_day(since, timezone) - ONE_DAY, local_day(now, timezone) + ONE_DAY)
    lacking: list[str] = []
    for artefact in ARCS[arc].leaves:
        match artefact:
            case DayFile():
                lacking += _read_lacking_of_day(artefact, user_id=user_id, since=since, days=days)
            case Page():
                lacking += _read_lacking_page(artefact, user_id=user_id, since=since)
            case Pulse():
                if not PulseRating.of(user_id).filter(rated_at__gte=since).exists():
                    lacking.append(PULSE)
            case _:
                assert_never(artefact)
    return without_left(arc, lacking)


def without_left(arc: SessionKind, lacking: Sequence[str]) -> list[str]:
    """Return what is lacking without the pages that were left for later. Pure."""
    pages = [artefact for artefact in ARCS[arc].leaves if isinstance(artefact, Page)]
    left = {page.name for page in pages if page.left_by and page.left_by not in lacking}
    return [name for name in lacking if name not in left]


def _read_lacking_of_day(
    artefact: DayFile, *, user_id: int, since: datetime, days: tuple[date, date]
) -> list[str]:
    place = RULES[artefact.file_type].place
    first, last = (f"{place}/{day.isoformat()}.md" for day in days)
    files = UserFile.of(user_id).filter(
        file_type=artefact.file_type, path__gte=first, path__lte=last, updated_at__gte=since
    )
    # The file that lacks least: an incomplete plan for tomorrow doesn't count against today's complete one.
    unmet = [[name for name in artefact.attributes if not _read_attributes(file).get(name)] for file in files]
    if not unmet:
        return [f"{artefact.file_type} with {', '.join(artefact.attributes)}"]
    return [f"{name} of the {artefact.file_type}" for name in min(unmet, key=len)]


def _read_attributes(file: UserFile) -> dict[str, Any]:
    """Return the file's attributes; a plan saved again without some keeps its earlier ones."""
    if file.file_type == FileType.DAY_PLAN and (plan := DayPlan.of(file.user_id).filter(file=file).first()):
        return {**file.frontmatter, "intention": plan.intention, "priorities": plan.priorities}
    return dict(file.frontmatter)


def _read_lacking_page(artefact: Page, *, user_id: int, since: datetime) -> list[str]:
    files = UserFile.of(user_id).filter(path=artefact.path, version_number__gt=0)
    if not artefact.may_be_older:
        files = files.filter(updated_at__gte=since)
    return [] if files.exists() else [artefact.name]


def next_checkin(profile: Profile, *, today: date) -> date:
    """Return the day of the next weekly check-in; an overdue one is due today."""
    if profile.next_checkin_on is not None:
        return max(profile.next_checkin_on, today)
    return next_weekday(today, profile.checkin_weekday)
