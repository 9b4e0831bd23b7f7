"""Keeps responses out of every cache: pages, files and errors contain what a person wrote.

That includes the browser's back-forward cache, which would show outdated conversations, ticks and captures.
Static files are served before this middleware. The offline page, which is the same for everybody, is stored
by the service worker.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control
from django.utils.decorators import sync_and_async_middleware

OFFLINE_PAGES = "public, no-cache"
"""What `coaching.views.shell.offline` sets, and no other view."""

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def never_stored(get_response: GetResponse) -> GetResponse:
    """Set `Cache-Control: private, no-store` on every response but the offline page."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _marked(await cast("Awaitable[HttpResponseBase]", get_response(request)))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _marked(cast("HttpResponseBase", get_response(request)))

    return answer


def _marked(response: HttpResponseBase) -> HttpResponseBase:
    if response.get("Cache-Control") == OFFLINE_PAGES and response.status_code == HTTPStatus.OK:
        return response
    patch_cache_control(response, private=True, no_store=True)
    return response
