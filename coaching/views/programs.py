"""Answers for programs: JSON for a request whose `Accept` prefers it, errors as a sentence."""

from collections.abc import Callable, Mapping
from functools import wraps
from hashlib import sha256
from http import HTTPStatus
from typing import Any, TypeVar, cast

from asgiref.sync import iscoroutinefunction
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers

from sessions_app.database import in_database

ViewT = TypeVar("ViewT", bound=Callable[..., Any])

SIGN_IN_FIRST = "Sign in first: send the session cookie of a signed-in browser."


PROGRAM_PATHS = ("/api/", "/mcp")
"""Where only programs send requests, but for a page."""
DOCS_PATH = "/api/docs"


def is_for_programs(request: HttpRequest) -> bool:
    """Return whether the request's address is one that only programs use."""
    path = request.path_info
    return path.startswith(PROGRAM_PATHS) and path != DOCS_PATH


def digest_of_token(request: HttpRequest) -> str:
    """Return a digest of a program's token, however its scheme is written; empty without one."""
    token = request.headers.get("Authorization", "").partition(" ")[2] if is_for_programs(request) else ""
    return sha256(token.encode()).hexdigest() if token else ""


def wants_json(request: HttpRequest) -> bool:
    """Return whether JSON is preferred to a page."""
    if is_for_programs(request):
        return True
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def error_as_json(
    words: str, status: HTTPStatus, *, headers: Mapping[str, str] | None = None, **more: Any
) -> JsonResponse:
    """Return an error as JSON; `words` is a sentence for people."""
    response = JsonResponse({"error": words, **more}, status=status, headers=headers)
    patch_vary_headers(response, ["Accept"])
    return response


def login_or_401(view: ViewT) -> ViewT:
    """Like `login_required`, but a program gets 401 and a sentence. The view may be async."""
    for_people: Callable[..., Any] = login_required(view)

    @wraps(view)
    async def answer_later(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if wants_json(request) and not await in_database(_is_signed_in, request):
            return error_as_json(SIGN_IN_FIRST, HTTPStatus.UNAUTHORIZED)
        response: HttpResponse = await for_people(request, *args, **kwargs)
        patch_vary_headers(response, ["Accept"])
        return response

    if iscoroutinefunction(view):
        return cast("ViewT", answer_later)

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if wants_json(request) and not request.user.is_authenticated:
            return error_as_json(SIGN_IN_FIRST, HTTPStatus.UNAUTHORIZED)
        response: HttpResponse = for_people(request, *args, **kwargs)
        patch_vary_headers(response, ["Accept"])
        return response

    return cast("ViewT", answer)


def _is_signed_in(request: HttpRequest) -> bool:
    return request.user.is_authenticated
