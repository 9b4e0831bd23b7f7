"""Health, readiness and metrics by any name: who asks them names an address, which ALLOWED_HOSTS lacks.

They say the same whatever the name, and link to nothing, so the check of hosts protects nobody there.
"""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import cast

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from sage.logs import UNLOGGED_PATHS

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def asked_by_any_name(get_response: GetResponse) -> GetResponse:
    """Give requests for these paths an allowed host."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            _allow(request)
            return await cast("Awaitable[HttpResponseBase]", get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        _allow(request)
        return cast("HttpResponseBase", get_response(request))

    return answer


def _allow(request: HttpRequest) -> None:
    if request.path_info in UNLOGGED_PATHS:
        named = (host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*")
        request.META["HTTP_HOST"] = next(named, "localhost")
