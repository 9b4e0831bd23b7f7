"""Days on which something that was written spoke of danger, by what is known of it now."""

from datetime import date
from itertools import chain
from zoneinfo import ZoneInfo

from django.db.models import Q

from coaching.clock.days import day_bounds, local_day
from coaching.files.types import RULES
from coaching.life.journal import day_of_name
from coaching.models import CaptureVerdict, FileType, Photo
from coaching.safety.card import ELSEWHERE_KEY, METADATA_KEY
from sessions_app.models import Message, ToolCallRecord, VerdictLevel

_LEVELS = (VerdictLevel.CONCERN, VerdictLevel.IMMEDIATE)
_ISO_DATE_CHARACTERS = 10


def read_days_of_danger(*, user_id: int, first: date, last: date, zone: ZoneInfo) -> set[date]:
    """Return those of the days from `first` to `last` on which a message, an answer, a capture or the
    description of a photo spoke of danger to anybody, in four queries.
    """
    begin, end = day_bounds(first, zone)[0], day_bounds(last, zone)[1]
    said = Message.of(user_id).filter(
        Q(metadata__has_any_keys=[METADATA_KEY, ELSEWHERE_KEY]) | Q(safety_verdict__level__in=_LEVELS),
        session__started_at__lt=end,
        session__last_active_at__gte=begin,
        created_at__gte=begin,
        created_at__lt=end,
    )
    answered = ToolCallRecord.of(user_id).filter(
        finished_at__gte=begin, finished_at__lt=end, metadata__has_key=METADATA_KEY
    )
    moments = chain(said.values_list("created_at", flat=True), answered.values_list("finished_at", flat=True))
    described = Photo.of(user_id).filter(day__range=(first, last)).exclude(danger_level=VerdictLevel.NONE)
    return {
        *(local_day(moment, zone) for moment in moments if moment is not None),
        *_days_of_captures(user_id, first, last),
        *described.values_list("day", flat=True),
    }


def _days_of_captures(user_id: int, first: date, last: date) -> set[date]:
    place = RULES[FileType.CAPTURE].place
    paths = CaptureVerdict.of(user_id).filter(
        level__in=_LEVELS,
        version__file__file_type=FileType.CAPTURE,
        version__file__path__gte=f"{place}/{first.isoformat()}",
        version__file__path__lt=f"{place}/{last.isoformat()}z",
    )
    names = paths.values_list("version__file__path", flat=True)
    days = (day_of_name(path.rpartition("/")[2][:_ISO_DATE_CHARACTERS]) for path in names)
    return {day for day in days if day is not None}
