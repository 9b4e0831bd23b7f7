"""The conversations next to the open one: a list that loads page by page, and its rows after a change."""

import re
import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from itertools import groupby

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from coaching.clock.days import local_day
from coaching.models import Profile
from coaching.people.accounts import load_profile, local_now, user_id_of
from coaching.views.parts import wants_part
from sessions_app.listing import ListPlace, list_sessions
from sessions_app.models import Session, SessionFolder

SIDEBAR = "sidebar"
"""What a form sends as `then` if its answer replaces a part of the sidebar."""
ROWS_A_PAGE = 40
PLACE = re.compile(r"([pr])([0-9]{1,17})\.([0-9a-f]{32})", re.ASCII)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Group = tuple[str, Sequence[Session]]


@login_required
@require_safe
def sidebar(request: HttpRequest) -> HttpResponse:
    """Show a page of the list, the one after the place in `?after`; without htmx the page of all."""
    if not wants_part(request):
        return redirect("sessions")
    return render_list(request, after=_place_in(request))


def render_list(request: HttpRequest, *, after: ListPlace | None = None) -> HttpResponse:
    """Render a page of the list: groups by day, and where the next one begins. The first has folders."""
    profile = load_profile(request)
    rows, following = list_sessions(user_id=user_id_of(request), after=after, limit=ROWS_A_PAGE)
    context = {
        "folders": SessionFolder.of(profile.user_id) if after is None else (),
        "groups": _groups(rows, profile, after=after),
        "after": following and _words_of(following),
    }
    return render(request, "coaching/components/sidebar_list.html", context)


def show_whole_list(request: HttpRequest) -> HttpResponse:
    """Answer a form of one row with the whole list, because the row has moved."""
    response = render_list(request)
    response["HX-Retarget"], response["HX-Reswap"] = "#sidebar-list", "innerHTML"
    return response


def show_row(request: HttpRequest, session: Session, *, gone: str = "") -> HttpResponse:
    """Answer a form with its row; `gone` is `archived` or `deleted` for one that only offers to undo that."""
    context = {"session": session, "gone": gone}
    return render(request, "coaching/components/sidebar_row.html", context)


def show_refusal(request: HttpRequest, message: str) -> HttpResponse:
    """Answer a refused form with a notice in it."""
    context = {"message": message}
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    response = render(request, "coaching/components/notice.html", context, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "find .form-notice", "innerHTML"
    return response


def group_name(*, is_pinned: bool, day: date, today: date) -> str:
    """Return the heading of a list under which a conversation of that day stands."""
    if is_pinned:
        return gettext("Pinned")
    if day >= today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    if day > today - timedelta(days=7):
        return gettext("Last 7 days")
    if day > today - timedelta(days=30):
        return gettext("Last 30 days")
    return capfirst(date_format(day, "YEAR_MONTH_FORMAT"))


def _groups(rows: Sequence[Session], profile: Profile, *, after: ListPlace | None) -> list[Group]:
    """Return the rows by group; the first has no name if it continues the last one of the page before."""
    today = local_day(local_now(profile), profile.zone)

    def name_of(place: ListPlace) -> str:
        day = local_day(place.at, profile.zone)
        return group_name(is_pinned=place.is_pinned, day=day, today=today)

    groups: list[Group] = [
        (name, list(members)) for name, members in groupby(rows, key=lambda row: name_of(ListPlace.of(row)))
    ]
    if groups and after is not None and groups[0][0] == name_of(after):
        groups[0] = ("", groups[0][1])
    return groups


def _place_in(request: HttpRequest) -> ListPlace | None:
    """Return the place in `?after`; None, which is the beginning, if it is missing or invalid."""
    found = PLACE.fullmatch(request.GET.get("after", ""))
    if found is None:
        return None
    at = EPOCH + timedelta(microseconds=int(found[2]))
    return ListPlace(is_pinned=found[1] == "p", at=at, session_id=uuid.UUID(found[3]))


def _words_of(place: ListPlace) -> str:
    microseconds = (place.at - EPOCH) // timedelta(microseconds=1)
    return f"{'p' if place.is_pinned else 'r'}{microseconds}.{place.session_id.hex}"
