"""Whose an email address is: who may reset a password by it, who signs in by it, and when it is taken.

An address counts once somebody has opened a link that was sent to it. Until then anybody may have typed it:
several accounts can wait for the same one; the first to confirm it gets it (allauth has a unique constraint).
Nothing is written here.
"""

from allauth.account import app_settings
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, Q


def is_verification_mandatory() -> bool:
    """Return whether an address must be confirmed before its account opens: wherever mail can be sent."""
    return bool(app_settings.EMAIL_VERIFICATION == app_settings.EmailVerificationMethod.MANDATORY)


def is_taken(email: str) -> bool:
    """Return whether no further account may be made with an address.

    Accounts that somebody made by signing up and that nobody has confirmed or used don't count: else whoever
    types another person's address first would keep them out.
    """
    if EmailAddress.objects.filter(email=email.lower(), verified=True).exists():
        return True
    signed_up = EmailAddress.objects.filter(user_id=OuterRef("pk"), email=email.lower(), primary=True)
    unused = Q(Exists(signed_up), last_login=None, is_staff=False)
    return User.objects.filter(email__iexact=email).exclude(unused).exists()


def find_reset_owners(email: str) -> list[User]:
    """Return the people to whom a link for a new password may be sent.

    Only confirmed addresses count. Where no mail can be sent the link lands in the log, which only operators
    read, and an account's own address is enough.
    """
    if not is_verification_mandatory():
        return [holder for holder in _holders(email) if holder.is_active]
    confirmed = EmailAddress.objects.filter(email=email.lower(), verified=True, user__is_active=True)
    return [address.user for address in confirmed.select_related("user")]


def find_sign_in_owner(login: str) -> User | None:
    """Return the one account that a username or an address stands for at sign-in.

    A username comes first: only operators choose one. An address belongs to whoever confirmed it, else to
    whoever has signed in before, else to the oldest account.
    """
    if by_name := User.objects.filter(username__iexact=login).order_by("pk").first():
        return by_name
    confirmed = EmailAddress.objects.filter(email=login.lower(), verified=True).select_related("user").first()
    return confirmed.user if confirmed else next(iter(_holders(login)), None)


def _holders(email: str) -> list[User]:
    """Return the accounts with an address, confirmed or not, used ones first."""
    found = User.objects.filter(email__iexact=email).order_by(F("last_login").asc(nulls_last=True), "pk")
    # PostgreSQL takes some letters of other scripts for Latin ones where it ignores case.
    return [user for user in found if user.email.lower() == email.lower()]
