"""When letters are due: each at a time of its own, spread over the first day of the month."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from hashlib import blake2s
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, Q

from coaching.clock.days import day_bounds, local_day
from coaching.clock.weeks import month_after
from coaching.job_queue.letters import enqueue_letter
from coaching.letters.words import month_before
from coaching.models import Letter, Profile

LAST_DAY = 7
"""Of the month: a letter that couldn't be written by then isn't written."""
SPREAD = timedelta(hours=16)
MAX_ATTEMPTS = 6
RETRY_AFTER = timedelta(hours=6)


def queue_due(*, now: datetime) -> int:
    """Queue the letters that are due at `now` (aware); return how many. Sync ORM code."""
    return sum(enqueue_letter(user_id, month) for user_id, month in _due(now))


def due_at(user_id: int, month: date, zone: ZoneInfo) -> datetime:
    """Return when the letter about a month is due: on the first of the next one, at the person's own time."""
    begin = day_bounds(month_after(month), zone)[0]
    digest = blake2s(f"{user_id}:{month}".encode(), digest_size=4).digest()
    return begin + SPREAD * (int.from_bytes(digest) / 2**32)


def has_ended(now: datetime) -> Q:
    """Return the condition for letters that aren't to be tried now, or ever again."""
    return Q(ended_at__isnull=False) | Q(attempts__gte=MAX_ATTEMPTS) | Q(tried_at__gt=now - RETRY_AFTER)


def _due(now: datetime) -> Iterator[tuple[int, date]]:
    wanting = Profile.unscoped.filter(wants_letters=True, user__is_active=True).order_by("user_id")
    for name in wanting.order_by().values_list("timezone", flat=True).distinct():
        zone = ZoneInfo(name)
        if local_day(now, zone).day > LAST_DAY:
            continue
        month = month_before(now, zone)
        ended = Letter.unscoped.filter(has_ended(now), user=OuterRef("user"), month=month)
        people = wanting.filter(~Exists(ended), timezone=name).values_list("user_id", flat=True)
        yield from ((user_id, month) for user_id in people if due_at(user_id, month, zone) <= now)
