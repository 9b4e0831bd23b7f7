"""Access checks and frame budgets for sockets: at every frame, and every few seconds for idle sockets.

Sockets outlive logouts: nothing closes them automatically when a browser session ends, a password changes or
an account is disabled.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session as BrowserSession
from django.db.models import QuerySet, Subquery
from django.db.models.functions import Now
from django.utils.crypto import constant_time_compare

from coaching.supervision import Items
from sessions_app.database import OUTAGES, in_database
from sessions_app.queries import Condition, Rows, parameter, prepared, run_queries, run_query

logger = structlog.get_logger(__name__)

WATCH_SECONDS = 3.0
END_SECONDS = 5.0
MAX_SOCKETS = 10
"""Per person, in this process."""
PING_SECONDS = 2.0
NOT_SIGNED_IN = 4403
TRY_AGAIN_LATER = 1013
FRAMES_PER_SECOND = 20
FRAME_BURST = 40


@prepared
def _browser_session() -> QuerySet[Any, Any]:
    password = User.objects.filter(pk=parameter("user"), is_active=True).values("password")
    valid = BrowserSession.objects.filter(session_key=parameter("key"), expire_date__gt=Now())
    return valid.values_list("session_data", Subquery(password))


class SignedOutError(Exception):
    """The browser session that opened the socket isn't signed in as that user any more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenSocket:
    """An open socket. `end` closes it with a code, `answers_ping` waits that many seconds for an answer."""

    session_key: str
    user_id: int
    end: Callable[[int], Awaitable[None]]
    answers_ping: Callable[[float], Awaitable[bool]]


class FrameBudget:
    """Frames that a person may send over all sockets: a burst, refilled at a steady rate."""

    def __init__(self) -> None:
        self._left = float(FRAME_BURST)
        self._at = time.monotonic()

    def admits(self) -> bool:
        """Count a frame; return whether it may be handled."""
        if self._refill() < 1:
            return False
        self._left -= 1
        return True

    @property
    def is_full(self) -> bool:
        """Whether it is unused, so that a new budget would be the same."""
        return self._refill() >= FRAME_BURST

    def _refill(self) -> float:
        now = time.monotonic()
        self._left = min(FRAME_BURST, self._left + (now - self._at) * FRAMES_PER_SECOND)
        self._at = now
        return self._left


class OpenSockets:
    def __init__(self) -> None:
        self._sockets: dict[int, set[OpenSocket]] = {}
        self._budgets: dict[int, FrameBudget] = {}
        self._ended = Items("watch_sockets")

    def __len__(self) -> int:
        return sum(map(len, self._sockets.values()))

    async def admit(self, opened: OpenSocket) -> bool:
        """Register a socket; False if its user has `MAX_SOCKETS` that are alive."""
        if len(self._sockets.get(opened.user_id, ())) >= MAX_SOCKETS:
            await self._end_silent(opened.user_id)
        theirs = self._sockets.setdefault(opened.user_id, set())
        if len(theirs) >= MAX_SOCKETS:
            return False
        theirs.add(opened)
        return True

    async def _end_silent(self, user_id: int) -> None:
        """End the person's sockets that don't answer a ping: a phone that lost its network closed none."""
        theirs = list(self._sockets[user_id])
        are_alive = await asyncio.gather(*(item.answers_ping(PING_SECONDS) for item in theirs))
        for item, is_alive in zip(theirs, are_alive, strict=True):
            if not is_alive:
                self.discard(item)
                await item.end(TRY_AGAIN_LATER)

    def discard(self, opened: OpenSocket) -> None:
        theirs = self._sockets.get(opened.user_id, set())
        theirs.discard(opened)
        if not theirs:
            self._sockets.pop(opened.user_id, None)

    def budget_of(self, user_id: int) -> FrameBudget:
        """Return the person's frame budget. It outlives their sockets, so reconnecting doesn't refill it."""
        return self._budgets.setdefault(user_id, FrameBudget())

    async def watch(self) -> None:
        """Close sockets whose user has signed out, was disabled or changed the password; until cancelled."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            self._forget_full_budgets()
            sockets = [item for theirs in self._sockets.values() for item in theirs]
            try:
                pairs = {(item.session_key, item.user_id) for item in sockets}
                signed_in = await in_database(read_signed_in, pairs) if pairs else set()
            except OUTAGES:
                logger.warning("sockets_not_checked", sockets=len(sockets))
                continue
            over = [item for item in sockets if (item.session_key, item.user_id) not in signed_in]
            await asyncio.gather(*map(self._end, over))

    async def _end(self, opened: OpenSocket) -> None:
        """Close a socket whose user has signed out; one that fails is tried again and holds up no other."""
        if self._ended.is_due(opened):
            with self._ended.apart(opened, user_id=str(opened.user_id)):
                async with asyncio.timeout(END_SECONDS):
                    await opened.end(NOT_SIGNED_IN)

    def _forget_full_budgets(self) -> None:
        for user_id, budget in list(self._budgets.items()):
            if budget.is_full and user_id not in self._sockets:
                del self._budgets[user_id]


open_sockets = OpenSockets()


def read_signed_in(sockets: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
    """Return the pairs of browser session and user that are still signed in, in one round trip."""
    pairs = list(sockets)
    found = run_queries(_browser_session(key=key, user=user_id) for key, user_id in pairs)
    return {pair for pair, rows in zip(pairs, found, strict=True) if _is_signed_in(pair[1], rows)}


def access_of(session_key: str | None, user_id: int) -> Condition:
    """Return a socket's access check as a condition, which raises `SignedOutError`."""

    def check(rows: Rows) -> None:
        if not _is_signed_in(user_id, rows):
            raise SignedOutError

    return Condition(_browser_session(key=session_key or "", user=user_id), check)


def check_access(access: Condition) -> None:
    """Check that a socket is still signed in. Raises `SignedOutError`."""
    access.check(run_query(access.query))


def _is_signed_in(user_id: int, rows: Rows) -> bool:
    return any(password and _speaks_for(data, user_id, password) for data, password in rows)


@lru_cache(maxsize=512)
def _speaks_for(session_data: str, user_id: int, password: str) -> bool:
    """Check a browser session's user and password. Cached, because verifying takes longer than the query."""
    claims = SessionStore().decode(session_data)
    if claims.get(SESSION_KEY) != str(user_id):
        return False
    if claims.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return False
    user = User(pk=user_id, password=password)
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    claimed = claims.get(HASH_SESSION_KEY, "")
    return any(constant_time_compare(claimed, known) for known in hashes)
