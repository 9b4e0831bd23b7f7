"""Small forms on a page: htmx gets the part that changed, a browser without JavaScript the page."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from coaching.files.errors import QuotaReached
from coaching.people.attempts import TooOften
from sessions_app.errors import OverLimit, Refused

_PAGE = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)


@contextmanager
def or_404() -> Iterator[None]:
    """Raise `Http404` for a row that doesn't exist, or is another person's."""
    try:
        yield
    except ObjectDoesNotExist:
        raise Http404 from None


def page_in(request: HttpRequest) -> int:
    """Return the list page in a URL. Raises `Http404`."""
    text = request.GET.get("page", "1")
    if not _PAGE.fullmatch(text):
        raise Http404
    return int(text)


def wants_part(request: HttpRequest) -> bool:
    """Return whether htmx sent the form and will replace the part with the response."""
    return request.headers.get("HX-Request") == "true"


def status_of(refusal: Refused) -> HTTPStatus:
    """Return the status for a refused form: rate limit or invalid input."""
    is_too_much = isinstance(refusal, OverLimit | TooOften | QuotaReached)
    return HTTPStatus.TOO_MANY_REQUESTS if is_too_much else HTTPStatus.UNPROCESSABLE_ENTITY


def with_wait(response: HttpResponse, refusal: Refused | None) -> HttpResponse:
    """Add `Retry-After` to the response if waiting helps."""
    if isinstance(refusal, OverLimit | TooOften):
        response["Retry-After"] = str(refusal.wait_seconds)
    return response


def say(sentence: str, response: HttpResponse | None = None) -> HttpResponse:
    """Have the page's script show a sentence; without a response there is nothing else to change."""
    response = HttpResponse(status=HTTPStatus.NO_CONTENT) if response is None else response
    response["HX-Trigger"] = json.dumps({"said": sentence})
    return response


def back_to(name: str, anchor: str = "", *, of: object = None) -> HttpResponse:
    """Redirect to a page by its name, of an id if it has one, so that a reload sends nothing again."""
    response = HttpResponseRedirect(reverse(name, args=[] if of is None else [of]) + anchor)
    response.status_code = HTTPStatus.SEE_OTHER
    return response
