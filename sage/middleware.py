"""Middleware that is written once for sync and async requests: as a generator that waits for the response."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import closing
from functools import wraps
from inspect import iscoroutinefunction
from typing import cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
Steps = Generator[None, HttpResponseBase, HttpResponseBase]


def middleware(steps_of: Callable[[HttpRequest], Steps]) -> Callable[[GetResponse], GetResponse]:
    """Make a middleware of a function that yields once, for the response, and returns what is sent.

    Where there is no response because of an exception, the generator is closed.
    """

    @sync_and_async_middleware
    @wraps(steps_of)
    def made(get_response: GetResponse) -> GetResponse:
        if iscoroutinefunction(get_response):

            async def answer_async(request: HttpRequest) -> HttpResponseBase:
                with closing(steps_of(request)) as steps:
                    next(steps)
                    return _last(steps, await cast("Awaitable[HttpResponseBase]", get_response(request)))

            return answer_async

        def answer(request: HttpRequest) -> HttpResponseBase:
            with closing(steps_of(request)) as steps:
                next(steps)
                return _last(steps, cast("HttpResponseBase", get_response(request)))

        return answer

    return made


def _last(steps: Steps, response: HttpResponseBase) -> HttpResponseBase:
    try:
        steps.send(response)
    except StopIteration as end:
        return cast("HttpResponseBase", end.value)
    raise RuntimeError("A middleware yields once.")
