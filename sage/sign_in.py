"""Password checks at sign-in, and the stage that requires a confirmed address."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase

from sage.addresses import find_sign_in_owner


class OneCheckBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """Signs in with exactly one password check; the default backends make two for a known address."""

    def _authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        # The parent's `authenticate` hashes the password once if nothing is checked here.
        names = dict.fromkeys(name for key in ("username", "email") if (name := credentials.get(key)))
        owners = (owner for name in names if (owner := find_sign_in_owner(name)))
        checked: User | None = self._check_password(next(owners, None), credentials["password"])
        return checked

    def get_user(self, user_id: int) -> User | None:
        """Return a signed-in user with the profile, whose language every response needs."""
        user = User.objects.select_related("profile").filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None


class ConfirmAddressStage(EmailVerificationStage):  # type: ignore[misc]  # allauth has no types
    """Requires a confirmed address, unless the account has none: only operators create such accounts."""

    def handle(self) -> tuple[HttpResponseBase | None, bool]:
        """Return a response that interrupts the sign-in, or None, and whether it continues."""
        user: User | None = self.login.user
        if user and not user.email and not EmailAddress.objects.filter(user=user).exists():
            return None, True
        handled: tuple[HttpResponseBase | None, bool] = super().handle()
        return handled
