"""Answers under load: a cap for each person, a limit for all, and a 503 where the database has no
connection to spare.

`admitted` stands before everything that asks the database, `PersonMiddleware` behind authentication. Between
them a request has a place at work; who is asking is known by the cookie or the address first, then by name.
"""

import sys
from collections.abc import Awaitable, Callable
from functools import wraps
from hashlib import sha256
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import Any, ParamSpec, cast

import structlog
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin
from django.views import defaults

from coaching.people.in_flight import (
    EACH,
    STRANGERS_EACH,
    Ticket,
    TooBusy,
    TooManyInFlight,
    current_ticket,
    in_flight,
)
from sage.logs import UNLOGGED_PATHS
from sessions_app.database import (
    give_back_connections,
    give_back_connections_of_request,
    give_back_idle_connections,
)

P = ParamSpec("P")

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]

TOO_MANY = "You have too many pages loading at once. Please wait a moment, then try again."
BUSY = "Sage is very busy right now. Nothing you saved is lost. Please try again in a moment."
NO_DATABASE = "Sage couldn’t reach its database. Please try again in a moment."
TOO_MANY_SECONDS = 2
TRY_AGAIN_LATER = 1013
BUSY_SECONDS = 5

logger = structlog.get_logger(__name__)


@sync_and_async_middleware
def admitted(get_response: GetResponse) -> GetResponse:
    """Count each request while it is answered, and work on so many at once; refuse the others.

    Once the answer is made, the request's thread holds no connection: sending may take long.
    """
    if not iscoroutinefunction(get_response):
        return get_response  # Django's test client: there is one request at a time

    async def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info in UNLOGGED_PATHS:
            return await cast("Awaitable[HttpResponseBase]", get_response(request))
        ticket = Ticket(in_flight)
        holder = current_ticket.set(ticket)
        try:
            ticket.count(*_browser_of(request))
            await ticket.begin()
            try:
                return await cast("Awaitable[HttpResponseBase]", get_response(request))
            finally:
                await give_back_connections_of_request()
        except TooManyInFlight:
            return too_many(request)
        except TooBusy:
            return busy(request)
        finally:
            ticket.end()
            current_ticket.reset(holder)

    return answer


class PersonMiddleware(MiddlewareMixin):
    """Counts a request for its person, and lets no async view begin with a connection in its thread."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Load who is asking, in the request's thread; refuse them where they have too many in flight."""
        if request.path_info in UNLOGGED_PATHS:
            return None
        user = request.user
        try:
            is_signed_in = user.is_authenticated
        except DatabaseError:
            request.user = AnonymousUser()  # so that no later code queries again
            raise

        async def auser() -> object:
            return user

        request.auser = auser  # type: ignore[assignment]  # the stubs want a method
        ticket = current_ticket.get()
        if ticket is not None and is_signed_in:
            try:
                ticket.count(f"person {user.pk}", EACH)
            except TooManyInFlight:
                return too_many(request)
        return None

    def process_view(
        self, _request: HttpRequest, view: Callable[..., Any], _args: object, _kwargs: object
    ) -> None:
        """Give back what was needed to know who is asking."""
        if iscoroutinefunction(view):
            give_back_connections()


class SocketBusy:
    """Closes a socket with a sentence where the database has nothing to spare for its handshake."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass everything on; a client connects anew after 1013."""
        is_accepted = False

        async def watched(message: dict[str, Any]) -> None:
            nonlocal is_accepted
            is_accepted = is_accepted or message["type"] == "websocket.accept"
            await send(message)

        try:
            await self._application(scope, receive, watched)
        except DatabaseError as error:
            logger.warning("socket_without_database", error=type(error).__name__)
            if not is_accepted:
                await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER, "reason": NO_DATABASE})


def too_many(request: HttpRequest) -> HttpResponse:
    """Refuse a request of somebody who has too many in flight."""
    logger.info("too_many_in_flight")
    return _refusal(
        request, HTTPStatus.TOO_MANY_REQUESTS, "One moment", TOO_MANY, retry_seconds=TOO_MANY_SECONDS
    )


def busy(request: HttpRequest) -> HttpResponse:
    """Refuse a request that found no place, or no connection."""
    logger.warning("too_busy")
    return _refusal(request, HTTPStatus.SERVICE_UNAVAILABLE, "Sage is busy", BUSY, retry_seconds=BUSY_SECONDS)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected error; a database that doesn't answer in time is an expected one."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        give_back_idle_connections()
        return busy(request)
    return _giving_back(defaults.server_error)(request)


def _giving_back(page: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Wrap a page that Django makes of an exception: in a thread whose connections nobody else gives back."""

    @wraps(page)
    def answer(*args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return page(*args, **kwargs)
        finally:
            give_back_idle_connections()

    return answer


bad_request = _giving_back(defaults.bad_request)
permission_denied = _giving_back(defaults.permission_denied)
page_not_found = _giving_back(defaults.page_not_found)


def _browser_of(request: HttpRequest) -> tuple[str, int]:
    """Return under which key to count somebody who isn't known by name yet, and up to how many."""
    if cookie := request.COOKIES.get(settings.SESSION_COOKIE_NAME):
        return f"browser {sha256(cookie.encode()).hexdigest()}", EACH
    return f"address {_address_of(request)}", STRANGERS_EACH


def _address_of(request: HttpRequest) -> str:
    """Return who connects: to us, or to the proxy before us, which adds their address as the last one.

    `REMOTE_ADDR` would be the first, and that one a client may make up.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.IS_BEHIND_HTTPS else ""
    return forwarded.rpartition(",")[2].strip() or str(request.META.get("REMOTE_ADDR", ""))


def _refusal(
    request: HttpRequest, status: HTTPStatus, title: str, message: str, *, retry_seconds: int
) -> HttpResponse:
    headers = {"Retry-After": str(retry_seconds)}
    if request.get_preferred_type(["text/html", "application/json"]) == "application/json":
        return JsonResponse({"error": message}, status=status, headers=headers)
    # Without the request: a page that asks the database who is looking would make it worse.
    page = render_to_string("busy.html", {"title": title, "message": message})
    return HttpResponse(page, status=status, headers=headers)
