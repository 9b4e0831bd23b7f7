"""The language of each response: the person's own, otherwise the browser's. Operators' pages are in English.

The browser's is active before anything that may answer. The person's takes its place once they are known;
their profile is loaded together with them (`sage.sign_in`), so it costs no round trip.
"""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import cast

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import get_language, override

from coaching.people.languages import browser_language, language_of
from sage.logs import UNLOGGED_PATHS

OPERATORS_PAGES = "/admin/"

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def in_browser_language(get_response: GetResponse) -> GetResponse:
    """Answer in the language that the browser prefers."""
    return _answering_in(_browsers, get_response)


@sync_and_async_middleware
def in_own_language(get_response: GetResponse) -> GetResponse:
    """Answer in the language that the person has chosen, if any. The user must be loaded already."""
    return _answering_in(_own, get_response)


def _answering_in(language_for: Callable[[HttpRequest], str], get_response: GetResponse) -> GetResponse:
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            with override(language_for(request)):
                return _named(await cast("Awaitable[HttpResponseBase]", get_response(request)))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        with override(language_for(request)):
            return _named(cast("HttpResponseBase", get_response(request)))

    return answer


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
