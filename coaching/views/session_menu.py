"""The menu of a conversation: in its page's header, in the sidebar, in lists, or a page without JavaScript.

It is loaded when it is opened, so it shows how things are, and a list of many conversations stays small.
"""

import uuid
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from coaching.models import UserFile
from coaching.people.accounts import user_id_of
from coaching.views.parts import back_to, or_404, say, wants_part
from coaching.views.session_forms import MoveForm
from coaching.views.sidebar import SIDEBAR, show_refusal, show_whole_list
from sessions_app.errors import Refused
from sessions_app.models import Session, SessionFolder, SessionStatus
from sessions_app.selectors import accessible_session
from sessions_app.session_folders import make_folder, move_session

PLACES = (SIDEBAR, "list", "folder")
"""Where a menu may be, other than on the page of its conversation."""
UNREADABLE = gettext_noop("Sage couldn’t read that. Please try again.")
MOVED = gettext_lazy("Moved to the folder “%(name)s”.")
TAKEN_OUT = gettext_lazy("It isn’t in any folder.")


@login_required
@require_safe
def menu(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Show the menu: as a part for the place in `?then`, otherwise as a page of its own."""
    is_part = wants_part(request)
    with or_404():
        session = accessible_session(user_id=user_id_of(request), session_id=session_id)
    then = request.GET.get("then", "")
    context = _context_of(session) | {"is_part": is_part, "then": then if then in PLACES else ""}
    name = "components/session_menu.html" if is_part else "pages/session_menu.html"
    return render(request, f"coaching/{name}", context)


@login_required
@require_POST
def move(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Put a conversation into a folder, a new one if it is named, or into none; then show where it is."""
    try:
        with or_404():
            session = _moved(request, session_id)
    except Refused as refusal:
        if wants_part(request):
            return show_refusal(request, refusal.shown())
        info(request, refusal.shown())
        return back_to("session_menu", of=session_id)
    said = MOVED % {"name": session.folder.name} if session.folder else TAKEN_OUT
    if wants_part(request) and request.POST.get("then") == SIDEBAR:
        return say(str(said), show_whole_list(request))
    if wants_part(request):
        return say(str(said))
    info(request, said)
    return back_to("session_folder", of=session.folder.pk) if session.folder else back_to("sessions")


def _moved(request: HttpRequest, session_id: uuid.UUID) -> Session:
    """Raise `ObjectDoesNotExist` for a conversation or folder that isn't there, and `Refused`."""
    user_id, form = user_id_of(request), MoveForm(request.POST)
    accessible_session(user_id=user_id, session_id=session_id)
    if not form.is_valid():
        raise Refused(UNREADABLE)
    folder_id, name = form.cleaned_data["folder"], form.cleaned_data["name"]
    if name.strip():
        folder_id = make_folder(user_id=user_id, name=name).pk
    return move_session(user_id=user_id, session_id=session_id, folder_id=folder_id)


def _context_of(session: Session) -> dict[str, Any]:
    written = UserFile.of(session.user_id).filter(versions__session=session, deleted_at=None)
    return {
        "here": "sessions",
        "session": session,
        "title": session.title or session.get_kind_display(),
        "is_active": session.status == SessionStatus.ACTIVE,
        "folders": list(SessionFolder.of(session.user_id)),
        "files": written.distinct().count(),
    }
