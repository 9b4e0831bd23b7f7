"""How often passwords and codes may be tried: counted by account, address and browser.

A count by account alone would let anybody keep its owner out. So a browser that signed in to the account
before, which a signed cookie says, has counts of its own. Others count by address (of IPv6 the /64) and, all
together, by account: that bounds guesses from many addresses, and keeps out at most a browser that is new to
the account. Passkeys can't be guessed, so only the address counts for them.
"""

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase

from coaching.people.allauth_internals import Use, address_of, count_use

Kind = Literal["password", "code"]

COOKIE = "known_browser"
COOKIE_SECONDS = 365 * 24 * 3600
MAX_ACCOUNTS = 5
"""Whom a browser is known to, the last ones."""
_SALT = "known browser"

KNOWN = "5/5m/key,50/d/key"
ADDRESS = "5/5m/key,15/d/key"
ELSEWHERE: dict[Kind, str] = {"password": "100/h/key", "code": "25/6h/key"}
"""From all browsers that are new to an account. Three codes are right at any moment, so somebody who has the
password and sends 25 every six hours guesses one with a chance of 1 in 3,300 a day."""


def count_attempt(
    request: HttpRequest, kind: Kind, *, user_id: int | None, login: str = ""
) -> Callable[[], None] | None:
    """Count an attempt; return how to take it back once it was right, or None over the limit.

    Whatever name or address was typed, the account is what counts; `login` is for those that stand for none.
    """
    if settings.ACCOUNT_RATE_LIMITS is False:
        return _nothing
    device, known_to = _read(request)
    account = f"login:{login}" if user_id is None else f"user:{user_id}"
    if user_id is not None and user_id in known_to:
        wanted = [("known", f"{kind}:{account}:{device}", KNOWN)]
    else:
        address = address_of(request)
        wanted = [
            ("address", f"{kind}:{account}:{address}", ADDRESS),
            ("elsewhere", f"{kind}:{account}", ELSEWHERE[kind]),
        ]
    taken: list[Use] = []
    for action, key, rate in wanted:
        use = count_use(request, action, key=key, rate=rate)
        if use is None:
            _take_back(taken)
            return None
        taken.append(use)
    return partial(_take_back, taken)


def remember_browser(request: HttpRequest, response: HttpResponseBase, user_id: int) -> None:
    """Note in a cookie that the user has signed in with this browser."""
    device, known_to = _read(request)
    known_to = [user_id, *(each for each in known_to if each != user_id)][:MAX_ACCOUNTS]
    response.set_cookie(
        COOKIE,
        signing.dumps([device or secrets.token_urlsafe(16), known_to], salt=_SALT),
        max_age=COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> tuple[str, list[int]]:
    try:
        device, known_to = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=COOKIE_SECONDS)
    except signing.BadSignature:
        return "", []
    return device, known_to


def _take_back(taken: Sequence[Use]) -> None:
    for use in taken:
        use.rollback()


def _nothing() -> None:
    """Nothing was counted."""
