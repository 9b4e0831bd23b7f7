"""What Sage remembers after words of danger, as its person sees it, and the button that ends it."""

from dataclasses import dataclass
from datetime import date, timedelta

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from coaching.care.questions import end_care
from coaching.care.reading import read_care
from coaching.care.standing import SaidDanger
from coaching.models import Profile
from coaching.people.accounts import load_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A danger that is remembered: the day of the words, until when, whose, and how acute."""

    day: date
    until: date
    is_own: bool
    is_acute: bool


def remembered(profile: Profile) -> list[Remembered]:
    care = read_care(user_id=profile.user_id, now=timezone.now(), zone=profile.zone)
    return [_shown(danger) for danger in (care.own, care.other) if danger is not None]


@login_required
@require_POST
def end(request: HttpRequest) -> HttpResponse:
    """End it: Sage asks nothing about what was written until now."""
    profile = load_profile(request)
    if end_care(user_id=profile.user_id, now=timezone.now(), zone=profile.zone):
        success(request, _("Sage won’t ask you about it again."))
    return redirect("safety")


def _shown(danger: SaidDanger) -> Remembered:
    return Remembered(
        day=danger.day,
        until=danger.day + timedelta(days=danger.days),
        is_own=danger.about == "self",
        is_acute=danger.level == "immediate",
    )
