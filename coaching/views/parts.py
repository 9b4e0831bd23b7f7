"""Small forms on a page: with a script their answer is the part that changed, without one the page again."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse


def wants_part(request: HttpRequest) -> bool:
    """Say whether a script asks, which puts the answer in the place of the part (`static/js/parts.js`)."""
    return request.headers.get("Sage-Part") == "1"


def back_to(name: str, anchor: str = "") -> HttpResponse:
    """Lead back to a page by its name: a reload then sends nothing again."""
    response = HttpResponseRedirect(reverse(name) + anchor)
    response.status_code = HTTPStatus.SEE_OTHER
    return response
