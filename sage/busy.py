"""Load limits: a cap per person, a cap for all, and a 503 when the database has no connection to spare.

Also the error pages, which programs get as JSON with a sentence.

`admitted` runs before anything that queries the database, `PersonMiddleware` after authentication. A request
is counted by its cookie or address first, then by its user.
"""

import sys
from collections.abc import Awaitable, Callable
from functools import wraps
from hashlib import sha256
from http import HTTPStatus
from inspect import iscoroutinefunction
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Any, ParamSpec, cast

import structlog
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import TooManyFilesSent
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, parse_cookie
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext, gettext_noop
from django.views import csrf, defaults

from coaching.people.in_flight import (
    MAX_PER_ADDRESS,
    MAX_PER_PERSON,
    Ticket,
    TooBusy,
    TooManyInFlight,
    current_ticket,
    in_flight,
    signed_in_browsers,
)
from coaching.views.programs import digest_of_token, error_as_json, wants_json
from sage.logs import UNLOGGED_PATHS
from sessions_app.database import (
    give_back_connections,
    give_back_connections_of_request,
    give_back_idle_connections,
)

P = ParamSpec("P")

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]

TOO_MANY = gettext_noop("You have too many pages loading at once. Please wait a moment, then try again.")
BUSY = gettext_noop("Sage is very busy right now. Nothing you saved is lost. Please try again in a moment.")
NO_DATABASE = "Sage couldn’t reach its database. Please try again in a moment."
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
TRY_AGAIN_LATER = 1013
BUSY_SECONDS = 5

logger = structlog.get_logger(__name__)


@sync_and_async_middleware
def admitted(get_response: GetResponse) -> GetResponse:
    """Count each request while it is answered, and limit how many run at once; refuse the others.

    After the response is built, the request's thread holds no connection: sending may take long.
    """
    if not iscoroutinefunction(get_response):
        return get_response  # Django's test client sends one request at a time

    async def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info in UNLOGGED_PATHS:
            return await cast("Awaitable[HttpResponseBase]", get_response(request))
        ticket = Ticket(in_flight)
        holder = current_ticket.set(ticket)
        try:
            for key, most in _stranger_keys(request):
                ticket.count(key, most)
            await ticket.begin(token=digest_of_token(request))
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
    """Counts a request for its user, and returns its thread's connection before an async view starts."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Load the user in the request's thread; refuse them if they have too many requests in flight."""
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

        if browser := _browser_of(request):
            signed_in_browsers.learn(browser, user_id=user.pk if is_signed_in else None)
        request.auser = auser  # type: ignore[assignment]  # the stubs want a method
        ticket = current_ticket.get()
        if ticket is not None and is_signed_in:
            try:
                ticket.count(f"person {user.pk}", MAX_PER_PERSON)
            except TooManyInFlight:
                return too_many(request)
        return None

    def process_view(
        self, _request: HttpRequest, view: Callable[..., Any], _args: object, _kwargs: object
    ) -> None:
        """Return the connection that loading the user needed."""
        if iscoroutinefunction(view):
            give_back_connections()


class SocketBusy:
    """Closes a socket with a message if the database has no connection for its handshake."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass everything on; a client reconnects after 1013."""
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


def _stranger_keys(request: HttpRequest) -> list[tuple[str, int]]:
    """Return the keys to count an unknown user under, and their limits.

    A cookie always counts by itself: after a restart no browser is known, and one that sends too much mustn't
    use up its address. Cookies that don't belong to a known sign-in also share one key per address, separate
    from requests without a cookie: forged cookies don't block the sign-in page.
    """
    browser = _browser_of(request)
    if not browser:
        return [(f"address {_address_of(request)}", MAX_PER_ADDRESS)]
    keys = [(f"browser {browser}", MAX_PER_PERSON)]
    if browser not in signed_in_browsers:
        keys.append((f"unknown browsers {_address_of(request)}", MAX_PER_ADDRESS))
    return keys


def uploader_of(cookies: str) -> str | None:
    """Return who sends a request with this `Cookie` header; None for a browser that isn't known."""
    browser = _digest_of(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME))
    person = signed_in_browsers.person_of(browser)
    return None if person is None else f"person {person}"


def _browser_of(request: HttpRequest) -> str:
    """Return a digest of the session cookie, or an empty string without one."""
    return _digest_of(request.COOKIES.get(settings.SESSION_COOKIE_NAME))


def _digest_of(cookie: str | None) -> str:
    return sha256(cookie.encode()).hexdigest() if cookie else ""


def _address_of(request: HttpRequest) -> str:
    return client_address(
        request.META.get("HTTP_X_FORWARDED_FOR", ""), str(request.META.get("REMOTE_ADDR", ""))
    )


def client_address(forwarded: str, peer: str) -> str:
    """Return the client's address: the last one that a proxy before us added (`forwarded`), or the peer's.

    `REMOTE_ADDR` would be the first one, which a client can forge. For IPv6 it is the /64 network: a host
    usually has all of its addresses.
    """
    text = (forwarded.rpartition(",")[2].strip() if settings.IS_BEHIND_HTTPS else "") or peer
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if isinstance(address, IPv4Address) or address.ipv4_mapped:
        return text
    return str(IPv6Network((address, 64), strict=False))


def _refusal(
    request: HttpRequest, status: HTTPStatus, title: str, message: str, *, retry_seconds: int
) -> HttpResponse:
    headers = {"Retry-After": str(retry_seconds)}
    if wants_json(request):
        return error_as_json(gettext(message), status, headers=headers)
    # Without the request: a template that loads the user would add to the load.
    page = render_to_string("busy.html", {"title": title, "message": gettext(message)})
    return HttpResponse(page, status=status, headers=headers)
