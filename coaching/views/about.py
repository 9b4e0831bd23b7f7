"""Settings → About Sage: the version and the licence."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@login_required
@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """Show which version of Sage runs here, and under which licences."""
    context = {"here": "settings", "version": settings.SAGE_VERSION}
    return render(request, "coaching/pages/settings_about.html", context)
