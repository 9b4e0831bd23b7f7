"""Settings: profile, signing in, usage, and the person's data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import cast

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings as configured
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from coaching.clock.days import day_bounds, local_day
from coaching.clock.timezones import city_of
from coaching.models import Profile
from coaching.people.accounts import browser_timezone, load_profile, local_now, timezone_offer, user_id_of
from coaching.people.languages import browser_language
from coaching.people.own_changes import EditConflict
from coaching.people.profile_changes import change_profile, choose_timezone
from coaching.people.timezone_choices import timezone_choices
from coaching.skills.facts import checkin_due_on
from coaching.views.care import remembered
from coaching.views.forms import ProfileForm, TimezoneForm
from coaching.views.what_is_kept import KEPT, is_model_here, read_storage, read_what_leaves
from sessions_app.models import UsagePurpose
from sessions_app.money import dollars
from sessions_app.usage import PurposeUsage, count_turns, read_tokens_of_day, usage_by_purpose

PURPOSE_NAMES = {
    UsagePurpose.TURN: gettext_lazy("Conversations"),
    UsagePurpose.BRIEF: gettext_lazy("Remembering long conversations"),
    UsagePurpose.SUMMARY: gettext_lazy("Summaries"),
    UsagePurpose.TITLE: gettext_lazy("Titles"),
    UsagePurpose.SAFETY: gettext_lazy("Safety checks"),
    UsagePurpose.CLASSIFY: gettext_lazy("Filing documents"),
    UsagePurpose.CRITIC: gettext_lazy("Checking documents"),
    UsagePurpose.DOCUMENT: gettext_lazy("Reading documents"),
    UsagePurpose.LETTER: gettext_lazy("Letters"),
    UsagePurpose.VOICE: gettext_lazy("Dictation"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """What one purpose used, as a page shows it."""

    name: str
    calls: str
    tokens: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The month so far. `unpriced_calls` are in no sum of money."""

    began: date
    turns: int
    rows: Sequence[UsageRow]
    tokens: str
    cost: str
    unpriced_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The daily token budget."""

    limit: int
    used: int
    hours_to_more: int

    @property
    def shown_used(self) -> int:
        return min(self.used, self.limit)

    @property
    def is_used_up(self) -> bool:
        return self.used >= self.limit

    @property
    def left_in_words(self) -> str:
        return _written(self.limit - self.shown_used)

    @property
    def limit_in_words(self) -> str:
        return _written(self.limit)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """Show the settings, or change the profile."""
    profile = load_profile(request)
    if request.method != "POST":
        return _page(request, profile, _form_of(profile))
    form = ProfileForm(request.POST)
    if not form.is_valid():
        return _page(request, profile, form)
    try:
        changed = change_profile(
            user_id=profile.user_id,
            now=timezone.now(),
            seen=form.seen(),
            browser=browser_timezone(request),
            **form.cleaned_data,
        )
    except EditConflict as conflict:
        profile.refresh_from_db()
        renewed = form.renewed(_form_of(profile), both=conflict.fields)
        return _page(request, profile, renewed, status=HTTPStatus.CONFLICT)
    # The next page may be in another language.
    with override(changed.language or browser_language(request.headers.get("Accept-Language", ""))):
        success(request, _("Settings saved."))
    return redirect("settings")


@login_required
@require_safe
def sign_in_settings(request: HttpRequest) -> HttpResponse:
    kinds = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    context = {"here": "settings", "has_second_factor": is_mfa_enabled(cast("User", request.user), kinds)}
    return render(request, "coaching/pages/settings_sign_in.html", context)


@login_required
@require_safe
def usage(request: HttpRequest) -> HttpResponse:
    """Show what the person used this month, and what is left today."""
    profile = load_profile(request)
    context = {"here": "settings", "month": _month(profile), "budget": _budget(profile.user_id)}
    return render(request, "coaching/pages/settings_usage.html", context)


@login_required
@require_safe
def data(request: HttpRequest) -> HttpResponse:
    """Show what is stored and what leaves, and the ways to download and to delete it."""
    profile = load_profile(request)
    context = {
        "here": "settings",
        "remembered": remembered(profile),
        "kept": KEPT,
        "storage": read_storage(),
        "leaves": read_what_leaves(profile.user_id),
        "is_model_here": is_model_here(),
        "has_model_file": configured.SAGE_MODEL_FILE is not None,
    }
    return render(request, "coaching/pages/settings_data.html", context)


@login_required
@require_POST
def take_timezone(request: HttpRequest) -> HttpResponse:
    """Adopt the time zone that a page has offered, or keep the current one."""
    form = TimezoneForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(_("Choose a time zone from the list."), content_type="text/plain")
    name = form.cleaned_data["timezone"]
    choose_timezone(
        user_id=user_id_of(request), timezone=name, browser=browser_timezone(request), now=timezone.now()
    )
    success(request, _("Sage now uses the time in %(city)s.") % {"city": city_of(name)})
    back = form.cleaned_data["back"]
    # Only a path: `redirect` would resolve a view's name.
    if not (back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)):
        back = reverse("settings")
    return HttpResponseRedirect(back)


def _form_of(profile: Profile) -> ProfileForm:
    return ProfileForm(initial={name: getattr(profile, name) for name in ProfileForm.base_fields})


def _page(
    request: HttpRequest,
    profile: Profile,
    form: ProfileForm,
    *,
    status: HTTPStatus = HTTPStatus.BAD_REQUEST,
) -> HttpResponse:
    browser = browser_timezone(request)
    context = {
        "here": "settings",
        "form": form,
        "zone": profile.zone,
        "has_letters": bool(profile.wants_letters),
        "next_checkin": checkin_due_on(profile),
        "timezone_offer": timezone_offer(request, profile),
        "browser_timezone": browser if browser != profile.timezone else "",
        "browser_city": city_of(browser) if browser else "",
        "timezones": timezone_choices(timezone.now()),
    }
    shown_status = status if form.errors else HTTPStatus.OK
    return render(request, "coaching/pages/settings.html", context, status=shown_status)


def _month(profile: Profile) -> Month:
    now = local_now(profile)
    first = local_day(now, profile.zone).replace(day=1)
    began, _ = day_bounds(first, profile.zone)
    found = usage_by_purpose(user_id=profile.user_id, since=began, until=now)
    costs = [usage.known_cost for usage in found if usage.known_cost is not None]
    return Month(
        began=first,
        turns=count_turns(user_id=profile.user_id, since=began, until=now),
        rows=[_usage_row(usage) for usage in found],
        tokens=_written(sum(usage.read_tokens + usage.written_tokens for usage in found)),
        cost=dollars(sum(costs) if costs else None),
        unpriced_calls=sum(usage.unpriced_calls for usage in found),
    )


def _usage_row(usage: PurposeUsage) -> UsageRow:
    return UsageRow(
        name=str(PURPOSE_NAMES[usage.purpose]),
        calls=_written(usage.calls),
        tokens=_written(usage.read_tokens + usage.written_tokens),
        cost=dollars(usage.known_cost),
    )


def _budget(user_id: int) -> Budget | None:
    limit = configured.SAGE_DAILY_TOKENS
    if limit is None:
        return None
    day = read_tokens_of_day(user_id=user_id, now=timezone.now(), limit=limit)
    return Budget(limit=limit, used=day.tokens, hours_to_more=day.hours_to_more)


def _written(number: int) -> str:
    """Return a number with the separators of the language."""
    return number_format(number, force_grouping=True)
