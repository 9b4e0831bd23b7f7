"""The life map: the status of eight domains, and their ratings over time."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from coaching.life.life_map import all_statuses, read_life_map
from coaching.people.accounts import load_profile


@login_required
@require_safe
def life_map(request: HttpRequest) -> HttpResponse:
    profile = load_profile(request)
    context = {
        "here": "map",
        "zone": profile.zone,
        "map": read_life_map(user_id=profile.user_id),
        "statuses": all_statuses(),
    }
    return render(request, "coaching/pages/map.html", context)
