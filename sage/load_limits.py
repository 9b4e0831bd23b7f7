"""Load limits: a cap per person, a cap for all, and a 503 when the database has no connection to spare.

`admitted` runs before anything that queries the database, `PersonMiddleware` after authentication. A request
is counted by its cookie or address first, then by its user.
"""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any, cast

import structlog
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin

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
from coaching.views.programs import digest_of_token
from sage.clients import address_of, browser_of
from sage.error_pages import busy, too_many
from sage.logs import UNLOGGED_PATHS
from sage.middleware import GetResponse
from sessions_app.database import give_back_connections, give_back_connections_of_request

NO_DATABASE = "Sage couldn’t reach its database. Please try again in a moment."
TRY_AGAIN_LATER = 1013

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

        if browser := browser_of(request):
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


def _stranger_keys(request: HttpRequest) -> list[tuple[str, int]]:
    """Return the keys to count an unknown user under, and their limits.

    A cookie always counts by itself: after a restart no browser is known, and one that sends too much mustn't
    use up its address. Cookies that don't belong to a known sign-in also share one key per address, separate
    from requests without a cookie: forged cookies don't block the sign-in page.
    """
    browser = browser_of(request)
    if not browser:
        return [(f"address {address_of(request)}", MAX_PER_ADDRESS)]
    keys = [(f"browser {browser}", MAX_PER_PERSON)]
    if browser not in signed_in_browsers:
        keys.append((f"unknown browsers {address_of(request)}", MAX_PER_ADDRESS))
    return keys
