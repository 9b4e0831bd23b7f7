"""Which browsers keep a copy of their person's newest words for reading offline: a signed cookie says whose.

Nothing of it is stored here; the copy is in the browser's storage (`static/js/device-copy.js`).
"""

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from coaching.people.attempts import AttemptLimit

COOKIE = "device_copy"
COOKIE_SECONDS = 400 * 24 * 3600
"""As long as browsers keep one at most."""
_SALT = "device copy"

fetches = AttemptLimit(attempts=30, seconds=600)
"""How often a person's browsers may fetch their copies. A tab fetches one a minute at most, and one whenever
the setting is opened.
"""


def cookie_name() -> str:
    """Return the cookie's name; with TLS one that no other host of the domain can set."""
    return f"__Host-{COOKIE}" if settings.SESSION_COOKIE_SECURE else COOKIE


def has_copy(request: HttpRequest) -> bool:
    """Return whether the browser keeps a copy of anybody's words."""
    return cookie_name() in request.COOKIES


def has_copy_of(request: HttpRequest, user_id: int | None) -> bool:
    """Return whether the browser keeps a copy, and of this user's words; None is nobody."""
    if user_id is None or not has_copy(request):
        return False
    try:
        named = signing.loads(request.COOKIES[cookie_name()], salt=_SALT, max_age=COOKIE_SECONDS)
    except signing.BadSignature:
        return False
    return bool(named == user_id)


def begin_copy(response: HttpResponseBase, *, user_id: int) -> None:
    """Have the browser keep a copy of the user's words from the next page on."""
    response.set_cookie(
        cookie_name(),
        signing.dumps(user_id, salt=_SALT),
        max_age=COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def end_copy(response: HttpResponseBase) -> None:
    """Have the browser keep none: the next page's script erases what there is."""
    # Browsers ignore a name with this prefix without `Secure`, which Django sets for it.
    response.delete_cookie(cookie_name(), samesite="Lax")
