"""Routes for programs ignore cookies: a page of another site can't use a person's sign-in there.

The cookies are dropped before anything reads them, so these requests are counted and answered like those of
a client that never signed in.
"""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from coaching.views.programs import is_for_programs

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def without_cookies(get_response: GetResponse) -> GetResponse:
    """Drop the cookies of requests to programs' routes."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            _drop(request)
            return await cast("Awaitable[HttpResponseBase]", get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        _drop(request)
        return cast("HttpResponseBase", get_response(request))

    return answer


def _drop(request: HttpRequest) -> None:
    if is_for_programs(request):
        request.META.pop("HTTP_COOKIE", None)
        request.COOKIES = {}
