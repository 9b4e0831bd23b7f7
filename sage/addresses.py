"""Who owns an email address: who may reset a password or sign in with it, and when it is taken.

An address counts once somebody has opened a link sent to it. Until then anybody may have typed it: several
accounts can wait for the same one, and the first to confirm it gets it (allauth has a unique constraint).
This module only reads.
"""

from allauth.account import app_settings
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, Q


def is_verification_mandatory() -> bool:
    """Return whether an address must be confirmed first: yes, if mail can be sent."""
    return bool(app_settings.EMAIL_VERIFICATION == app_settings.EmailVerificationMethod.MANDATORY)


def is_taken(email: str) -> bool:
    """Return whether an address is unavailable for a new account.

    Accounts that nobody has confirmed or used don't count: otherwise typing another person's address first
    would keep them out.
    """
    if EmailAddress.objects.filter(email=email.lower(), verified=True).exists():
        return True
    signed_up = EmailAddress.objects.filter(user_id=OuterRef("pk"), email=email.lower(), primary=True)
    unused = Q(Exists(signed_up), last_login=None, is_staff=False)
    return User.objects.filter(email__iexact=email).exclude(unused).exists()


def find_reset_owners(email: str) -> list[User]:
    """Return the people who may get a password link at this address.

    Only confirmed addresses count. Without mail the link goes to the log, which only operators read, so an
    account's own address is enough.
    """
    if not is_verification_mandatory():
        return [holder for holder in _holders(email) if holder.is_active]
    confirmed = EmailAddress.objects.filter(email=email.lower(), verified=True, user__is_active=True)
    return [address.user for address in confirmed.select_related("user")]


def find_sign_in_owner(login: str) -> User | None:
    """Return the account that a username or an address stands for at sign-in.

    A username has priority, because only operators choose one. An address belongs to whoever confirmed it,
    otherwise to an account that has signed in before, otherwise to the oldest account.
    """
    if by_name := User.objects.filter(username__iexact=login).order_by("pk").first():
        return by_name
    confirmed = EmailAddress.objects.filter(email=login.lower(), verified=True).select_related("user").first()
    return confirmed.user if confirmed else next(iter(_holders(login)), None)


def _holders(email: str) -> list[User]:
    found = User.objects.filter(email__iexact=email).order_by(F("last_login").asc(nulls_last=True), "pk")
    # PostgreSQL's case folding matches some letters of other scripts with Latin ones.
    return [user for user in found if user.email.lower() == email.lower()]
