"""Whether a socket may still speak for its user: asked at every frame, and for silent ones every few seconds.

Sockets outlive logouts: nothing closes them by itself when a browser session ends, a password changes or
an account is disabled.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import structlog
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user, get_user_model
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from sessions_app.database import in_database
from sessions_app.models import Session
from sessions_app.selectors import accessible_session

logger = structlog.get_logger(__name__)

WATCH_SECONDS = 3.0


class SignedOutError(Exception):
    """The browser session that opened the socket isn't signed in as that user any more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenSocket:
    """A socket that is open: the browser session that it speaks for, and how to end it."""

    session_key: str
    user_id: int
    end: Callable[[], Awaitable[None]]


class OpenSockets:
    """The open sockets of this process."""

    def __init__(self) -> None:
        self._sockets: set[OpenSocket] = set()

    def add(self, opened: OpenSocket) -> None:
        """Watch a socket from now on."""
        self._sockets.add(opened)

    def discard(self, opened: OpenSocket) -> None:
        """Watch a socket no more."""
        self._sockets.discard(opened)

    async def watch(self) -> None:
        """End sockets whose user has signed out, was disabled or changed the password; until cancelled."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            sockets = list(self._sockets)
            try:
                signed_in = await in_database(read_signed_in, {item.session_key for item in sockets})
            except DatabaseError:
                logger.warning("sockets_not_checked", sockets=len(sockets))
                continue
            for item in sockets:
                if signed_in.get(item.session_key) != item.user_id:
                    await item.end()


open_sockets = OpenSockets()


def read_signed_in(session_keys: Collection[str]) -> dict[str, int]:
    """Return whom each browser session is signed in as, in two queries; without those that aren't."""
    if not session_keys:
        return {}
    model = _session_store().get_model_class()
    rows = model.objects.filter(session_key__in=session_keys, expire_date__gt=timezone.now())
    claims = {row.session_key: row.get_decoded() for row in rows}
    users = get_user_model().objects.in_bulk(
        [int(claim[SESSION_KEY]) for claim in claims.values() if SESSION_KEY in claim]
    )
    signed_in = {}
    for session_key, claim in claims.items():
        user = users.get(int(claim.get(SESSION_KEY, 0)))
        if user is None or not user.is_active:
            continue
        if constant_time_compare(claim.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
            signed_in[session_key] = user.pk
    return signed_in


def check_access(*, session_key: str | None, user_id: int, session_id: uuid.UUID) -> Session:
    """Return the session if the socket's browser session still belongs to its user and the session to them.

    Reads the browser session anew: it may have ended, its user been disabled or their password
    changed since. Raises `SignedOutError`, and `Session.DoesNotExist` for a missing session and for
    another's alike.
    """
    browser_session = _session_store()(session_key)
    user = get_user(cast("HttpRequest", SimpleNamespace(session=browser_session)))
    if user.pk != user_id or not user.is_active:
        raise SignedOutError
    return accessible_session(user_id=user_id, session_id=session_id)


def _session_store() -> Any:
    return import_module(settings.SESSION_ENGINE).SessionStore
