"""Whether a socket may still speak for its user: asked at every frame, since sockets outlive logouts."""

import uuid
from importlib import import_module
from types import SimpleNamespace
from typing import cast

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from sessions_app.models import Session
from sessions_app.selectors import accessible_session


class SignedOutError(Exception):
    """The browser session that opened the socket isn't signed in as that user any more."""


def check_access(*, session_key: str | None, user_id: int, session_id: uuid.UUID) -> Session:
    """Return the session if the socket's browser session still belongs to its user and the session to them.

    Reads the browser session anew: it may have ended, its user been disabled or their password
    changed since. Raises `SignedOutError`, and `Session.DoesNotExist` for a missing session and for
    another's alike.
    """
    browser_session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = get_user(cast("HttpRequest", SimpleNamespace(session=browser_session)))
    if user.pk != user_id or not user.is_active:
        raise SignedOutError
    return accessible_session(user_id=user_id, session_id=session_id)
