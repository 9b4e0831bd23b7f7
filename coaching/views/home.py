"""The first page: where the day stands and how to begin."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from coaching.accounts import greeting_at, local_now, profile_for, timezone_offer, user_id_of
from coaching.days import local_day
from coaching.files.selectors import files_of
from coaching.views.files import FileRow
from coaching.views.starters import starters_for
from sessions_app.models import SessionStatus
from sessions_app.selectors import recent_sessions

RECENT_SESSIONS = 4
RECENT_FILES = 4


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the person's home, or send a stranger to the sign-in page."""
    if not request.user.is_authenticated:
        return redirect("account_login")
    user_id = user_id_of(request)
    profile = profile_for(request)
    now = local_now(profile)
    sessions = [
        session for session in recent_sessions(user_id=user_id, limit=20) if session.last_message_number
    ][:RECENT_SESSIONS]
    files = files_of(user_id).order_by("-updated_at")[:RECENT_FILES]
    context = {
        "here": "home",
        "greeting": greeting_at(now),
        "name": profile.name,
        "timezone_offer": timezone_offer(request, profile),
        "today": local_day(now, profile.zone),
        "zone": profile.zone,
        "starters": starters_for(profile),
        "sessions": sessions,
        "latest": next((session for session in sessions if session.status == SessionStatus.ACTIVE), None),
        "files": [FileRow.of(file) for file in files],
        "client_id": str(uuid.uuid4()),
    }
    return render(request, "coaching/pages/home.html", context)
