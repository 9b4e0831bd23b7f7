"""Calendar settings: the list, and the forms that change it.

Plain forms: the response comes when the calendar has been fetched and read. An error is shown at its field,
and input is kept.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success, warning
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from django.views.decorators.http import require_POST, require_safe
from yarl import URL

from coaching.calendar.addresses import checked_address
from coaching.calendar.fetchers import Fetched, get_fetcher
from coaching.calendar.reading import AHEAD_DAYS, MAX_BYTES, TOO_LARGE, ReadCalendar, read_calendar
from coaching.calendar.refresh import Outcome, attempt_refresh, begin_refresh, finish_refresh
from coaching.calendar.selectors import calendar_of_day, sources_of
from coaching.calendar.sources import (
    FILE_NAME_CHARACTERS,
    MAX_SOURCES,
    accessible_source,
    attempts,
    check_refreshable,
    check_room,
    keep_calendar,
    remove_source,
)
from coaching.clock.days import local_day
from coaching.models import CalendarKind, CalendarSource
from coaching.people.accounts import load_profile, local_now, user_id_of
from coaching.people.in_flight import waiting
from coaching.views.forms import CalendarFeedForm, CalendarFileForm
from coaching.views.parts import or_404
from sessions_app.database import in_database, in_database_page
from sessions_app.errors import Refused

TOO_MANY_WAITING = gettext_noop("Your other calendars are still being read. Please try again in a moment.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A calendar in the list. `ahead`: the number of events from today on."""

    source: CalendarSource
    ahead: int


@login_required
@require_safe
def show_calendars(request: HttpRequest) -> HttpResponse:
    """List the person's calendars and show today's events."""
    return _page(request)


@login_required
@require_POST
async def upload_calendar(request: HttpRequest) -> HttpResponse:
    """Read an uploaded file and store it, replacing one of the same name."""
    form = CalendarFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return await _page_async(request, file_form=form)
    file: UploadedFile[Any] = form.cleaned_data["file"]
    try:
        if (file.size or 0) > MAX_BYTES:
            raise Refused(TOO_LARGE)
        body = file.read()
        fetched = Fetched(body=body, etag="", last_modified="")
        await _add(request, CalendarKind.FILE, _origin_of(file), form.cleaned_data["name"], fetched)
    except Refused as refusal:
        form.add_error("file", refusal.shown())
        return await _page_async(request, file_form=form)
    return redirect("calendar")


@login_required
@require_POST
async def subscribe_calendar(request: HttpRequest) -> HttpResponse:
    """Fetch a feed for the first time and subscribe to it."""
    form = CalendarFeedForm(request.POST)
    if not form.is_valid():
        return await _page_async(request, feed_form=form)
    try:
        address = checked_address(form.cleaned_data["address"])
        await _add(request, CalendarKind.FEED, address, form.cleaned_data["name"])
    except Refused as refusal:
        form.add_error("address", refusal.shown())
        return await _page_async(request, feed_form=form)
    return redirect("calendar")


@login_required
@require_POST
async def refresh_calendar(request: HttpRequest, source_id: int) -> HttpResponse:
    """Fetch a feed now and show the result."""
    user_id = user_id_of(request)
    now = timezone.now()
    with or_404():
        source = await in_database(accessible_source, user_id=user_id, source_id=source_id)
    try:
        check_refreshable(source, now=now)
        attempts.count(user_id)
        attempt = await in_database(begin_refresh, source_id=source_id, now=now)
        if attempt is None:
            raise Http404
        async with _waiting():
            outcome = await attempt_refresh(attempt, fetcher=get_fetcher())
        is_kept = await in_database(finish_refresh, attempt, outcome) is not None
    except Refused as refusal:
        said = _("%(name)s wasn’t updated. %(reason)s")
        warning(request, said % {"name": source.name, "reason": refusal.shown()})
    else:
        say = success if is_kept and not outcome.error else warning
        say(request, _result_of(source.name, outcome, is_kept=is_kept))
    return redirect("calendar")


