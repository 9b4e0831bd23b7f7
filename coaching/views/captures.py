"""Captures: add one from anywhere, list the waiting ones, archive and restore them."""

import uuid
from datetime import date
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget

from coaching.clock.days import local_day
from coaching.clock.moments import moment_in_words
from coaching.life.captures import (
    WaitingCaptures,
    archive_captures_up_to,
    keep_capture,
    read_folded_captures,
    read_waiting_captures,
    set_archived,
)
from coaching.life.today import CAPTURES_SHOWN
from coaching.models import Capture, Profile
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.danger_scans import danger_in_now
from coaching.safety.card import Card
from coaching.safety.danger import Danger
from coaching.views.capture_cards import (
    begin_look,
    capture_card,
    is_look_pending,
    leave_card,
    take_card,
    take_late_card,
)
from coaching.views.conversation_page import counted
from coaching.views.forms import CaptureActionForm, CaptureForm
from coaching.views.parts import back_to, or_404, page_in, status_of, wants_part, with_wait
from sessions_app.errors import Refused

CAPTURES_A_PAGE = 50
FOLDED_SHOWN = 5
UNREADABLE = gettext_lazy("Sage couldn’t read that. Please send it again.")
KEPT = gettext_lazy("Saved to your captures.")
ALL_ARCHIVED = gettext_lazy("Archived. You’ll find them in Files.")


def capture_context(
    request: HttpRequest,
    *,
    profile: Profile,
    captures: WaitingCaptures,
    today: date,
    then: str,
    refusal: str = "",
    draft: str = "",
    card: Card | None = None,
) -> dict[str, Any]:
    """Return the context of the capture list and its form. `then` is the page that shows them."""
    rows = [
        {"capture": capture, "at": moment_in_words(capture.captured_at, today=today, zone=profile.zone)}
        for capture in captures.newest
    ]
    return {
        "captures": captures,
        "rows": rows,
        # Home shows only today's.
        "folded": read_folded_captures(
            user_id=profile.user_id, limit=FOLDED_SHOWN, day=today if then == "home" else None
        ),
        "newest_id": max((capture.id for capture in captures.newest), default=0),
        "then": then,
        "away": _just_archived(request),
        "capture_id": str(uuid.uuid4()),
        "capture_refusal": refusal,
        "capture_draft": draft,
        "card": card or take_card(request, profile),
        "is_look_pending": is_look_pending(profile.user_id),
    }


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def captures(request: HttpRequest) -> HttpResponse:
    """Show the waiting captures below a form; a POST adds one, with a card if its words suggest danger."""
    profile = load_profile(request)
    if request.method != "POST":
        return _page(request, profile, number=page_in(request))
    form = CaptureForm(request.POST)
    draft = request.POST.get("text", "")
    danger = danger_in_now(draft, user_id=profile.user_id)
    if not form.is_valid():
        return _page(request, profile, refusal=str(UNREADABLE), draft=draft, danger=danger)
    now = timezone.now()
    try:
        keep_capture(
            user_id=profile.user_id,
            text=form.cleaned_data["text"],
            client_id=form.cleaned_data["id"],
            now=now,
            timezone=profile.zone,
            danger=danger,
        )
    except Refused as refusal:
        page = _page(
            request, profile, refusal=refusal.shown(), draft=draft, danger=danger, status=status_of(refusal)
        )
        return with_wait(page, refusal)
    begin_look(profile.user_id)
    if wants_part(request):
        return _part(request, profile, then=form.cleaned_data["then"], danger=danger)
    leave_card(request, danger)
    info(request, KEPT)
    return back_to(form.cleaned_data["then"] or "captures", "#captures")


@login_required
@require_GET
def capture_look(request: HttpRequest) -> HttpResponse:
    """Give the page the card that a second look at a capture has made; ask again while the look goes on."""
    profile = load_profile(request)
    is_pending = is_look_pending(profile.user_id)
    card = take_late_card(profile)
    if card is not None:  # its look may have ended in between
        is_pending = is_look_pending(profile.user_id)
    context = {"card": card, "is_look_pending": is_pending}
    return render(request, "coaching/fragments/capture_looked.html", context)


