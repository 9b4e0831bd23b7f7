"""The queries that read a life, and how much each of them gives."""

from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Left, Length

from coaching.files.types import RULES
from coaching.models import Capture, DayPlan, FileType, LifeDomain, UserFile
from sessions_app.models import USED, Session
from sessions_app.queries import over_all, parameter, prepared

READ_CHARACTERS = 24_000
NEWEST = {FileType.CHECK_IN: 3, FileType.DAILY_LOG: 7}
"""How many files of the types that are listed by date."""
WAITING_CAPTURES = 10
"""How many of the newest waiting captures."""

_STANDING_TYPES = (
    FileType.SAGE_CONTEXT,
    FileType.OVERVIEW,
    FileType.LIFE_PLAN,
    FileType.WEEKLY_PLAN,
    FileType.SAGE_PATTERNS,
)
_STANDING_PATHS = [
    *(RULES[file_type].place for file_type in _STANDING_TYPES),
    *(f"{RULES[FileType.DOMAIN].place}/{domain}.md" for domain in LifeDomain),
]


@prepared
def life_files() -> QuerySet[Any, Any]:
    """Return the query of standing files, those of two days, the newest dated ones and captures."""
    files = UserFile.of(parameter("user")).filter(versions__number=F("version_number")).order_by()
    days = map(parameter, ("plan_today", "plan_yesterday", "log_today", "log_yesterday"))
    captures = Capture.of(parameter("user")).waiting().order_by("-captured_at")
    captures = captures.filter(file__versions__number=F("file__version_number"))
    return _columns(files.filter(path__in=[*_STANDING_PATHS, *days])).union(
        *(_newest(files, file_type, limit) for file_type, limit in NEWEST.items()),
        _columns(captures, "file__")[:WAITING_CAPTURES],
        all=True,
    )


def _newest(files: QuerySet[UserFile], file_type: FileType, limit: int) -> QuerySet[Any, Any]:
    """Names begin with the date; with bounds inside the folder one index gives the newest in order."""
    place = RULES[file_type].place
    dated = files.filter(file_type=file_type, path__gte=f"{place}/0", path__lte=f"{place}/9999")
    return _columns(dated.order_by("-path"))[:limit]


def _columns(rows: QuerySet[Any, Any], path: str = "") -> QuerySet[Any, Any]:
    names = [f"{path}{name}" for name in ("path", "file_type", "frontmatter", "version_number")]
    text = f"{path}versions__content"
    return rows.values_list(*names, Length(text), Left(text, READ_CHARACTERS))


@prepared
def life_plans() -> QuerySet[Any, Any]:
    """Return the query of the plans of two days."""
    plans = DayPlan.of(parameter("user")).filter(date__in=[parameter("today"), parameter("yesterday")])
    return plans.order_by().values_list("date", "intention", "priorities", "file_id")


@prepared
def waiting_captures() -> QuerySet[Any, Any]:
    """Return the query of how many captures wait."""
    return Capture.of(parameter("user")).waiting().order_by().values_list(over_all("count", "id"))


@prepared
def last_session() -> QuerySet[Any, Any]:
    """Return the query of the last session before `session` in which the user said something."""
    others = Session.of(parameter("user")).exclude(id=parameter("session")).filter(USED)
    return others.order_by("-last_active_at").values_list("kind", "last_active_at")[:1]
