"""The language of each response: the person's own, otherwise the browser's. Operators' pages are in English.

The browser's is active before anything that may answer. The person's takes its place once they are known;
their profile is loaded together with them (`sage.sign_in`), so it costs no round trip.
"""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language, override

from coaching.people.languages import browser_language, language_of
from sage.logs import UNLOGGED_PATHS
from sage.middleware import Steps, middleware

OPERATORS_PAGES = "/admin/"


@middleware
def in_browser_language(request: HttpRequest) -> Steps:
    """Answer in the language that the browser prefers."""
    with override(_browsers(request)):
        response = yield
        return _named(response)


@middleware
def in_own_language(request: HttpRequest) -> Steps:
    """Answer in the language that the person has chosen, if any. The user must be loaded already."""
    with override(_own(request)):
        response = yield
        return _named(response)


def _browsers(request: HttpRequest) -> str:
    if request.path_info.startswith(OPERATORS_PAGES):
        return settings.LANGUAGE_CODE
    return browser_language(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))


def _own(request: HttpRequest) -> str:
    active = get_language() or settings.LANGUAGE_CODE
    if request.path_info in UNLOGGED_PATHS or request.path_info.startswith(OPERATORS_PAGES):
        return active
    return language_of(request.user) or active


def _named(response: HttpResponseBase) -> HttpResponseBase:
    """Name the language of a page, and what it depends on."""
    if response.get("Content-Type", "").startswith("text/html"):
        response.setdefault("Content-Language", get_language() or settings.LANGUAGE_CODE)
        patch_vary_headers(response, ["Accept-Language"])
    return response
