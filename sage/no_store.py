"""Keeps responses out of every cache: pages, files and errors contain what a person wrote.

That includes the browser's back-forward cache, which would show outdated conversations, ticks and captures.
Static files are served before this middleware. The offline page, which is the same for everybody, is stored
by the service worker.
"""

from http import HTTPStatus

from django.http import HttpRequest
from django.utils.cache import patch_cache_control

from sage.middleware import Steps, middleware

OFFLINE_PAGES = "public, no-cache"
"""What `coaching.views.shell.offline` sets, and no other view."""


@middleware
def never_stored(_request: HttpRequest) -> Steps:
    """Set `Cache-Control: private, no-store` on every response but the offline page."""
    response = yield
    if response.get("Cache-Control") != OFFLINE_PAGES or response.status_code != HTTPStatus.OK:
        patch_cache_control(response, private=True, no_store=True)
    return response
