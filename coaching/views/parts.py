"""Small forms on a page: with a script their answer is the part that changed, without one the page again."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from coaching.attempts import TooOften
from coaching.files.errors import QuotaReached
from sessions_app.errors import Refused


def wants_part(request: HttpRequest) -> bool:
    """Say whether a script asks, which puts the answer in the place of the part (`static/js/parts.js`)."""
    return request.headers.get("Sage-Part") == "1"


def status_of(refusal: Refused) -> HTTPStatus:
    """Return what a page that repeats a refusal answers: too much of it, or something to be put right."""
    is_too_much = isinstance(refusal, TooOften | QuotaReached)
    return HTTPStatus.TOO_MANY_REQUESTS if is_too_much else HTTPStatus.UNPROCESSABLE_ENTITY


def with_wait(response: HttpResponse, refusal: Refused | None) -> HttpResponse:
    """Return the answer with the seconds after which it may be tried again, where that helps."""
    if isinstance(refusal, TooOften):
        response["Retry-After"] = str(refusal.wait_seconds)
    return response


def back_to(name: str, anchor: str = "") -> HttpResponse:
    """Lead back to a page by its name: a reload then sends nothing again."""
    response = HttpResponseRedirect(reverse(name) + anchor)
    response.status_code = HTTPStatus.SEE_OTHER
    return response
