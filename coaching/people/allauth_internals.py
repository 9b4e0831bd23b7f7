"""What Sage uses of allauth's internal modules, which a new version may change without saying so.

Nothing else imports them (`tests/people/test_allauth_internals.py`, which also states what Sage relies on).
"""

from typing import Protocol

from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from allauth.core.exceptions import ReauthenticationRequired
from allauth.core.internal import ratelimit
from allauth.mfa.totp.internal.auth import generate_totp_secret
from django.http import HttpRequest


class Use(Protocol):
    """A use that was counted."""

    def rollback(self) -> None:
        """Take it back."""


def count_use(request: HttpRequest, action: str, *, key: str, rate: str) -> Use | None:
    """Count a use of an action; None if that is one too many. A GET counts nothing.

    `rate` is one or several of `5/5m/key`: at most five in five minutes for each `key`.
    """
    use: Use | None = ratelimit.consume(request, app="sage", action=action, key=key, config={action: rate})
    return use


def count_registration(request: HttpRequest) -> bool:
    """Count that a program registers, by its address; return whether it may, by allauth's own rate."""
    return ratelimit.consume(request, app="allauth.idp.oidc", action="client_registration") is not None


def address_of(request: HttpRequest) -> str:
    """Return the client's address as it is counted: of IPv6 the /64."""
    address: str = ratelimit.get_ip(request)
    return address


def needs_confirmation(request: HttpRequest) -> bool:
    """Return whether a signed-in person has to confirm who they are, because they did so too long ago."""
    return bool(is_reauthentication_required(request, app=""))


def require_confirmation(request: HttpRequest) -> None:
    """Have allauth send a person to confirm who they are, if they need to. Raises its exception for that."""
    if needs_confirmation(request):
        raise ReauthenticationRequired


def new_totp_secret() -> str:
    """Return a secret for an authenticator app."""
    secret: str = generate_totp_secret()
    return secret
