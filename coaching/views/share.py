"""What a person shares with Sage from another app's share menu: shown first, stored when they say so.

Sage's service worker takes the share menu's POST and keeps its words on the device for the page (see
`static/js/share.js`). A POST that reaches the server, because there is no worker yet, is shown in the same
way and stores nothing. Shared words are somebody else's, like those of a program.
"""

import uuid
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from coaching.life.captures import keep_capture
from coaching.people.accounts import load_profile
from coaching.people.danger_scans import danger_in_now
from coaching.views.capture_cards import begin_look, capture_card, leave_card
from coaching.views.captures import KEPT, UNREADABLE
from coaching.views.conversation_page import counted
from coaching.views.forms import CaptureForm
from coaching.views.parts import back_to, status_of, with_wait
from sessions_app.errors import Refused

PARTS = ("title", "text", "url")
"""What a share menu sends; the manifest names them, and the service worker joins them in the same way."""


@csrf_exempt  # the share menu has no token, and nothing is stored
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def share(request: HttpRequest) -> HttpResponse:
    """Show what is shared in a form, which stores it."""
    parts = [request.POST.get(name, "").strip() for name in PARTS]
    words = "\n".join(dict.fromkeys(filter(None, parts)))
    return _page(request, words)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def keep_shared(request: HttpRequest) -> HttpResponse:
    """Store what was shared as a capture, once for a form.

    A refused form is shown at this address, to which browsers return after a sign-in: GET leads to the page.
    """
    if request.method != "POST":
        return redirect("share")
    profile = load_profile(request)
    words = request.POST.get("text", "")
    form = CaptureForm(request.POST)
    danger = danger_in_now(words, user_id=profile.user_id)
    try:
        if not form.is_valid():
            raise Refused(str(UNREADABLE))
        keep_capture(
            user_id=profile.user_id,
            text=form.cleaned_data["text"],
            client_id=form.cleaned_data["id"],
            now=timezone.now(),
            timezone=profile.zone,
            danger=danger,
            program=_("Share menu"),
        )
    except Refused as refusal:
        card = counted(capture_card(profile, danger))
        page = _page(request, words, refusal=refusal.shown(), card=card, status=status_of(refusal))
        return with_wait(page, refusal)
    begin_look(profile.user_id)
    leave_card(request, danger)
    info(request, KEPT)
    return back_to("captures", "#captures")


def _page(
    request: HttpRequest, words: str, *, refusal: str = "", card: object = None, status: int = HTTPStatus.OK
) -> HttpResponse:
    context = {
        "here": "home",
        "share_id": str(uuid.uuid4()),
        "words": words,
        "refusal": refusal,
        "card": card,
    }
    return render(request, "coaching/pages/share.html", context, status=status)
