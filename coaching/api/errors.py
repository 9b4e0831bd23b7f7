"""Failures as programs get them: a status, and a sentence in JSON."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NoReturn

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from coaching.api.requests import page
from coaching.api.value_words import values_in_words
from coaching.files.errors import FileMoved, StorageFailed
from coaching.live.runner import RestartingError
from coaching.people.in_flight import TooBusy, TooManyInFlight
from coaching.programs.callers import NotKnown, ScopeMissing
from coaching.programs.entrance import REALM
from coaching.views.parts import status_of, with_wait
from sessions_app.errors import OutOfDate, Refused, WaitsForUser

UNKNOWN = "This needs a valid token: Authorization: Bearer …. It is made in Settings → Programs."
MISSING = "There’s nothing at this address."
TOO_MANY = "Too many of your requests are being answered. Please try again in a moment."
BUSY = "Sage is very busy right now. Please try again in a moment."
WAIT_SECONDS = 2

COMMON: Mapping[int, str] = {
    400: "The request can’t be read.",
    401: "The token is missing, or it doesn’t hold.",
    403: "The token’s scopes don’t allow this.",
    404: MISSING,
    409: "The file or step was changed meanwhile; or Sage waits for the person, who answers on `page`.",
    413: "The body is too large.",
    422: "A value can’t be used, or the request was refused.",
    429: "Too many requests, or no room is left. `Retry-After` has the seconds to wait, where that helps.",
    503: "Sage is busy, or its storage or database can’t be reached.",
}
"""The failures that any route may answer with."""


def failure(words: str, status: HTTPStatus, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return JsonResponse({"error": words}, status=status, headers=headers)


def _not_known(_request: HttpRequest, _error: NotKnown) -> HttpResponse:
    return failure(UNKNOWN, HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": REALM})


def _scope_missing(_request: HttpRequest, error: ScopeMissing) -> HttpResponse:
    challenge = f'{REALM}, error="insufficient_scope", scope="{error.scope.value}"'
    return failure(str(error), HTTPStatus.FORBIDDEN, {"WWW-Authenticate": challenge})


def _missing(_request: HttpRequest, _error: Exception) -> HttpResponse:
    return failure(MISSING, HTTPStatus.NOT_FOUND)


def _refused(_request: HttpRequest, error: Refused) -> HttpResponse:
    return with_wait(failure(error.shown(), status_of(error)), error)


def _moved(_request: HttpRequest, error: FileMoved | OutOfDate) -> HttpResponse:
    return failure(error.shown(), HTTPStatus.CONFLICT)


def _waits(request: HttpRequest, error: WaitsForUser) -> HttpResponse:
    answer = {"error": error.shown(), "page": page(request, "session", error.session_id)}
    return JsonResponse(answer, status=HTTPStatus.CONFLICT)


def _later(_request: HttpRequest, error: Refused) -> HttpResponse:
    return failure(error.shown(), HTTPStatus.SERVICE_UNAVAILABLE, {"Retry-After": str(WAIT_SECONDS)})


def _too_many(_request: HttpRequest, _error: TooManyInFlight) -> HttpResponse:
    return failure(TOO_MANY, HTTPStatus.TOO_MANY_REQUESTS, {"Retry-After": str(WAIT_SECONDS)})


def _busy(_request: HttpRequest, _error: TooBusy) -> HttpResponse:
    return failure(BUSY, HTTPStatus.SERVICE_UNAVAILABLE, {"Retry-After": str(WAIT_SECONDS)})


def _unreadable(_request: HttpRequest, error: HttpError) -> HttpResponse:
    return failure(COMMON[HTTPStatus.BAD_REQUEST], HTTPStatus(error.status_code))


def _invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    return failure(values_in_words(error.errors), HTTPStatus.UNPROCESSABLE_ENTITY)


def _unexpected(_request: HttpRequest, error: Exception) -> NoReturn:
    """Leave it to the handler of all pages, which answers programs in JSON, too."""
    raise error


HANDLERS: Mapping[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
    NotKnown: _not_known,
    ScopeMissing: _scope_missing,
    ObjectDoesNotExist: _missing,
    Http404: _missing,
    FileMoved: _moved,
    OutOfDate: _moved,
    WaitsForUser: _waits,
    StorageFailed: _later,
    RestartingError: _later,
    Refused: _refused,
    TooManyInFlight: _too_many,
    TooBusy: _busy,
    HttpError: _unreadable,
    ValidationError: _invalid,
    Exception: _unexpected,
}


def handle_errors(api: NinjaAPI) -> None:
    for kind, handler in HANDLERS.items():
        api.add_exception_handler(kind, handler)
