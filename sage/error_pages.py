"""The error pages, and those that refuse a request. Programs get them as JSON with a sentence."""

import sys
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import ParamSpec

import structlog
from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext, gettext_noop
from django.views import csrf, defaults

from coaching.views.programs import error_as_json, wants_json
from sessions_app.database import give_back_idle_connections

P = ParamSpec("P")

TOO_MANY = gettext_noop("You have too many pages loading at once. Please wait a moment, then try again.")
BUSY = gettext_noop("Sage is very busy right now. Nothing you saved is lost. Please try again in a moment.")
UNREADABLE = gettext_noop("Sage couldn’t read that request. Nothing was changed.")
TOO_MANY_FILES = gettext_noop("You can send up to %(most)s files at once. Nothing was saved. Send fewer.")
FORBIDDEN = gettext_noop("That isn’t allowed. Nothing was changed.")
FORGED = gettext_noop(
    "The form’s token is missing or out of date. Nothing was changed. Reload the page and try again."
)
MISSING = gettext_noop(
    "There’s nothing at this address. It may have been moved or deleted, or it belongs to another account."
)
BROKEN = gettext_noop("Something went wrong. Nothing you saved is lost. Please try again in a moment.")
TOO_MANY_SECONDS = 2
BUSY_SECONDS = 5

logger = structlog.get_logger(__name__)


def too_many(request: HttpRequest) -> HttpResponse:
    """Refuse a request of a person with too many in flight."""
    logger.info("too_many_in_flight")
    return _refusal(
        request, HTTPStatus.TOO_MANY_REQUESTS, gettext("One moment"), TOO_MANY, retry_seconds=TOO_MANY_SECONDS
    )


def busy(request: HttpRequest) -> HttpResponse:
    """Refuse a request that found no free slot or no connection."""
    logger.warning("too_busy")
    return _refusal(
        request, HTTPStatus.SERVICE_UNAVAILABLE, gettext("Sage is busy"), BUSY, retry_seconds=BUSY_SECONDS
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected error. A database that doesn't answer in time is an expected one: 503."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        give_back_idle_connections()
        return busy(request)
    if wants_json(request):
        return error_as_json(gettext(BROKEN), HTTPStatus.INTERNAL_SERVER_ERROR)
    return _giving_back(defaults.server_error)(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that can't be read."""
    if wants_json(request):
        is_too_many = isinstance(exception, TooManyFilesSent)
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        words = gettext(TOO_MANY_FILES) % {"most": most} if is_too_many else gettext(UNREADABLE)
        return error_as_json(words, HTTPStatus.BAD_REQUEST)
    return _giving_back(defaults.bad_request)(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that isn't allowed."""
    if wants_json(request):
        return error_as_json(gettext(FORBIDDEN), HTTPStatus.FORBIDDEN)
    return _giving_back(defaults.permission_denied)(request, exception)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without its token."""
    if wants_json(request):
        return error_as_json(gettext(FORGED), HTTPStatus.FORBIDDEN)
    return _giving_back(csrf.csrf_failure)(request, reason)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request for something that doesn't exist, or is another person's."""
    if wants_json(request):
        return error_as_json(gettext(MISSING), HTTPStatus.NOT_FOUND)
    return _giving_back(defaults.page_not_found)(request, exception)


def _giving_back(page: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Wrap an error page of Django: its thread's connections are returned by nobody else."""

    @wraps(page)
    def answer(*args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return page(*args, **kwargs)
        finally:
            give_back_idle_connections()

    return answer


def _refusal(
    request: HttpRequest, status: HTTPStatus, title: str, message: str, *, retry_seconds: int
) -> HttpResponse:
    headers = {"Retry-After": str(retry_seconds)}
    if wants_json(request):
        return error_as_json(gettext(message), status, headers=headers)
    # Without the request: a template that loads the user would add to the load.
    page = render_to_string("busy.html", {"title": title, "message": gettext(message)})
    return HttpResponse(page, status=status, headers=headers)
