"""The pages that list conversations: all of them, the archive, and each folder."""

from collections.abc import Sequence
from http import HTTPStatus
from itertools import groupby
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_safe

from coaching.clock.days import local_day
from coaching.models import Profile
from coaching.people.accounts import load_profile, local_now, user_id_of
from coaching.views.parts import back_to, or_404
from coaching.views.session_forms import FolderForm
from coaching.views.sidebar import Group, group_name
from coaching.views.starters import starters_for
from sessions_app.errors import Refused
from sessions_app.models import Session, SessionFolder, listed
from sessions_app.session_folders import delete_folder, list_folders, make_folder, rename_folder

SESSIONS_A_PAGE = 30
UNREADABLE = gettext_noop("Sage couldn’t read that. Please try again.")
DELETED = gettext_lazy("Folder deleted. Its conversations are still in your list.")


@login_required
@require_safe
def sessions(request: HttpRequest) -> HttpResponse:
    """List the conversations in which the person said something: pinned ones, then the last active first."""
    return _list_page(request)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def folder(request: HttpRequest, folder_id: int) -> HttpResponse:
    """List the conversations in a folder; a post renames or deletes it."""
    with or_404():
        found = SessionFolder.of(user_id_of(request)).get(id=folder_id)
    if request.method != "POST":
        return _list_page(request, folder=found)
    form = FolderForm(request.POST)
    if not form.is_valid():
        return _list_page(request, folder=found, refusal=Refused(UNREADABLE))
    with or_404():
        if form.cleaned_data["do"] == "delete":
            delete_folder(user_id=found.user_id, folder_id=found.pk)
            info(request, DELETED)
            return back_to("sessions")
        try:
            rename_folder(user_id=found.user_id, folder_id=found.pk, name=form.cleaned_data["name"])
        except Refused as refusal:
            return _list_page(request, folder=found, refusal=refusal, typed=form.cleaned_data["name"])
    return back_to("session_folder", of=found.pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_folder(request: HttpRequest) -> HttpResponse:
    """Make a folder and show it; one of that name is shown instead."""
    if request.method != "POST":  # a link of the page that a refused name is shown on
        return redirect("sessions")
    form = FolderForm(request.POST)
    name = form.cleaned_data["name"] if form.is_valid() else ""
    try:
        if not form.is_valid():
            raise Refused(UNREADABLE)
        made = make_folder(user_id=user_id_of(request), name=name)
    except Refused as refusal:
        return _list_page(request, refusal=refusal, typed=name)
    return back_to("session_folder", of=made.pk)


def _list_page(
    request: HttpRequest,
    *,
    folder: SessionFolder | None = None,
    refusal: Refused | None = None,
    typed: str = "",
) -> HttpResponse:
    """Show a list, perhaps with a refused name of a folder."""
    user_id, profile = user_id_of(request), load_profile(request)
    is_archive = folder is None and request.GET.get("show") == "archive"
    used = Session.of(user_id).filter(listed()).defer("opening", "summary", "metadata")
    rows = used.filter(archived_at__isnull=not is_archive)
    rows = rows.filter(folder=folder) if folder else rows
    page = Paginator(_in_order(rows), SESSIONS_A_PAGE).get_page(request.GET.get("page"))
    is_all = folder is None and not is_archive
    context: dict[str, Any] = {
        "here": "sessions",
        "zone": profile.zone,
        "starters": starters_for(profile) if is_all else [],
        "page": page,
        "groups": _groups(list(page.object_list), profile),
        "is_archive": is_archive,
        "folder": folder,
        "folders": list_folders(user_id=user_id) if is_all else [],
        "archived": used.filter(archived_at__isnull=False).count() if is_all else 0,
        "deleted": _just_deleted(user_id) if folder is None else [],
        "refusal": refusal.shown() if refusal else "",
        "typed": typed or (folder.name if folder else ""),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "coaching/pages/sessions.html", context, status=status)


def _in_order(rows: QuerySet[Session]) -> QuerySet[Session]:
    in_order = rows.order_by(F("pinned_at").desc(nulls_last=True), "-last_active_at", "id")
    return in_order.select_related("folder")


def _groups(rows: Sequence[Session], profile: Profile) -> Sequence[Group]:
    today = local_day(local_now(profile), profile.zone)

    def name_of(row: Session) -> str:
        day = local_day(row.last_active_at, profile.zone)
        return group_name(is_pinned=row.pinned_at is not None, day=day, today=today)

    return [(name, list(members)) for name, members in groupby(rows, key=name_of)]


def _just_deleted(user_id: int) -> QuerySet[Session]:
    return Session.deleted_of(user_id).filter(listed()).order_by("-deleted_at")[:SESSIONS_A_PAGE]
