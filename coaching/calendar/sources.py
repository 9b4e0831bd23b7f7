"""Adds, refreshes and removes a person's calendars, one transaction each."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext_noop

from coaching.calendar.fetchers import Fetched
from coaching.calendar.reading import ReadCalendar, digest_of
from coaching.calendar.refresh import interval_of, replace_events
from coaching.calendar.selectors import sources_of
from coaching.models import CalendarKind, CalendarSource
from coaching.people.attempts import AttemptLimit
from sessions_app.errors import Refused

MAX_SOURCES = 10
MAX_ATTEMPTS = 20
ATTEMPT_SECONDS = 600.0
REFRESH_PAUSE = timedelta(minutes=1)
NAME_CHARACTERS = 100
FILE_NAME_CHARACTERS = 200

FULL = gettext_noop("You have %(max_sources)s calendars, which is the limit. Remove one to add another.")
KNOWN = gettext_noop("You’ve already added this feed.")


attempts = AttemptLimit(attempts=MAX_ATTEMPTS, seconds=ATTEMPT_SECONDS)
"""Fetching a calendar costs time and contacts another server."""


def check_room(*, user_id: int, kind: CalendarKind, origin: str) -> None:
    """Refuse a calendar over the limit, or a feed that is already there, before it is fetched."""
    known = sources_of(user_id).filter(kind=kind, origin=origin).exists()
    if known and kind == CalendarKind.FEED:
        raise Refused(KNOWN)
    if not known and sources_of(user_id).count() >= MAX_SOURCES:
        raise Refused(FULL, max_sources=MAX_SOURCES)


@transaction.atomic
def keep_calendar(
    *,
    user_id: int,
    kind: CalendarKind,
    origin: str,
    name: str,
    fetched: Fetched,
    read: ReadCalendar,
    now: datetime,
) -> tuple[CalendarSource, bool]:
    """Store a calendar, replacing a file of the same name; return whether it is new. Raises `Refused`."""
    # Serialise additions of one person: two tabs may add at once.
    User.objects.select_for_update(no_key=True).get(id=user_id)
    check_room(user_id=user_id, kind=kind, origin=origin)
    values = _values_of(kind, fetched, read, now) | ({"name": name[:NAME_CHARACTERS]} if name else {})
    source, is_new = CalendarSource.of(user_id).update_or_create(
        kind=kind,
        origin=origin,
        defaults=values,
        create_defaults={**values, "name": (name or read.name or origin)[:NAME_CHARACTERS]},
    )
    replace_events(source, read)
    source.save(update_fields=["left_out", "expanded_on"])
    return source, is_new


def _values_of(kind: CalendarKind, fetched: Fetched, read: ReadCalendar, now: datetime) -> dict[str, Any]:
    body = fetched.body or b""
    return {
        "content": body,
        "digest": digest_of(body),
        "etag": fetched.etag,
        "last_modified": fetched.last_modified,
        "expanded_on": read.day,
        "read_at": now,
        "tried_at": now,
        "next_try_at": now + interval_of(kind),
        "failures": 0,
        "failing_since": None,
        "error": "",
    }


def accessible_source(*, user_id: int, source_id: int) -> CalendarSource:
    """Return a calendar of the person. Raises `CalendarSource.DoesNotExist`, also for somebody else's."""
    return sources_of(user_id).get(id=source_id)


def check_refreshable(source: CalendarSource, *, now: datetime) -> None:
    """Refuse to refresh a calendar that can't have changed, or was just refreshed."""
    if source.kind != CalendarKind.FEED:
        raise Refused(
            gettext_noop(
                "Uploaded calendars don’t update by themselves. Upload a newer file to replace this one."
            )
        )
    if now - source.tried_at < REFRESH_PAUSE:
        raise Refused(gettext_noop("It was updated less than a minute ago. Please wait a moment."))


def remove_source(*, user_id: int, source_id: int) -> str:
    """Remove a calendar with its events; return its name. Raises `CalendarSource.DoesNotExist`."""
    source = accessible_source(user_id=user_id, source_id=source_id)
    source.delete()
    return source.name
