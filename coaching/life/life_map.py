"""The life map: the status of eight domains from their pages, and their ratings over time."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from coaching.files.standing import outdated_part
from coaching.files.types import RULES
from coaching.life.drawing import Radar, Trend, draw_radar, draw_trend
from coaching.life.pulse import TREND_LENGTH, DomainPulse, read_pulse
from coaching.models import FileType, LifeDomain, UserFile
from coaching.models.life import DomainStatus
from sessions_app.models import Session, SessionKind
from sessions_app.selectors import session_to_go_on_with

_MAP_TYPES = (FileType.DOMAIN, FileType.OVERVIEW, FileType.LIFE_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainGlance:
    """A domain in a line: its status, empty if it has no page or the page has none.

    `earlier` is the name of a status that a newer rating contradicts.
    """

    name: str
    label: str
    status: str
    status_label: str
    has_page: bool = False
    earlier: str = ""

    @property
    def standing(self) -> str:
        if self.earlier:
            return _("Earlier: %(status)s") % {"status": self.earlier}
        return self.status_label or (_("Status not set") if self.has_page else _("No page yet"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainOnMap:
    """A domain with everything known about it. `path` is its page's, empty if it has none.

    `is_rating_earlier`: a newer status contradicts it.
    """

    glance: DomainGlance
    path: str
    preview_line: str
    pulse: DomainPulse | None
    trend: Trend | None
    is_rating_earlier: bool = False

    @property
    def trend_cells(self) -> Sequence[tuple[int | None, datetime | None]]:
        """The trend with its times as a table row: the newest first, None after the oldest."""
        ratings = list(zip(self.pulse.trend, self.pulse.trend_at, strict=True)) if self.pulse else []
        return [*reversed(ratings), *((None, None) for _ in range(TREND_LENGTH - len(ratings)))]

    @property
    def rating_now(self) -> int | None:
        """The newest rating, unless a newer status contradicts it."""
        return self.pulse.latest if self.pulse and not self.is_rating_earlier else None

    @property
    def is_drawn(self) -> bool:
        return bool(self.path) or self.pulse is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeMap:
    """The whole map. `mapping` is a life-mapping session that can be continued."""

    domains: Sequence[DomainOnMap]
    radar: Radar
    overview_path: str
    plan_path: str
    mapping: Session | None

    @property
    def pages(self) -> int:
        return sum(bool(domain.path) for domain in self.domains)

    @property
    def missing(self) -> Sequence[str]:
        return [domain.glance.label for domain in self.domains if not domain.path]

    @property
    def without_status(self) -> Sequence[str]:
        return [
            domain.glance.label
            for domain in self.domains
            if domain.path and not (domain.glance.status or domain.glance.earlier)
        ]

    @property
    def is_empty(self) -> bool:
        return not (self.overview_path or self.plan_path or any(domain.is_drawn for domain in self.domains))

    @property
    def has_ratings(self) -> bool:
        return any(domain.pulse for domain in self.domains)

    @property
    def has_gaps(self) -> bool:
        """Whether some parts are rated and others aren't."""
        return self.has_ratings and any(domain.rating_now is None for domain in self.domains)

    @property
    def trend_columns(self) -> Sequence[str]:
        """The column headings for a table of trends, the newest first."""
        return [_("Latest"), *map(_ratings_ago, range(1, TREND_LENGTH))]


def glances(statuses: Mapping[str, str], *, pages: Collection[str]) -> Sequence[DomainGlance]:
    """Return all eight domains in order; `statuses` are by domain name, `pages` are domain names."""
    return [
        _glance(domain, statuses.get(domain.value, ""), has_page=domain.value in pages)
        for domain in LifeDomain
    ]


def all_statuses() -> Sequence[DomainGlance]:
    """Return every possible status, best first, for the legend."""
    return [
        DomainGlance(name="", label="", status=status.value, status_label=str(status.label))
        for status in DomainStatus
    ]


def count_mapped(user_id: int) -> int:
    """Return how many domains have a page."""
    paths = [f"{RULES[FileType.DOMAIN].place}/{domain}.md" for domain in LifeDomain]
    return UserFile.of(user_id).filter(path__in=paths, version_number__gt=0).count()


def read_life_map(*, user_id: int) -> LifeMap:
    """Read the user's life map, in three queries."""
    files = UserFile.of(user_id).filter(file_type__in=_MAP_TYPES, version_number__gt=0)
    pages = {path: _Page(*rest) for path, *rest in files.values_list("path", "frontmatter", "updated_at")}
    pulse = read_pulse(user_id)
    domains = [_on_map(domain, pages, pulse.get(domain)) for domain in LifeDomain]
    return LifeMap(
        domains=domains,
        radar=draw_radar(
            [domain.glance.label for domain in domains],
            [domain.rating_now for domain in domains],
            [domain.pulse.baseline if domain.pulse else None for domain in domains],
        ),
        overview_path=_if_there(RULES[FileType.OVERVIEW].place, pages),
        plan_path=_if_there(RULES[FileType.LIFE_PLAN].place, pages),
        mapping=session_to_go_on_with(user_id=user_id, kind=SessionKind.LIFE_MAPPING),
    )


@dataclass(frozen=True, slots=True)
class _Page:
    frontmatter: Mapping[str, Any]
    updated_at: datetime


def _on_map(domain: LifeDomain, pages: Mapping[str, _Page], pulse: DomainPulse | None) -> DomainOnMap:
    path = _if_there(f"{RULES[FileType.DOMAIN].place}/{domain.value}.md", pages)
    page = pages.get(path)
    frontmatter = page.frontmatter if page else {}
    glance = _glance(domain, str(frontmatter.get("status") or ""), has_page=bool(path))
    outdated = (
        outdated_part(glance.status, page.updated_at, pulse.latest, pulse.rated_at)
        if page and pulse
        else None
    )
    if outdated == "status":
        glance = replace(glance, status="", status_label="", earlier=glance.status_label)
    preview_line = frontmatter.get("preview_line")
    return DomainOnMap(
        glance=glance,
        path=path,
        preview_line=preview_line if isinstance(preview_line, str) else "",
        pulse=pulse,
        trend=draw_trend(pulse.trend) if pulse else None,
        is_rating_earlier=outdated == "updated_rating",
    )


def _glance(domain: LifeDomain, status: str, *, has_page: bool) -> DomainGlance:
    # An imported page may have any text here.
    known = DomainStatus(status) if status in DomainStatus.values else None
    return DomainGlance(
        name=domain.value,
        label=str(domain.label),
        status=known.value if known else "",
        status_label=str(known.label) if known else "",
        has_page=has_page,
    )


def _ratings_ago(number: int) -> str:
    return ngettext("%(number)s rating ago", "%(number)s ratings ago", number) % {"number": number}


def _if_there(path: str, pages: Mapping[str, object]) -> str:
    return path if path in pages else ""
