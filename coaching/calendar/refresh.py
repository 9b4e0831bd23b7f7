"""Refreshes calendars in three steps: read the row, fetch and parse without the database, write the result.

So no connection is held during fetching and parsing. The old events stay until a refresh succeeds. A feed's
address is never logged.
"""

import asyncio
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta

import structlog
from django.db import transaction
from yarl import URL

from coaching.calendar.fetchers import Fetched, Fetcher
from coaching.calendar.reading import Overloaded, ReadCalendar, digest_of, read_calendar
from coaching.job_queue.names import REFRESH_JOB
from coaching.job_queue.queue import enqueue
from coaching.models import CalendarEvent, CalendarKind, CalendarSource
from sessions_app.errors import Refused

FEED_INTERVAL = timedelta(hours=1)
FIRST_WAIT = timedelta(minutes=15)
LONGEST_WAIT = timedelta(days=1)
EXPANSION_INTERVAL = timedelta(days=7)
"""After this time recurring events are expanded again, from the stored text."""
MAX_DUE = 500
ROWS_AT_ONCE = 1_000

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A calendar's state before a refresh."""

    source_id: int
    kind: str
    origin: str
    content: bytes
    digest: str
    expanded_on: date
    etag: str
    last_modified: str
    begun_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An attempt's result. `fetched` has a body if the content is new; `read` is set if there are events.

    `error` says why a feed couldn't be read; its stored content may have been expanded again.
    """

    fetched: Fetched | None = None
    read: ReadCalendar | None = None
    error: str = ""


def begin_refresh(*, source_id: int, now: datetime, is_due_only: bool = False) -> Attempt | None:
    """Return what a refresh needs; None if the calendar is gone, or isn't due and `is_due_only`."""
    source = CalendarSource.unscoped.filter(id=source_id, user__is_active=True).first()
    if source is None or (is_due_only and source.next_try_at > now):
        return None
    return Attempt(
        source_id=source.pk,
        kind=source.kind,
        origin=source.origin,
        content=bytes(source.content),
        digest=source.digest,
        expanded_on=source.expanded_on,
        etag=source.etag,
        last_modified=source.last_modified,
        begun_at=now,
    )


async def attempt_refresh(attempt: Attempt, *, fetcher: Fetcher) -> Outcome:
    """Fetch and parse a feed, without the database. Raises `Overloaded` if it should be retried."""
    today = attempt.begun_at.date()
    fetched, error = None, ""
    if attempt.kind == CalendarKind.FEED:
        try:
            fetched = await fetcher.fetch(
                URL(attempt.origin), etag=attempt.etag, last_modified=attempt.last_modified
            )
            if fetched.body is not None and digest_of(fetched.body) != attempt.digest:
                return Outcome(
                    fetched=fetched, read=await asyncio.to_thread(read_calendar, fetched.body, day=today)
                )
        except Overloaded:
            raise
        except Refused as refusal:
            error = str(refusal)
    read = None
    if today - attempt.expanded_on >= EXPANSION_INTERVAL:
        try:
            read = await asyncio.to_thread(read_calendar, attempt.content, day=today)
        except Overloaded:
            raise
        except Refused as refusal:
            error = error or str(refusal)
    return Outcome(fetched=fetched, read=read, error=error)


@transaction.atomic
def finish_refresh(attempt: Attempt, outcome: Outcome) -> CalendarSource | None:
    """Store an attempt's result; None if the calendar is gone or a later attempt was first."""
    source = CalendarSource.unscoped.select_for_update().filter(id=attempt.source_id).first()
    if source is None or source.tried_at > attempt.begun_at:
        return None
    source.tried_at = attempt.begun_at
    if outcome.fetched is not None and not outcome.error:
        source.etag, source.last_modified = outcome.fetched.etag, outcome.fetched.last_modified
        if outcome.read is not None and outcome.fetched.body is not None:
            source.content, source.digest = outcome.fetched.body, digest_of(outcome.fetched.body)
    if outcome.read is not None:
        replace_events(source, outcome.read)
    if outcome.error:
        source.failures += 1
        source.failing_since = source.failing_since or attempt.begun_at
        source.error = outcome.error[:300]
        source.next_try_at = attempt.begun_at + wait_after(source.failures)
        logger.info("calendar_not_read", source_id=source.pk, failures=source.failures)
    else:
        source.failures, source.failing_since, source.error = 0, None, ""
        source.read_at = attempt.begun_at
        source.next_try_at = attempt.begun_at + interval_of(source.kind)
    source.save()
    return source


def replace_events(source: CalendarSource, read: ReadCalendar) -> None:
    """Replace a calendar's events, in the caller's transaction."""
    source.events.all().delete()
    source.events.bulk_create(
        [CalendarEvent(source=source, **asdict(event)) for event in read.events], batch_size=ROWS_AT_ONCE
    )
    source.left_out = read.left_out
    source.expanded_on = read.day


def interval_of(kind: str) -> timedelta:
    """Return the time between successful refreshes."""
    return FEED_INTERVAL if kind == CalendarKind.FEED else EXPANSION_INTERVAL


def wait_after(failures: int) -> timedelta:
    """Return the wait after this many failures in a row."""
    doublings: int = 2 ** min(failures - 1, 10)
    return min(LONGEST_WAIT, FIRST_WAIT * doublings)


def enqueue_due(*, now: datetime) -> int:
    """Queue a job for each due calendar; return how many were new."""
    due = CalendarSource.unscoped.filter(next_try_at__lte=now, user__is_active=True).order_by("next_try_at")
    ids = list(due.values_list("id", flat=True)[:MAX_DUE])
    return sum(enqueue(REFRESH_JOB, key=f"calendar-{source_id}", source_id=source_id) for source_id in ids)
