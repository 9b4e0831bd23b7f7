"""Small forms on a page: with a script their answer is the part that changed, without one the page again."""

import re
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from coaching.files.errors import QuotaReached
from coaching.people.attempts import TooOften
from sessions_app.errors import Refused

_PAGE = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)


def page_in(request: HttpRequest) -> int:
    """Return the page of a list that an address names. Raises `Http404`."""
    text = request.GET.get("page", "1")
    if not _PAGE.fullmatch(text):
        raise Http404
    return int(text)


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
