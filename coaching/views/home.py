"""The home page: the day, what is waiting, conversations to start; and the plan's ticks."""

import uuid
from collections.abc import Sequence
from datetime import date, datetime
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from coaching.clock.days import local_day
from coaching.clock.moments import day_in_words
from coaching.letters.choice import is_to_be_asked, read_new_letter
from coaching.letters.look_back import read_look_back
from coaching.library.rows.proposals import steps_of_home
from coaching.life.plans import plan_title, read_plan, tick_priority
from coaching.life.today import Today, read_today
from coaching.models import PRIVATE_TYPES, DayPlan, FileType, Profile, UserFile
from coaching.people.accounts import greeting_at, load_profile, local_now, timezone_offer, user_id_of
from coaching.sandbox.markdown import render_markdown
from coaching.views.captures import capture_context
from coaching.views.files import told_apart
from coaching.views.forms import TickForm
from coaching.views.parts import back_to, wants_part
from coaching.views.starters import starters_of
from sessions_app.errors import Refused
from sessions_app.models import SessionStatus
from sessions_app.selectors import recent_sessions

RECENT_SESSIONS = 4
SESSIONS_SEARCHED = 20
"""Enough to find one that can be continued."""
RECENT_FILES = 4
STEPS = 5
UNREADABLE = gettext_lazy("Sage couldn’t read that. Please try again.")


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the person's home, or redirect to the sign-in page."""
    if not request.user.is_authenticated:
        return redirect("account_login")
    user_id = user_id_of(request)
    profile = load_profile(request)
    now = local_now(profile)
    today = read_today(profile=profile, now=now)
    begun = recent_sessions(user_id=user_id, limit=SESSIONS_SEARCHED)
    active = [session for session in begun if session.status == SessionStatus.ACTIVE]
    starters = starters_of(today.called, is_map_begun=today.is_mapped)
    due = next((starter for starter in starters if starter.is_due), None)
    context = {
        "here": "home",
        "greeting": greeting_at(now),
        "name": profile.name,
        "timezone_offer": timezone_offer(request, profile),
        "today": today,
        "plan_title": plan_title(today.plan, today=today.day) if today.plan else "",
        "zone": profile.zone,
        "starters": [item for item in starters if not item.is_due and item.kind not in today.done],
        "due": due,
        "due_session": next((session for session in active if due and session.kind == due.kind), None),
        "sessions": begun[:RECENT_SESSIONS],
        "latest": active[0] if active else None,
        "steps": steps_of_home(user_id=user_id, limit=STEPS),
        **_unasked(profile, today, now),
        "files": told_apart(_recent_files(user_id)),
        "client_id": str(uuid.uuid4()),
        **capture_context(request, profile=profile, captures=today.captures, today=today.day, then="home"),
    }
    # After all reads, because rendering returns the connection.
    context["question"] = render_markdown(today.prompt.text) if today.prompt else ""
    return render(request, "coaching/pages/home.html", context)


def _unasked(profile: Profile, today: Today, now: datetime) -> dict[str, Any]:
    """Return what comes back by itself: nothing while somebody is in care."""
    if today.holds_offers:
        return {}
    return {
        "letter": read_new_letter(user_id=profile.user_id, now=now),
        "asks_for_letters": is_to_be_asked(profile, now=now),
        "look_back": read_look_back(user_id=profile.user_id, today=today.day, zone=profile.zone),
    }


def _recent_files(user_id: int) -> Sequence[UserFile]:
    """Return the newest files, without captures: the page has a list of those."""
    shown = UserFile.of(user_id).exclude(file_type__in=[*PRIVATE_TYPES, FileType.CAPTURE])
    return list(shown.order_by("-updated_at")[:RECENT_FILES])


@login_required
@require_POST
def plan(request: HttpRequest, day: str) -> HttpResponse:
    """Tick or untick a priority of a day's plan."""
    user_id, on = user_id_of(request), _day_of(day)
    form = TickForm(request.POST)
    refusal = "" if form.is_valid() else str(UNREADABLE)
    try:
        if form.is_valid():
            tick_priority(
                user_id=user_id,
                day=on,
                text=form.cleaned_data["text"],
                is_done=form.cleaned_data["done"] == "1",
            )
    except DayPlan.DoesNotExist:
        raise Http404 from None
    except Refused as refused:
        refusal = refused.shown()
    profile = load_profile(request)
    today = local_day(local_now(profile), profile.zone)
    if not wants_part(request):
        if refusal or on != today:
            noted = _("Saved in the plan for %(day)s.") % {"day": day_in_words(on, today=today)}
            info(request, refusal or noted)
        return back_to("home", "#plan")
    shown = read_plan(user_id=user_id, day=on)
    if shown is None:
        raise Http404
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    context = {"plan": shown, "plan_title": plan_title(shown, today=today), "refusal": refusal}
    return render(request, "coaching/components/plan.html", context, status=status)


def _day_of(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Http404 from None
