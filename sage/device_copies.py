"""Erases what a browser keeps for reading offline once its person isn't signed in there any more.

Who that is counts at the end of a request: signing out, an account's end and another person's sign-in are
requests themselves, and after a session's end the next one is, whatever it asks for. The header empties all
of Sage's storage in that browser, its service worker and the chosen colour scheme, too. A browser without
the cookie costs nothing.
"""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from coaching.people.device_copies import end_copy, has_copy, has_copy_of
from sage.logs import UNLOGGED_PATHS

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def others_erased(get_response: GetResponse) -> GetResponse:
    """Have the browser erase a copy that isn't the signed-in person's. The user must be loaded already."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _erasing(request, await cast("Awaitable[HttpResponseBase]", get_response(request)))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _erasing(request, cast("HttpResponseBase", get_response(request)))

    return answer


def _erasing(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    # Monitoring loads no user.
    if not has_copy(request) or request.path_info in UNLOGGED_PATHS:
        return response
    if not has_copy_of(request, request.user.pk):
        response["Clear-Site-Data"] = '"storage"'
        end_copy(response)
    return response
