"""Routes for programs ignore cookies, and refuse what programs send too much before Django.

The cookies are dropped before anything reads them, so these requests are counted and answered like those of
a client that never signed in: a page of another site can't use a person's sign-in there.
"""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import override

from coaching.people.attempts import TooOften
from coaching.people.languages import browser_language
from coaching.programs.early_counts import early_counts
from coaching.views.programs import is_for_programs

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


def refused_early(authorization: str, accepted: str) -> tuple[int, str] | None:
    """Count a request with this `Authorization`; return the seconds to wait and why if it is one too many.

    `accepted` is its `Accept-Language`.
    """
    seconds = early_counts.count(authorization)
    if not seconds:
        return None
    with override(browser_language(accepted)):
        refusal = TooOften(seconds)
        return refusal.wait_seconds, refusal.shown()


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
