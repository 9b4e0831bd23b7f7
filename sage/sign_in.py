"""How a password is checked at sign-in, and when an address must be confirmed first."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase

from sage.addresses import find_sign_in_owner


class OneCheckBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """Signs in by username or address with exactly one password check, whether the account exists or not.

    Django's and allauth's own backends together check a known address's password once more than an unknown
    one's.
    """

    def _authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        # `authenticate` of the parent hashes the password once where nothing is checked here.
        names = dict.fromkeys(name for key in ("username", "email") if (name := credentials.get(key)))
        owners = (owner for name in names if (owner := find_sign_in_owner(name)))
        checked: User | None = self._check_password(next(owners, None), credentials["password"])
        return checked


class ConfirmAddressStage(EmailVerificationStage):  # type: ignore[misc]  # allauth has no types
    """Asks for a confirmed address, except of an account that has none.

    Only operators make such accounts, with `createsuperuser` or in the admin; no mail could ever let them in.
    """

    def handle(self) -> tuple[HttpResponseBase | None, bool]:
        """Return a response that holds up the sign-in, or None, and whether it goes on."""
        user: User | None = self.login.user
        if user and not user.email and not EmailAddress.objects.filter(user=user).exists():
            return None, True
        handled: tuple[HttpResponseBase | None, bool] = super().handle()
        return handled
