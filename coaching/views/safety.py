"""`/safety/`, open to everybody: help lines, and what happens when words suggest danger."""

import uuid

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from coaching.model_client.servers import is_local_server
from coaching.people.accounts import browser_timezone, load_profile, user_id_of
from coaching.people.help_lines import country_of, read_offer, read_offered_countries
from coaching.people.profile_changes import choose_country
from coaching.safety import figures
from coaching.safety.countries import COUNTRY_NAMES, country_of_timezone, known_country
from coaching.views.care import remembered
from sessions_app import selectors
from sessions_app.models import Session


@require_safe
def safety(request: HttpRequest) -> HttpResponse:
    """Show a country's lines (`?country=`) and the protocol; `?from=` is the conversation to return to."""
    country = _country_for(request)
    context = {
        "here": "safety",
        "offer": read_offer(country),
        "country": country,
        "is_chosen": country != "" and country in (request.GET.get("country"), _kept_country(request)),
        "countries": read_offered_countries(),
        "back": _conversation_of(request),
        "english": figures.ENGLISH,
        "other_languages": figures.OTHER_LANGUAGES,
        # The practice model judges by the same rules, so it adds nothing.
        "is_look_late": is_local_server(),
        "has_second_look": bool(settings.SAGE_SAFETY_MODEL) and not settings.IS_PRACTICE_MODEL,
        "remembered": remembered(load_profile(request)) if request.user.is_authenticated else [],
    }
    return render(request, "coaching/pages/safety.html", context)


@login_required
@require_POST
def choose_help_country(request: HttpRequest) -> HttpResponse:
    """Set the country of the person's help lines; an unknown one means that of their time zone."""
    country = known_country(request.POST.get("country"))
    choose_country(user_id=user_id_of(request), country=country)
    if country:
        success(
            request, _("Your help lines are now for %(country)s.") % {"country": _(COUNTRY_NAMES[country])}
        )
    else:
        success(request, _("Your help lines now follow your time zone."))
    back = request.POST.get("from", "")
    return redirect(reverse("safety") + (f"?{urlencode({'from': back})}" if back else ""))


def _kept_country(request: HttpRequest) -> str:
    return load_profile(request).country if request.user.is_authenticated else ""


def _country_for(request: HttpRequest) -> str:
    """Return the requested country, otherwise the person's, otherwise that of the browser's time zone."""
    if "country" in request.GET:
        return known_country(request.GET["country"])
    if request.user.is_authenticated:
        return country_of(load_profile(request))
    return country_of_timezone(browser_timezone(request))


def _conversation_of(request: HttpRequest) -> Session | None:
    """Return the person's own conversation to return to, if there is one."""
    if not request.user.is_authenticated:
        return None
    try:
        session_id = uuid.UUID(request.GET.get("from", ""))
        return selectors.accessible_session(user_id=user_id_of(request), session_id=session_id)
    except (ValueError, Session.DoesNotExist):
        return None
