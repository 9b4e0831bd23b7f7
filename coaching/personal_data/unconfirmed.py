"""Removes accounts that were never confirmed, have never signed in, and have no data."""

from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from coaching.personal_data.removal import begin_removal

KEPT_DAYS = 14
"""A link is valid for three days and can be requested again."""
MAX_AT_ONCE = 1000


def remove_unconfirmed(*, now: datetime) -> int:
    """Queue the removal of accounts that were never confirmed or used; return how many."""
    if not settings.HAS_MAIL or settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory":
        return 0
    found = _unconfirmed(now).order_by("pk").values_list("pk", flat=True)[:MAX_AT_ONCE]
    return sum(_remove_if_unconfirmed(user_id, now) for user_id in list(found))


@transaction.atomic
def _remove_if_unconfirmed(user_id: int, now: datetime) -> bool:
    # Locked, so that a link being opened at this moment waits, or wins.
    list(User.objects.select_for_update().filter(pk=user_id).values_list("pk"))
    list(EmailAddress.objects.select_for_update().filter(user_id=user_id).values_list("pk"))
    if not _unconfirmed(now).filter(pk=user_id).exists():
        return False
    begin_removal(user_id=user_id)
    return True


def _unconfirmed(now: datetime) -> "QuerySet[User]":
    addresses = EmailAddress.objects.filter(user_id=OuterRef("pk"))
    return User.objects.filter(
        Exists(addresses),
        ~Exists(addresses.filter(verified=True)),
        date_joined__lt=now - timedelta(days=KEPT_DAYS),
        last_login=None,
        is_active=True,
        is_staff=False,
        is_superuser=False,
        coaching_sessions=None,
        files=None,
    )
