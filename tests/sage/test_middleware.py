"""A middleware that is written once answers sync and async requests, and ends with each of them."""

from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from asgiref.sync import async_to_sync, iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from sage.middleware import Steps, middleware

seen: list[str] = []


@middleware
def noted(request: HttpRequest) -> Steps:
    seen.append(f"asked {request.path}")
    try:
        response = yield
        response["Noted"] = "yes"
        return response
    finally:
        seen.append("over")


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    seen.clear()
    return str(request.param)


def answer(kind: str, *, fails: bool = False) -> HttpResponseBase:
    def view(_: HttpRequest) -> HttpResponseBase:
        if fails:
            raise LookupError("lost")
        return HttpResponse("Hello")

    async def async_view(request: HttpRequest) -> HttpResponseBase:
        return view(request)

    request = HttpRequest()
    request.path = "/map/"
    answering = noted(async_view if kind == "async" else view)
    assert iscoroutinefunction(answering) is (kind == "async")
    if kind == "sync":
        return cast("HttpResponseBase", answering(request))
    return async_to_sync(cast("Callable[[HttpRequest], Awaitable[HttpResponseBase]]", answering))(request)


def test_it_changes_the_response_of_either_kind(kind: str) -> None:
    assert answer(kind)["Noted"] == "yes"
    assert seen == ["asked /map/", "over"]


def test_it_ends_where_there_is_no_response(kind: str) -> None:
    with pytest.raises(LookupError, match="lost"):
        answer(kind, fails=True)
    assert seen == ["asked /map/", "over"]
