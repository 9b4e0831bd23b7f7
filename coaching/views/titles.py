"""The user's own title for a conversation, from its page or from the list."""

import uuid

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST

from coaching.people.accounts import load_profile, user_id_of
from coaching.views.forms import TitleForm
from coaching.views.parts import back_to, wants_part
from coaching.views.sidebar import SIDEBAR, show_refusal, show_row
from sessions_app.database import in_database, in_database_page
from sessions_app.errors import Refused
from sessions_app.models import Session
from sessions_app.selectors import accessible_session
from sessions_app.titles import rename_session

UNREADABLE = gettext_noop("Sage couldn’t read that. Please try again.")
ROWS = ("list", "folder")
"""What a form sends as `then` if its answer replaces a row of a list or of a folder's page."""


@login_required
@require_POST
async def rename(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Store a title; respond with the part that shows it, or redirect to the page that sent the form."""
    form = TitleForm(request.POST)
    try:
        if not form.is_valid():
            await in_database(accessible_session, user_id=user_id_of(request), session_id=session_id)
            raise Refused(UNREADABLE)
        title = form.cleaned_data["title"]
        await in_database(rename_session, user_id=user_id_of(request), session_id=session_id, title=title)
    except Session.DoesNotExist:
        raise Http404 from None
    except Refused as refusal:
        return await in_database_page(_answer, request, session_id, refusal=refusal.shown())
    return await in_database_page(_answer, request, session_id)


def _answer(request: HttpRequest, session_id: uuid.UUID, *, refusal: str = "") -> HttpResponse:
    then = request.POST.get("then")
    if not wants_part(request):
        if refusal:
            info(request, refusal)
        return back_to("sessions") if then in ROWS else back_to("session", of=session_id)
    if refusal:
        return show_refusal(request, refusal)
    session = accessible_session(user_id=user_id_of(request), session_id=session_id)
    if then == SIDEBAR:
        return show_row(request, session)
    if then in ROWS:
        folder = session.folder.name if session.folder and then == "list" else ""
        zone = load_profile(request).zone
        context = {"session": session, "zone": zone, "has_menu": True, "folder_name": folder, "place": then}
        return render(request, "coaching/components/session_row.html", context)
    return render(request, "coaching/components/renamed.html", {"session": session})
