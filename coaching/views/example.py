"""`/example/`: a week with a real model, as it might go, read-only."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from coaching.clock.days import local_day
from coaching.people.accounts import load_profile
from coaching.transcript.example import example_week


@login_required
@require_safe
def example(request: HttpRequest) -> HttpResponse:
    """Show the example week."""
    today = local_day(timezone.now(), load_profile(request).zone)
    return render(request, "coaching/pages/example.html", {"here": "example", "items": example_week(today)})
