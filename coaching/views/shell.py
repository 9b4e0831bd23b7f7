"""What makes Sage an app, nobody's own: the manifest, the service worker and the offline page.

The worker's script is `static/js/service-worker.js`. Its address here has no hash, so that browsers find new
versions: what it stores depends on all static files and on the offline page, and the browser installs the
worker anew whenever that changes. It names the offline page of its own language, so nothing else is stored
even if the language changes before that is fetched.
"""

import json
from hashlib import sha256

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from coaching.models import ReminderKind
from coaching.templatetags.bundles import script_files, style_file
from coaching.views.share import PARTS

OFFLINE_PAGE = "coaching/pages/offline.html"
# What the offline page loads besides its bundles, and what notifications show.
OFFLINE_FILES = (
    "js/theme.js",
    "fonts/literata/literata-latin-wght-normal.woff2",
    "fonts/source-sans-3/source-sans-3-latin-wght-normal.woff2",
    "img/icons.svg",
    "img/favicon.svg",
    "img/app/icon-192.png",
    "img/app/badge-96.png",
)
PAPER_LIGHT, PAPER_DARK = "#f9f5ee", "#1b1815"
"""`--paper` in static/css/tokens.css; templates/base.html names them, too."""


@require_safe
def manifest(_request: HttpRequest) -> HttpResponse:
    """Describe the app for browsers that install it."""
    described = {
        "id": "/",
        "name": "Sage",
        "short_name": "Sage",
        "description": _("An AI life coach that remembers what you tell it and writes down what matters."),
        "lang": get_language(),
        "start_url": reverse("home"),
        "scope": "/",
        "display": "standalone",
        "theme_color": PAPER_LIGHT,
        "background_color": PAPER_LIGHT,
        "icons": [
            _icon("icon-192.png", "192x192", "any"),
            _icon("icon-512.png", "512x512", "any"),
            _icon("icon-maskable-512.png", "512x512", "maskable"),
        ],
        "shortcuts": [
            {"name": _("Conversations"), "url": reverse("sessions")},
            {"name": _("Capture a thought"), "url": reverse("captures")},
        ],
        "share_target": {
            "action": reverse("share"),
            "method": "POST",
            "enctype": "multipart/form-data",
            "params": {name: name for name in PARTS},
        },
    }
    return JsonResponse(described, content_type="application/manifest+json")


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Send the worker's script with what belongs to this version."""
    names = (style_file(), *script_files("offline"), *OFFLINE_FILES)
    page, files = render_to_string(OFFLINE_PAGE), [static(name) for name in names]
    static_files = getattr(staticfiles_storage, "manifest_hash", "")  # none with DEBUG
    shell = {
        "version": sha256(json.dumps([static_files, page, files]).encode()).hexdigest()[:16],
        "offline": f"{reverse('offline')}?language={get_language()}",
        "files": files,
        "isFinal": bool(static_files),
        "home": reverse("home"),
        "share": reverse("share"),
        "reminders": {kind: reverse("reminder", args=[kind]) for kind in ReminderKind.values},
        "notification": {
            "title": "Sage",
            "text": _("You have a reminder."),
            "icon": static("img/app/icon-192.png"),
            "badge": static("img/app/badge-96.png"),
        },
    }
    context = {"shell": json.dumps(shell), "script": json.dumps(static("js/service-worker.js"))}
    return render(request, "coaching/service_worker.js", context, content_type="text/javascript")


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Show the page that the worker stores, in its language, and shows where it can't reach another."""
    named = request.GET.get("language", "")
    language = named if named in dict(settings.LANGUAGES) else get_language()
    with override(language):
        response = HttpResponse(render_to_string(OFFLINE_PAGE), headers={"Content-Language": language})
    # With this, `sage.no_store` leaves it alone.
    response["Cache-Control"] = "public, no-cache"
    return response


def _icon(name: str, sizes: str, purpose: str) -> dict[str, str]:
    return {"src": static(f"img/app/{name}"), "sizes": sizes, "type": "image/png", "purpose": purpose}
