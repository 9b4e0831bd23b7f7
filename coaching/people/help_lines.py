"""Help lines in the database, the shipped ones if it fails; loading those, and counting cards."""

import contextvars
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from unicodedata import normalize

import structlog
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext

from coaching.models import CardCount, HelpLine, Profile
from coaching.safety.countries import ANYWHERE, COUNTRY_NAMES, country_of_timezone
from coaching.safety.lines import Line, Offer, ShippedLine, offer_of, shipped_lines, shipped_offer
from coaching.safety.phrases import Topic
from sessions_app.database import lock_until_commit
from sessions_app.lock_spaces import LockSpace

logger = structlog.get_logger(__name__)

_FIELDS = ("kind", "name", "note", "phone", "text", "url", "hours", "language")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """How many lines a sync changed; `left` are those that operators have edited or switched off."""

    added: int
    changed: int
    retired: int
    left: int


def country_of(profile: Profile) -> str:
    """Return the country whose lines a person sees: their choice, otherwise that of their time zone."""
    return profile.country or country_of_timezone(profile.timezone)


def read_offer(country: str, *, topic: Topic = "life") -> Offer:
    rows = HelpLine.objects.filter(is_active=True, country__in=(country, ANYWHERE))
    lines = [(row.country, line_of(row)) for row in rows.order_by("order", "id")]
    if lines:
        return offer_of(lines, country=country, topic=topic)
    # Don't bring back what an operator has switched off.
    return shipped_offer(country=ANYWHERE if HelpLine.objects.exists() else country, topic=topic)


def read_session_offer(session_id: uuid.UUID, *, topic: Topic = "life") -> Offer:
    """Read the offer for a session's user; if the database fails, the shipped international lines."""
    try:
        with transaction.atomic():
            profile = Profile.unscoped.filter(user__coaching_sessions=session_id).first()
            return read_offer(country_of(profile) if profile else ANYWHERE, topic=topic)
    except DatabaseError:
        _log_of_nobody("help_lines_without_database")
        return shipped_offer(topic=topic)


def read_offered_countries() -> Mapping[str, str]:
    """Return the names, by code, of the countries with their own lines, in the active language."""
    codes = set(HelpLine.objects.filter(is_active=True).values_list("country", flat=True).distinct())
    codes = codes or {row.country for row in shipped_lines()}
    names = {code: gettext(name) for code, name in COUNTRY_NAMES.items() if code in codes}
    return dict(sorted(names.items(), key=lambda item: normalize("NFKD", item[1])))


def line_of(row: HelpLine) -> Line:
    """Convert a stored line for display."""
    return Line(**{field: getattr(row, field) for field in _FIELDS})


@transaction.atomic
def sync_help_lines(shipped: Iterable[ShippedLine] | None = None) -> SyncReport:
    """Load the shipped lines one process at a time; edited ones stay, dropped ones are switched off."""
    lock_until_commit(LockSpace.HELP_LINES, 0)
    rows = {row.key: row for row in HelpLine.objects.exclude(key=None).select_for_update()}
    done: Counter[str] = Counter()
    for order, entry in enumerate(shipped_lines() if shipped is None else shipped, start=1):
        values = {"country": entry.country, **asdict(entry.line)}
        row = rows.pop(entry.key, None)
        if row is None:
            HelpLine.objects.create(key=entry.key, order=order * 10, shipped=values, **values)
            done["added"] += 1
        elif row.shipped != values and _is_as_shipped(row):
            HelpLine.objects.filter(pk=row.pk).update(shipped=values, checked_on=None, **values)
            done["changed"] += 1
        elif row.shipped != values:
            done["left"] += 1
    for row in rows.values():
        if _is_as_shipped(row):
            HelpLine.objects.filter(pk=row.pk).update(is_active=False)
            done["retired"] += 1
    return SyncReport(
        added=done["added"], changed=done["changed"], retired=done["retired"], left=done["left"]
    )


def _is_as_shipped(row: HelpLine) -> bool:
    return row.is_active and all(getattr(row, name) == value for name, value in row.shipped.items())


def count_card(level: str, *, now: datetime) -> None:
    """Count a card shown at `now` (aware) on its day (UTC); a failure is logged and not counted."""
    day = now.date()
    try:
        with transaction.atomic():
            counts = CardCount.objects.filter(day=day, level=level)
            if counts.update(shown=F("shown") + 1):
                return
            try:
                with transaction.atomic():
                    CardCount.objects.create(day=day, level=level, shown=1)
            except IntegrityError:  # another process was faster
                counts.update(shown=F("shown") + 1)
    except DatabaseError:
        _log_of_nobody("card_not_counted")


def _log_of_nobody(event: str) -> None:
    """Log without request and turn ids: a line may say that a card was shown, never to whom."""
    contextvars.Context().run(logger.warning, event)
