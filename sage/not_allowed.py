"""An error page for GET requests of POST-only URLs: browsers send them after signing in again, or by hand.

Programs get a sentence in JSON, for any method.
"""

from collections.abc import Awaitable
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.decorators import sync_and_async_middleware

from coaching.views.programs import error_as_json, is_for_programs
from sage.middleware import GetResponse
from sessions_app.database import in_database_page

OTHER_METHODS = "This address takes other methods; the header Allow names them."


@sync_and_async_middleware
def not_allowed_page(get_response: GetResponse) -> GetResponse:
    """Replace Django's empty 405 response by a page with a link."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            response = await cast("Awaitable[HttpResponseBase]", get_response(request))
            return (
                await in_database_page(_with_page, request, response)
                if _is_bare(request, response)
                else response
            )

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = cast("HttpResponseBase", get_response(request))
        return _with_page(request, response) if _is_bare(request, response) else response

    return answer


def _is_bare(request: HttpRequest, response: HttpResponseBase) -> bool:
    if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or not isinstance(response, HttpResponse):
        return False
    return is_for_programs(request) or (request.method == "GET" and not response.content)


def _with_page(request: HttpRequest, response: HttpResponseBase) -> HttpResponse:
    page: HttpResponse
    if is_for_programs(request):
        page = error_as_json(OTHER_METHODS, HTTPStatus.METHOD_NOT_ALLOWED)
    else:
        page = render(request, "405.html", status=HTTPStatus.METHOD_NOT_ALLOWED)
    page["Allow"] = response["Allow"]
    return page
