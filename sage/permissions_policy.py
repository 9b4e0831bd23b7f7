"""Whether pages may use the microphone: only where somebody hears recordings, and only Sage's own."""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from coaching.voice.transcription import can_transcribe

HEADER = "Permissions-Policy"

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def microphone_allowed(get_response: GetResponse) -> GetResponse:
    """Set `Permissions-Policy` on every response."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _marked(await cast("Awaitable[HttpResponseBase]", get_response(request)))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _marked(cast("HttpResponseBase", get_response(request)))

    return answer


def _marked(response: HttpResponseBase) -> HttpResponseBase:
    response[HEADER] = "microphone=(self)" if can_transcribe() else "microphone=()"
    return response
