"""Whether a socket may still speak for its user: asked at every frame, and for silent ones every few seconds.
And how much it may say.

Sockets outlive logouts: nothing closes them by itself when a browser session ends, a password changes or
an account is disabled.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import lru_cache

import structlog
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.db import DatabaseError
from django.utils.crypto import constant_time_compare

from sessions_app.database import in_database
from sessions_app.rows import Condition, Question, Rows, ask

logger = structlog.get_logger(__name__)

WATCH_SECONDS = 3.0
FRAMES_PER_SECOND = 20
FRAME_BURST = 40

# Written out: every frame of every socket waits for it.
_SIGNED_IN_SQL = """
    SELECT browser.session_key, browser.session_data, person.id, person.password
    FROM unnest(%(keys)s::text[], %(users)s::bigint[]) AS claimed(session_key, user_id)
    JOIN django_session AS browser USING (session_key)
    JOIN auth_user AS person ON person.id = claimed.user_id
    WHERE browser.expire_date > now() AND person.is_active
"""


class SignedOutError(Exception):
    """The browser session that opened the socket isn't signed in as that user any more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenSocket:
    """A socket that is open: the browser session that it speaks for, and how to end it."""

    session_key: str
    user_id: int
    end: Callable[[], Awaitable[None]]


class FrameBudget:
    """How many frames a socket may send: a burst, refilled at a steady rate."""

    def __init__(self) -> None:
        self._left = float(FRAME_BURST)
        self._at = time.monotonic()
        self.ignored = 0

    def admits(self) -> bool:
        """Count a frame and return whether it may be handled."""
        now = time.monotonic()
        self._left = min(FRAME_BURST, self._left + (now - self._at) * FRAMES_PER_SECOND)
        self._at = now
        if self._left < 1:
            self.ignored += 1
            return False
        self._left -= 1
        return True


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
                pairs = {(item.session_key, item.user_id) for item in sockets}
                signed_in = await in_database(signed_in_of, pairs) if pairs else set()
            except DatabaseError:
                logger.warning("sockets_not_checked", sockets=len(sockets))
                continue
            for item in sockets:
                if (item.session_key, item.user_id) not in signed_in:
                    await item.end()


open_sockets = OpenSockets()


def signed_in_of(sockets: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
    """Return those pairs of browser session and user that still belong together, in one query.

    Reads the browser sessions anew: they may have ended, their users been disabled or changed their password.
    """
    return _signed_in(ask(_signed_in_question(sockets)))


def access_of(session_key: str | None, user_id: int) -> Condition:
    """Return the condition that a socket may still speak for its user; it raises `SignedOutError`.

    Whose session it speaks in is asked by whatever does what a frame wants, behind the one door.
    """
    pair = (session_key or "", user_id)

    def check(rows: Rows) -> None:
        if pair not in _signed_in(rows):
            raise SignedOutError

    return Condition(_signed_in_question([pair]), check)


def check_access(access: Condition) -> None:
    """See that a socket may still speak for its user. Raises `SignedOutError`."""
    access.check(ask(access.question))


def _signed_in_question(sockets: Collection[tuple[str, int]]) -> Question:
    return Question(
        _SIGNED_IN_SQL, {"keys": [key for key, _ in sockets], "users": [user for _, user in sockets]}
    )


def _signed_in(rows: Rows) -> set[tuple[str, int]]:
    return {(key, user_id) for key, data, user_id, password in rows if _speaks_for(data, user_id, password)}


@lru_cache(maxsize=512)
def _speaks_for(session_data: str, user_id: int, password: str) -> bool:
    """Say whether a browser session is signed in as a user with that password.

    What was read decides alone, so the same is worked out once: signatures take longer than the question.
    """
    claims = SessionStore().decode(session_data)
    if claims.get(SESSION_KEY) != str(user_id):
        return False
    if claims.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return False
    user = get_user_model()(pk=user_id, password=password)
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    claimed = claims.get(HASH_SESSION_KEY, "")
    return any(constant_time_compare(claimed, known) for known in hashes)