@login_required
@require_safe
def folded(request: HttpRequest) -> HttpResponse:
    """List the captures that are in logs, page by page."""
    number = page_in(request)
    before = (number - 1) * CAPTURES_A_PAGE
    found = read_folded_captures(user_id=user_id_of(request), limit=CAPTURES_A_PAGE, before=before)
    if not found.newest and number > 1:
        raise Http404
    context = {
        "here": "captures",
        "folded": found,
        "newer_page": number - 1,
        "older_page": number + 1 if found.total > before + len(found.newest) else 0,
    }
    return render(request, "coaching/pages/captures_in_logs.html", context)


@login_required
@require_POST
def capture(request: HttpRequest, capture_id: int) -> HttpResponse:
    """Archive or restore a capture."""
    form = CaptureActionForm(request.POST)
    user_id = user_id_of(request)
    if not form.is_valid():
        return back_to("captures")
    is_put_away = form.cleaned_data["do"] == "put_away"
    with or_404():
        set_archived(user_id=user_id, capture_id=capture_id, at=timezone.now() if is_put_away else None)
    then = form.cleaned_data["then"]
    number = _page_left(user_id, form.cleaned_data["page"] or 1)
    if wants_part(request):
        away = capture_id if is_put_away else None
        return _part(request, load_profile(request), then=then, away=away, number=number)
    query = {"page": number} if number > 1 and not then else {}
    query |= {"away": capture_id} if is_put_away else {}
    return back_to(then or "captures", f"?{urlencode(query)}#captures" if query else "#captures")


@login_required
@require_POST
def all_captures(request: HttpRequest) -> HttpResponse:
    """Archive all captures that the page showed."""
    newest = request.POST.get("newest", "")
    if newest.isascii() and newest.isdigit() and len(newest) < 19:
        archive_captures_up_to(user_id=user_id_of(request), now=timezone.now(), newest_id=int(newest))
        info(request, ALL_ARCHIVED)
    return back_to("captures")


def _just_archived(request: HttpRequest) -> int | None:
    """Return the capture that was just archived, to offer restoring it."""
    named = request.GET.get("away", "")
    if not (named.isascii() and named.isdigit() and len(named) < 19):
        return None
    put_away = Capture.of(user_id_of(request)).filter(id=int(named), put_away_at__isnull=False)
    return int(named) if put_away.exists() else None


def _page(
    request: HttpRequest,
    profile: Profile,
    *,
    refusal: str = "",
    draft: str = "",
    danger: Danger | None = None,
    status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY,
    number: int = 1,
) -> HttpResponse:
    card = counted(capture_card(profile, danger))
    if wants_part(request) and refusal:
        context = {"message": refusal, "card": card}
        notice = render(request, "coaching/components/capture_refused.html", context, status=status)
        return retarget(reswap(notice, "innerHTML"), "find .form-notice")
    shown = _context(
        request,
        profile,
        then="",
        limit=CAPTURES_A_PAGE,
        before=(number - 1) * CAPTURES_A_PAGE,
        refusal=refusal,
        draft=draft,
        card=card,
    )
    context = {"here": "captures", **shown}
    if number > 1 and not context["rows"]:
        raise Http404
    return render(
        request, "coaching/pages/captures.html", context, status=status if refusal else HTTPStatus.OK
    )


def _page_left(user_id: int, number: int) -> int:
    """Return the page of the list, or the last one if its captures are gone."""
    if number == 1:
        return number
    pages = -(-Capture.of(user_id).waiting().count() // CAPTURES_A_PAGE)
    return max(1, min(number, pages))


def _part(
    request: HttpRequest,
    profile: Profile,
    *,
    then: str,
    away: int | None = None,
    number: int = 1,
    danger: Danger | None = None,
) -> HttpResponse:
    card = capture_card(profile, danger)
    limit = CAPTURES_SHOWN if then == "home" else CAPTURES_A_PAGE
    before = 0 if then == "home" else (number - 1) * limit
    context = {**_context(request, profile, then=then, limit=limit, before=before, card=card), "away": away}
    return render(request, "coaching/components/captures_changed.html", context)


def _context(
    request: HttpRequest,
    profile: Profile,
    *,
    then: str,
    limit: int,
    before: int = 0,
    refusal: str = "",
    draft: str = "",
    card: Card | None = None,
) -> dict[str, Any]:
    number = before // limit + 1
    return capture_context(
        request,
        profile=profile,
        captures=read_waiting_captures(user_id=profile.user_id, limit=limit, before=before),
        today=local_day(timezone.now(), profile.zone),
        then=then,
        refusal=refusal,
        draft=draft,
        card=card,
    ) | {"number": number, "newer_page": number - 1, "older_page": number + 1}
