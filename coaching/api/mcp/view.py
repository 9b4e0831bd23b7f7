"""`/mcp`: lets in programs whose token holds, and imports what answers them when the first one comes."""

import asyncio
from http import HTTPStatus
from importlib import import_module
from typing import Any

import structlog
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt

from coaching.api.errors import TOO_MANY, WAIT_SECONDS
from coaching.api.mcp.access import Access, find_access
from coaching.oauth.addresses import origin_of, resource_of
from coaching.oauth.documents import challenge
from coaching.people.attempts import TooOften
from coaching.people.in_flight import TooManyInFlight
from coaching.programs.callers import NotKnown
from coaching.programs.entrance import count
from coaching.views.programs import error_as_json
from sessions_app.database import in_database

NO_TOKEN = "Send a token that holds in the header Authorization: Bearer …"  # noqa: S105 - a sentence
ENDED = "The token doesn’t hold, or no longer."
OTHER_ORIGIN = "A page of another site can’t send this."

logger = structlog.get_logger(__name__)


@csrf_exempt  # no cookie counts here
async def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one message of a program by JSON. There is no stream to listen to."""
    if request.headers.get("Origin") not in (None, origin_of(request)):
        return error_as_json(OTHER_ORIGIN, HTTPStatus.FORBIDDEN)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    authorization = request.headers.get("Authorization", "")
    try:
        access = await in_database(_admit, authorization, resource=resource_of(request))
        # The first time this takes a second, in which the process goes on answering others.
        transport: Any = await asyncio.to_thread(import_module, "coaching.api.mcp.transport")
        answered: HttpResponse = await transport.answer(request, access)
    except NotKnown:
        return _unauthorized(request, is_missing=not authorization)
    except TooOften as refusal:
        return _later(str(refusal), refusal.wait_seconds)
    except TooManyInFlight:
        return _later(TOO_MANY, WAIT_SECONDS)
    return answered


def _admit(authorization: str, *, resource: str) -> Access:
    access = find_access(authorization, resource=resource)
    count(access.caller, authorization)
    return access


def _later(words: str, seconds: int) -> HttpResponse:
    return error_as_json(words, HTTPStatus.TOO_MANY_REQUESTS, headers={"Retry-After": str(seconds)})


def _unauthorized(request: HttpRequest, *, is_missing: bool) -> HttpResponse:
    """Say how to get a token. Without one there is no error to name (RFC 6750)."""
    header = challenge(request, error="" if is_missing else "invalid_token")
    words = NO_TOKEN if is_missing else ENDED
    return error_as_json(words, HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": header})