@login_required
@require_POST
def remove_calendar(request: HttpRequest, source_id: int) -> HttpResponse:
    with or_404():
        name = remove_source(user_id=user_id_of(request), source_id=source_id)
    success(request, _("%(name)s was removed. Sage no longer sees its events.") % {"name": name})
    return redirect("calendar")


async def _add(
    request: HttpRequest, kind: CalendarKind, place: str | URL, name: str, fetched: Fetched | None = None
) -> None:
    user_id = user_id_of(request)
    await in_database(check_room, user_id=user_id, kind=kind, origin=str(place))
    attempts.count(user_id)
    now = timezone.now()
    async with _waiting():
        if isinstance(place, URL):
            fetched = await get_fetcher().fetch(place)
        assert fetched is not None
        read = await asyncio.to_thread(read_calendar, fetched.body or b"", day=now.date())
    if isinstance(place, URL):
        name = name or read.name or str(place.host)
    source, is_new = await in_database(
        keep_calendar,
        user_id=user_id,
        kind=kind,
        origin=str(place),
        name=name,
        fetched=fetched,
        read=read,
        now=now,
    )
    said = _("%(name)s was added: %(events)s.") if is_new else _("%(name)s was replaced: %(events)s.")
    success(request, said % {"name": source.name, "events": _found(read)})


@asynccontextmanager
async def _waiting() -> AsyncIterator[None]:
    """Wait for a feed server or a parser. Raises `Refused` if too many of the person's requests wait."""
    async with waiting() as may_wait:
        if not may_wait:
            raise Refused(TOO_MANY_WAITING)
        yield


def _result_of(name: str, outcome: Outcome, *, is_kept: bool) -> str:
    if not is_kept:
        said = _("%(name)s was updated or removed at the same time. This is the current list.")
        return said % {"name": name}
    if outcome.error:
        said = _("%(name)s couldn’t be read. %(reason)s")
        return said % {"name": name, "reason": _(outcome.error)}
    if outcome.read is None or outcome.fetched is None or outcome.fetched.body is None:
        return _("%(name)s is up to date.") % {"name": name}
    return _("%(name)s was updated: %(events)s.") % {"name": name, "events": _found(outcome.read)}


def _found(read: ReadCalendar) -> str:
    """Return how many events were found; the calendar's row shows what was left out."""
    if read.left_out and not read.events:
        return _("none of its events around today could be read")
    number = len(read.events)
    said = ngettext("%(number)s event around today", "%(number)s events around today", number)
    return said % {"number": number_format(number, force_grouping=True)}


def _origin_of(file: "UploadedFile[Any]") -> str:
    name = "".join(character for character in file.name or "" if character.isprintable()).strip()
    return name[:FILE_NAME_CHARACTERS] or "calendar.ics"


async def _page_async(request: HttpRequest, **forms: Any) -> HttpResponse:
    return await in_database_page(_page, request, **forms)


def _page(
    request: HttpRequest,
    *,
    file_form: CalendarFileForm | None = None,
    feed_form: CalendarFeedForm | None = None,
) -> HttpResponse:
    user_id, profile = user_id_of(request), load_profile(request)
    today = local_day(local_now(profile), profile.zone)
    rows = _rows(user_id)
    context = {
        "here": "settings",
        "zone": profile.zone,
        "today": today,
        "rows": rows,
        "is_full": len(rows) >= MAX_SOURCES,
        "max_sources": MAX_SOURCES,
        "ahead_days": AHEAD_DAYS,
        "day": calendar_of_day(user_id, today, profile.zone),
        "file_form": file_form or CalendarFileForm(),
        "feed_form": feed_form or CalendarFeedForm(),
    }
    is_refused = file_form is not None or feed_form is not None
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK
    return render(request, "coaching/pages/calendars.html", context, status=status)


def _rows(user_id: int) -> Sequence[SourceRow]:
    now = timezone.now()
    is_ahead = Q(events__ends_at__gte=now) | Q(events__ends_on__gt=now.date())
    sources = sources_of(user_id).annotate(ahead=Count("events", filter=is_ahead))
    return [SourceRow(source=source, ahead=source.ahead) for source in sources]
