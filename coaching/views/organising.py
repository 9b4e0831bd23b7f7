"""Pins, the archive and deleting: the menu of a conversation in the list."""

import uuid
from datetime import date, timedelta
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from coaching.live.runner import get_runner
from coaching.people.accounts import user_id_of
from coaching.views.forms import OrganiseForm
from sessions_app.database import in_database
from sessions_app.models import Session
from sessions_app.organising import archive_session, delete_session, pin_session, restore_session

UNREADABLE = "Sage couldn’t read that. Please try again."
SAID = {
    "pin": "Pinned.",
    "unpin": "No longer pinned.",
    "archive": "Archived. You’ll find it under Archive.",
    "unarchive": "Back among your conversations.",
    "delete": "Deleted. You can undo this for ten minutes. Files that Sage wrote stay in Files.",
    "restore": "Restored.",
}


@login_required
@require_POST
async def organise(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Pin, archive, delete or restore a conversation, and go back to the list that sent the form."""
    form = OrganiseForm(request.POST)
    user_id = user_id_of(request)
    wanted = form.cleaned_data["do"] if form.is_valid() else ""
    try:
        if wanted == "delete":
            await get_runner().stop(user_id=user_id, session_id=session_id)
        await in_database(_change, wanted, user_id=user_id, session_id=session_id)
    except Session.DoesNotExist:
        raise Http404 from None
    info(request, SAID.get(wanted, UNREADABLE))
    is_archive = form.is_valid() and form.cleaned_data["then"] == "archive"
    response = HttpResponseRedirect(reverse("sessions") + ("?show=archive" if is_archive else ""))
    response.status_code = HTTPStatus.SEE_OTHER
    return response


def _change(wanted: str, *, user_id: int, session_id: uuid.UUID) -> None:
    match wanted:
        case "pin" | "unpin":
            pin_session(user_id=user_id, session_id=session_id, is_pinned=wanted == "pin")
        case "archive" | "unarchive":
            archive_session(user_id=user_id, session_id=session_id, is_archived=wanted == "archive")
        case "delete":
            delete_session(user_id=user_id, session_id=session_id)
        case "restore":
            restore_session(user_id=user_id, session_id=session_id)
        case _:
            Session.of(user_id).get(id=session_id)


def group_of(session: Session, *, today: date, day: date) -> str:
    """Return the heading of the list under which a conversation of that day stands."""
    if session.pinned_at:
        return "Pinned"
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=7):
        return "Last 7 days"
    if day > today - timedelta(days=30):
        return "Last 30 days"
    return f"{day:%B %Y}"
