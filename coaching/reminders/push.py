"""Sends web push messages (RFC 8030): encrypted for one browser (RFC 8291), signed by this server (RFC 8292).

A browser names the address that is sent to, so each connection's address is checked like a calendar feed's,
no redirect is followed, and of the answer only its status is read. Neither the address nor the message is
logged.
"""

import asyncio
import time
from http import HTTPStatus

import aiohttp
from django.conf import settings
from py_vapid import Vapid02
from pywebpush import WebPusher
from yarl import URL

from coaching.calendar.connection_rule import ConnectionRule, resolve_name
from coaching.calendar.own_addresses import Resolve
from coaching.calendar.public_session import open_session
from coaching.reminders.devices import Push
from coaching.reminders.senders import Answer, PushNotTakenError

SEND_SECONDS = 10.0
KEPT_SECONDS = 2 * 3600
"""How long the push service keeps a message for a browser that isn't running."""
TOKEN_SECONDS = 12 * 3600

_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


class PushSender:
    """Sends messages. `allowed` (address, port) count as public, for tests only: no setting adds one."""

    def __init__(
        self,
        *,
        allowed: frozenset[tuple[str, int]] = frozenset(),
        resolve: Resolve = resolve_name,
        seconds: float = SEND_SECONDS,
    ) -> None:
        self._rule = ConnectionRule(allowed=allowed, resolve=resolve)
        self._seconds = seconds

    async def send(self, push: Push) -> Answer:
        """Send a message within the time limit. Raises `PushNotTakenError`."""
        url = URL(push.endpoint)
        try:
            body, headers = _encrypted(push), _headers(push, url)
        except ValueError:  # keys that are no point of the curve
            return Answer.REFUSED
        try:
            async with (
                asyncio.timeout(self._seconds),
                open_session(self._rule, headers) as session,
                session.post(url, data=body, allow_redirects=False) as response,
            ):
                return _answer(response.status)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise PushNotTakenError(type(error).__name__) from None


def _encrypted(push: Push) -> bytes:
    keys = {"p256dh": push.p256dh, "auth": push.auth}
    encoded = WebPusher({"endpoint": push.endpoint, "keys": keys}).encode(push.payload.encode())
    body: bytes = encoded["body"]
    return body


def _headers(push: Push, url: URL) -> dict[str, str]:
    claims = {
        "aud": str(url.origin()),
        "sub": settings.SAGE_VAPID_SUBJECT,
        "exp": int(time.time()) + TOKEN_SECONDS,
    }
    signed: dict[str, str] = Vapid02.from_raw(settings.SAGE_VAPID_PRIVATE_KEY.encode()).sign(claims)
    return {
        **signed,
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(KEPT_SECONDS),
        "Topic": push.topic,
        "Urgency": "normal",
    }


def _answer(status: int) -> Answer:
    if status in _GONE:
        return Answer.GONE
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise PushNotTakenError(str(status))
    return Answer.TAKEN if status < HTTPStatus.MULTIPLE_CHOICES else Answer.REFUSED
