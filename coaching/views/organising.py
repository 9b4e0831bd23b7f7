"""Pins, the archive and deleting, from the menu of a conversation."""

import uuid
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from coaching.live.runner import get_runner
from coaching.people.accounts import user_id_of
from coaching.views.forms import OrganiseForm
from coaching.views.parts import back_to, say, wants_part
from coaching.views.sidebar import SIDEBAR, show_refusal, show_row, show_whole_list
from sessions_app.database import in_database, in_database_page
from sessions_app.models import Session
from sessions_app.organising import archive_session, delete_session, pin_session, restore_session

UNREADABLE = gettext_lazy("Sage couldn’t read that. Please try again.")
SAID = {
    "pin": gettext_lazy("Pinned."),
    "unpin": gettext_lazy("Unpinned."),
    "archive": gettext_lazy("Archived. You’ll find it in the archive."),
    "unarchive": gettext_lazy("Moved back to your conversations."),
    "delete": gettext_lazy("Deleted. You can undo this for ten minutes. Files that Sage wrote are kept."),
    "restore": gettext_lazy("Restored."),
}
GONE = {"archive": "archived", "delete": "deleted"}
"""What has become of a row of the sidebar that only offers to undo it."""


@login_required
@require_POST
async def organise(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Pin, archive, delete or restore a conversation, and go back to the list that sent the form.

    A form of the sidebar gets the row, or the whole list if the row has moved; one of the conversation's own
    page only a sentence.
    """
    form = OrganiseForm(request.POST)
    user_id = user_id_of(request)
    wanted = form.cleaned_data["do"] if form.is_valid() else ""
    try:
        if wanted == "delete":
            await get_runner().stop(user_id=user_id, session_id=session_id)
        changed = await in_database(_change, wanted, user_id=user_id, session_id=session_id)
    except Session.DoesNotExist:
        raise Http404 from None
    if wants_part(request):
        return await in_database_page(_answer_part, request, wanted, changed)
    info(request, SAID.get(wanted, UNREADABLE))
    then = form.cleaned_data["then"] if form.is_valid() else ""
    if then == "folder" and changed.folder_id:
        return back_to("session_folder", of=changed.folder_id)
    response = HttpResponseRedirect(reverse("sessions") + ("?show=archive" if then == "archive" else ""))
    response.status_code = HTTPStatus.SEE_OTHER
    return response


def _answer_part(request: HttpRequest, wanted: str, session: Session) -> HttpResponse:
    if not wanted:
        return show_refusal(request, str(UNREADABLE))
    if request.POST.get("then") != SIDEBAR:
        return say(str(SAID[wanted]))
    if wanted in ("pin", "unpin"):
        return show_whole_list(request)
    return show_row(request, session, gone=GONE.get(wanted, ""))


def _change(wanted: str, *, user_id: int, session_id: uuid.UUID) -> Session:
    match wanted:
        case "pin" | "unpin":
            return pin_session(user_id=user_id, session_id=session_id, is_pinned=wanted == "pin")
        case "archive" | "unarchive":
            return archive_session(user_id=user_id, session_id=session_id, is_archived=wanted == "archive")
        case "delete":
            return delete_session(user_id=user_id, session_id=session_id)
        case "restore":
            return restore_session(user_id=user_id, session_id=session_id)
        case _:
            return Session.of(user_id).get(id=session_id)
