"""The first page after sign-up: what Sage is, what it writes down and where, and how to start."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from coaching.people.accounts import load_profile


@login_required
@require_safe
def welcome(request: HttpRequest) -> HttpResponse:
    """Show the welcome page, at any time."""
    return render(
        request, "coaching/pages/welcome.html", {"here": "welcome", "name": load_profile(request).name}
    )
